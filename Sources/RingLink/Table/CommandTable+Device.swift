extension CommandTable {
  public static let setTime = Query<ClockSetting, RingCapabilities>(
    0x01, "set time", "Sets the ring's clock; the answer tells what the ring can do.", .device,
    source: "4.1 [F][C]")
  public static let battery = Query<NoFields, RingBattery>(
    0x03, "battery", "How full the battery is.", .device, source: "4.2 [F][C]")
  public static let hostInformation = Query<HostInformation, NoFields>(
    0x04, "host information", "Tells the ring what it talks to.", .device, source: "4.3 [C]")
  public static let deviceSupport = Query<NoFields, DeviceSupport>(
    0x3C, "device support", "More of what the ring can do.", .device, families: .newer, source: "4.4 [C]")
  public static let setNotificationMask = Query<NotificationMask, NotificationMask>(
    0x60, "set notification mask", "Of which messages of a phone the ring is told.", .device,
    source: "4.3 [C]")
  public static let notificationMask = Query<NoFields, NotificationMask>(
    0x61, "notification mask", "Of which messages of a phone the ring is told.", .device, source: "4.3 [C]")

  static var device: [CommandEntry] {
    [
      setTime.entry, battery.entry, hostInformation.entry, deviceSupport.entry, setNotificationMask.entry,
      notificationMask.entry,
    ]
  }
}
