import HaloBluetoothCore

/// What an errand brings, and what the devices see of it: the same as errand_list.py has.
struct ExpectedErrand: Sendable {
  /// What the user gets.
  var lines: [String]
  /// What the devices see, without discovery.
  var lamp: [String] = []
  var other: [String] = []
  /// Its name in the list, if several are one there, and the argument.
  var does: String?
  var argument = ""
  var habit = Lamp.Habit.none
  /// How many links the controller refuses to make, as it has one with the device that is about to end.
  var refusals = 0
  /// When the user interrupts it.
  var sign: (@BluetoothActor (Journal.Event) -> Bool)?

  // What each link begins with, and how the user ends it.
  static let opening = ["connected", "mtu", "write 2902 of 2A05 0200"]
  static let end = "disconnected 13"
  static let read = opening + ["read 2A19", end]

  static func subscribed(_ value: String) -> [String] {
    ["write 2902 of \(value) 0100", "write 2902 of \(value) 0000"]
  }

  static func repeated(_ count: Int, _ part: [String]) -> [String] {
    Array(repeatElement(part, count: count).joined())
  }
}
