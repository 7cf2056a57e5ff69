import TestSupport
import Testing

@testable import RingLink

/// Every setting of the ring reference, 4.6, 4.7 and 4.13: what its fields can be set to, what they are without a word of
/// the ring, and the bytes with every field at its limits.
struct SettingFieldTests {
  struct Expected: Sendable, CustomStringConvertible {
    var name: String
    /// The field, what it can be set to, and the default.
    var fields: [String]
    /// What is written with every field at its lower limit, and at its upper one, without the padding.
    var lowest: String
    var highest: String

    var description: String { name }
  }

  private static let hours = [
    "start-hour 0...23 = 0", "start-minute 0...59 = 0", "end-hour 0...23 = 0", "end-minute 0...59 = 0",
  ]

  private static let touch = ["mode 0...255 = 0", "sensitivity 1...10 = 1", "sleep 0...255 = 0"]

  private static func onOff(_ name: String, _ command: String) -> Expected {
    Expected(
      name: name, fields: ["enabled 0...1 = 0"], lowest: "\(command)0200", highest: "\(command)0201")
  }

  static let all = [
    Expected(
      name: "heart-rate",
      fields: [
        "enabled 0...1 = 0", "interval 1...255 = 5", "start 0...255 = 0", "low-alarm 0...255 = 0",
        "high-alarm 0...255 = 0", "alarms 0...2 = 0",
      ], lowest: "16020201", highest: "160201ffffffff02"),
    Expected(
      name: "spo2", fields: ["enabled 0...1 = 0", "interval 0...255 = 0"], lowest: "2c02", highest: "2c0201ff"
    ),
    onOff("stress", "36"), onOff("hrv", "38"),
    Expected(
      name: "temperature",
      fields: [
        "enabled 0...1 = 0", "interval 0...255 = 30", "interval-seconds 0...120 = 5", "remind 0...255 = 10",
        "alarms 0...255 = 0", "alarm 0...255 = 0",
      ], lowest: "3a0302", highest: "3a030201ff78ffffff"),
    Expected(
      name: "profile",
      fields: [
        "twelve-hour-clock 0...1 = 0", "imperial 0...1 = 0", "gender 0...2 = 2", "age 1...120 = 0",
        "height 50...250 = 0", "weight 10...250 = 0", "systolic 0...255 = 120", "diastolic 0...255 = 80",
        "heart-rate-warning 0...255 = 150",
      ], lowest: "0a0200000001320a", highest: "0a020101 0278fafa ffffff"),
    Expected(
      name: "goals",
      fields: [
        "steps 0...16777215 = 0", "calories 0...16777215 = 0", "distance 0...16777215 = 0",
        "sport 0...65535 = 0", "sleep 0...65535 = 0",
      ], lowest: "2102", highest: "2102ffffffffffffffffffffffffff"),
    Expected(
      name: "temperature-unit", fields: ["enabled 0...1 = 0", "unit 1...2 = 1"], lowest: "19020201",
      highest: "19020102"),
    Expected(
      name: "display",
      fields: [
        "enabled 0...1 = 0", "hand 1...2 = 1", "brightness 1...5 = 1", "levels 1...255 = 5",
        "hours 1...2 = 2",
      ] + hours, lowest: "050402010101 01", highest: "0504010205ff02173b173b"),
    Expected(
      name: "do-not-disturb", fields: ["enabled 0...1 = 0"] + hours + ["manual 0...1 = 0"], lowest: "060202",
      highest: "060201173b173b01"),
    Expected(
      name: "raise-to-wake", fields: ["enabled 0...1 = 0", "delay 0...255 = 0"], lowest: "090202",
      highest: "090201ff"),
    Expected(name: "touch", fields: touch, lowest: "3b02000001", highest: "3b0200ff0aff"),
    Expected(name: "gesture", fields: touch, lowest: "3b02010001", highest: "3b0201ff0aff"),
    Expected(
      name: "touch-sleep", fields: ["mode 0...255 = 0", "time 0...255 = 0"], lowest: "3b0202",
      highest: "3b0202ffff"),
    Expected(
      name: "blood-pressure", fields: ["enabled 0...1 = 0"] + hours + ["interval 1...255 = 60"],
      lowest: "0c02000000000001", highest: "0c0201173b173bff"),
  ]

  private func setting(_ name: String) throws -> RingSetting {
    try #require(CommandTable.settings.first { $0.entry.name == name })
  }

  @Test func coversEverySetting() {
    #expect(CommandTable.settings.map(\.entry.name) == Self.all.map(\.name))
    #expect(CommandTable.settings.filter { !$0.isReadable }.map(\.entry.name) == ["profile"])
    #expect(
      CommandTable.automaticMeasurements.map(\.entry.name)
        == ["heart-rate", "spo2", "stress", "hrv", "temperature"])
  }

  @Test(arguments: all) func fieldsHaveTheirLimitsAndDefaults(_ expected: Expected) throws {
    let setting = try setting(expected.name)
    let defaults = setting.defaults
    #expect(
      setting.fields.map { "\($0.name) \($0.settable) = \(defaults[$0.name] ?? -1)" } == expected.fields)
  }

  @Test(arguments: all) func theirLimitsAreWrittenAndReadAgain(_ expected: Expected) throws {
    let setting = try setting(expected.name)
    for (isHighest, bytes) in [(false, expected.lowest), (true, expected.highest)] {
      let numbers = Dictionary(
        uniqueKeysWithValues: setting.fields.map {
          ($0.name, isHighest ? $0.settable.upperBound : $0.settable.lowerBound)
        })
      let request = try setting.writeRequest(numbers)
      #expect(try request == frame(bytes))
      #expect(try setting.numbers(in: request) == numbers)
      #expect(try setting.numbers(in: setting.reply(afterWrite: request)) == numbers)
      #expect(try setting.applying(numbers, to: [:]) == numbers)
    }
  }

  @Test(arguments: all) func rejectsValuesOutOfRange(_ expected: Expected) throws {
    let setting = try setting(expected.name)
    for field in setting.fields {
      for number in [field.settable.lowerBound - 1, field.settable.upperBound + 1] {
        #expect(throws: SettingError.value(String(number), field)) {
          try setting.applying([field.name: number], to: setting.defaults)
        }
      }
    }
  }

  /// Fields that are not named are zero in a request, and a command of another setting is no value of this one.
  @Test func otherFramesAreRefused() throws {
    let touch = CommandTable.touch
    #expect(try touch.writeRequest([:]) == frame("3b0200"))
    #expect(throws: RingFrameError.unexpected(0x16)) { try touch.numbers(in: frame("1601")) }
    #expect(try !touch.isReadReply(frame("3b0101")))
    #expect(throws: RingFrameError.unexpected(0x3B)) { try touch.reply(afterWrite: frame("3b0100")) }
    #expect(try !touch.isReadReply(frame("3c0100")) && !touch.isWriteReply(frame("3c0200")))
    #expect(try touch.acknowledgement == frame("3b0200"))
  }

  @Test func aProfileIsEmptyWithoutAgeHeightAndWeight() throws {
    let profile = CommandTable.profile
    #expect(CommandTable.danger(of: try profile.writeRequest(profile.defaults)) != nil)
    for field in ["age", "height", "weight"] {
      let written = try profile.writeRequest(profile.defaults.merging([field: 1]) { $1 })
      #expect(CommandTable.danger(of: written) == nil)
    }
  }
}
