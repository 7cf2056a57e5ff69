@testable import RingLink
import TestSupport
import Testing

/// Frames of the ring reference, 4.6, 4.7 and 4.13, most of them captured.
struct SettingVectorTests {
  private static let readRequests: [(RingSetting, String)] = [
    (CommandTable.heartRateSchedule, "16010000000000000000000000000017"),
    (CommandTable.oxygenSchedule, "2c01000000000000000000000000002d"),
    (CommandTable.stressSchedule, "36010000000000000000000000000037"),
    (CommandTable.variabilitySchedule, "38010000000000000000000000000039"),
    (CommandTable.temperatureSchedule, "3a03010000000000000000000000003e"),
    (CommandTable.profile, "0a01000000000000000000000000000b"),
    (CommandTable.goals, "21010000000000000000000000000022"),
    (CommandTable.display, "05030000000000000000000000000008"),
    (CommandTable.doNotDisturb, "06010000000000000000000000000007"),
    (CommandTable.touch, "3b01000000000000000000000000003c"),
  ]

  @Test(arguments: readRequests.indices) func aReadRequest(index: Int) {
    let (setting, bytes) = Self.readRequests[index]
    #expect(setting.readRequest.bytes == hex(bytes), "\(setting.entry.name)")
  }

  private static let replies: [(RingSetting, String, [String: Int])] = [
    (CommandTable.heartRateSchedule, "1601013c000000000000000000000054", ["enabled": 1, "interval": 60]),
    (
      CommandTable.heartRateSchedule, "16010105050000000000000000000022",
      ["enabled": 1, "interval": 5, "start": 5]
    ),
    (CommandTable.oxygenSchedule, "2c01010000000000000000000000002e", ["enabled": 1]),
    (CommandTable.variabilitySchedule, "3801010000000000000000000000003a", ["enabled": 1]),
    // To the byte the request; only the direction tells them apart.
    (CommandTable.temperatureSchedule, "3a03010000000000000000000000003e", ["enabled": 0]),
    (
      CommandTable.goals, "2101881300e09304b80b0000000000f7",
      ["steps": 5000, "calories": 300_000, "distance": 3000, "sport": 0, "sleep": 0]
    ),
    (
      CommandTable.display, "0503010102050116001700000000003f",
      [
        "enabled": 1, "hand": 1, "brightness": 2, "levels": 5, "hours": 1, "start-hour": 22,
        "start-minute": 0,
        "end-hour": 23, "end-minute": 0,
      ]
    ),
    (CommandTable.touch, "3b01000001000000000000000000003d", ["mode": 0, "sensitivity": 1]),
    (CommandTable.temperatureUnit, "1901000100000000000000000000001b", ["enabled": 0, "unit": 1]),
    // A ring that does not have it answers nonsense: 0x16 is no switch.
    (
      CommandTable.bloodPressureSchedule, "0c011628000c00000000000000000057",
      ["enabled": 0, "start-hour": 40]
    ),
  ]

  @Test(arguments: replies.indices) func aReply(index: Int) throws {
    let (setting, bytes, meaning) = Self.replies[index]
    let frame = try RingFrame(parsing: hex(bytes).span.bytes)
    #expect(setting.isReadReply(frame))
    let numbers = try setting.numbers(in: frame)
    for (name, number) in meaning { #expect(numbers[name] == number, "\(setting.entry.name) \(name)") }
  }

  private static let writes: [(RingSetting, [String: Int], String)] = [
    (CommandTable.heartRateSchedule, ["enabled": 1, "interval": 5], "1602010500000000000000000000001e"),
    // The one switch that says 2 for off.
    (CommandTable.heartRateSchedule, ["enabled": 0, "interval": 60], "1602023c000000000000000000000056"),
    (CommandTable.oxygenSchedule, ["enabled": 0], "2c02000000000000000000000000002e"),
    (CommandTable.stressSchedule, ["enabled": 0], "36020000000000000000000000000038"),
    (
      CommandTable.profile,
      ["gender": 0, "age": 27, "height": 175, "weight": 60, "systolic": 120, "diastolic": 90],
      "0a020000001baf3c785a0000000000e4"
    ),
    (CommandTable.gesture, ["mode": 3], "3b020103000000000000000000000041"),
  ]

  @Test(arguments: writes.indices) func aWrite(index: Int) throws {
    let (setting, numbers, bytes) = Self.writes[index]
    #expect(try setting.writeRequest(numbers).bytes == hex(bytes), "\(setting.entry.name)")
  }

  @Test func acknowledgementIsNotAReadReply() throws {
    let heartRate = try RingFrame(parsing: hex("16020100000000000000000000000019").span.bytes)
    #expect(CommandTable.heartRateSchedule.isWriteReply(heartRate))
    #expect(!CommandTable.heartRateSchedule.isReadReply(heartRate))
    let profile = try RingFrame(parsing: hex("0a02000000000000000000000000000c").span.bytes)
    #expect(CommandTable.profile.isWriteReply(profile))
    // The very same bytes, sent by us, would erase the profile.
    #expect(CommandTable.danger(of: profile) != nil)
  }

  @Test func recognizesRefusal() throws {
    let frame = try RingFrame(parsing: hex("86ee0000000000000000000000000074").span.bytes)
    let refusal = CommandTable.meaning(of: frame, isFromRing: true).refusal
    #expect(refusal == DecodedFrame.Refusal(command: CommandTable.doNotDisturb.command, code: .notSupported))
  }
}
