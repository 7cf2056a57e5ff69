extension CommandTable {
  public static let blink = Action(
    0x10, "blink", "Two short green flashes.", echoes: true, source: "4.8 [F]")
  public static let find = Action(
    0x50, startingWith: [0x55, 0xAA], "find", "Green light for about ten seconds.", echoes: true,
    source: "4.8 [C]")
  public static let cameraEnter = Action(
    0x02, startingWith: [4], "camera enter", "From now on the ring tells when it is shaken.",
    source: "4.13 [F]")
  public static let cameraKeep = Action(
    0x02, startingWith: [5], "camera keep", "Keeps it that way.", source: "4.13 [A]")
  public static let cameraLeave = Action(
    0x02, startingWith: [6], "camera leave", "No longer.", source: "4.13 [A]")
  public static let reboot = Action(
    0x08, startingWith: [0], "reboot", "Restarts the ring; the connection ends.", source: "4.5 [F]")
  public static let powerOff = Action(
    0x08, startingWith: [1], "power off", "Switches the ring off; only its charger wakes it.",
    source: "4.5 [F]")
  public static let factoryReset = Action(
    0xFF, startingWith: [0x66, 0x66], "factory reset", "Erases what the ring has stored.", source: "4.16 [F]")

  public static var actions: [Action] {
    [blink, find, cameraEnter, cameraKeep, cameraLeave, reboot, powerOff, factoryReset]
  }
}
