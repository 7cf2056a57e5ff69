import TestSupport
import Testing

@testable import RingLink

/// What is written when a part of a setting is changed.
struct SettingChangeTests {
  @Test func fieldsThatAreNotNamedStay() throws {
    let read = ["enabled": 1, "interval": 30, "start": 5, "low-alarm": 40, "high-alarm": 150, "alarms": 2]
    let written = try CommandTable.heartRateSchedule.applying(["interval": 10], to: read)
    #expect(written == read.merging(["interval": 10]) { $1 })
  }

  @Test func usesDefaultsForOmittedFields() throws {
    let read = ["enabled": 1, "interval": 0, "interval-seconds": 0, "remind": 0, "alarms": 0, "alarm": 0]
    let written = try CommandTable.temperatureSchedule.applying(["enabled": 0], to: read)
    // 0 min is no interval; the zeros of the others may be meant.
    #expect(written["interval"] == 30 && written["interval-seconds"] == 0)
    // The user may mean it: then the seconds count.
    let seconds = try CommandTable.temperatureSchedule.applying(
      ["interval": 0, "interval-seconds": 30], to: read)
    #expect(seconds["interval"] == 0 && seconds["interval-seconds"] == 30)
    let silent = try CommandTable.temperatureSchedule.applying(["enabled": 1], to: read.mapValues { _ in 0 })
    #expect(
      silent == ["enabled": 1, "interval": 30, "interval-seconds": 5, "remind": 10, "alarms": 0, "alarm": 0])
  }

  @Test func aProfileIsWrittenAsAWholeOrNotAtAll() throws {
    let silent = CommandTable.profile.defaults.mapValues { _ in 0 }
    #expect(throws: SettingError.incomplete(setting: "profile", missing: ["height", "weight"])) {
      try CommandTable.profile.applying(["age": 34], to: silent)
    }
    let whole = try CommandTable.profile.applying(["age": 34, "height": 172, "weight": 65], to: silent)
    #expect(whole["gender"] == 2, "not told, and so not made male")
    // A ring that gives it back needs no more than the change.
    #expect(
      try CommandTable.profile.applying(["weight": 66], to: whole) == whole.merging(["weight": 66]) { $1 })
    for empty in [["age": 0], ["gender": 1], ["twelve-hour-clock": 0]] {
      #expect(throws: SettingError.self) { try CommandTable.profile.applying(empty, to: silent) }
    }
  }

  /// A COLMI R10 tells age, height and weight, and never the last three, which its app writes as 78 50 96 (thebabush/junk,
  /// qring-sync-2026-07-02.trace): they are not overwritten with zeros.
  @Test func requiresValuesOfUnreportedFields() throws {
    let read = try CommandTable.profile.numbers(in: frame("0a010000001eaf46"))
    let last = ["systolic", "diastolic", "heart-rate-warning"]
    #expect(throws: SettingError.incomplete(setting: "profile", missing: last)) {
      try CommandTable.profile.applying(["weight": 71], to: read)
    }
    let changes = ["weight": 71, "systolic": 120, "diastolic": 80, "heart-rate-warning": 150]
    #expect(try CommandTable.profile.applying(changes, to: read) == read.merging(changes) { $1 })
    #expect(CommandTable.profile.untold(read).map(\.name) == last)
    let written = read.merging(changes.filter { $0.key != "weight" }) { $1 }
    #expect(try CommandTable.profile.writeRequest(written).bytes == hex("0a020000001eaf46785096000000007d"))
  }

  @Test func limitsAreKept() throws {
    let field = try CommandTable.touch.field("sensitivity")
    for number in [0, 11, -1, .max, .min] {
      #expect(throws: SettingError.value(String(number), field)) {
        try CommandTable.touch.applying(["sensitivity": number], to: CommandTable.touch.defaults)
      }
    }
    #expect(throws: SettingError.self) { try CommandTable.touch.applying(["x": 1], to: [:]) }
  }

  /// Else a setting of which a ring tells nothing could never be written.
  @Test func acceptsDefaultsOfEverySetting() throws {
    for setting in CommandTable.settings where setting.isReadable {
      #expect(try setting.applying([:], to: [:]) == setting.defaults, "\(setting.entry.name)")
    }
  }

  @Test(arguments: [
    ("hand", "left", 1), ("hand", "2", 2), ("enabled", "on", 1), ("enabled", "off", 0),
    ("enabled", "true", 1),
    ("brightness", "5", 5), ("start-hour", "23", 23),
  ])
  func textIsRead(name: String, text: String, number: Int) throws {
    let field = try CommandTable.display.field(name)
    #expect(try field.number(from: text) == number)
    #expect(try field.number(from: field.text(of: number)) == number)
  }

  @Test(arguments: [
    ("hand", "up"), ("hand", "3"), ("enabled", "1"), ("enabled", "yes please"), ("brightness", "6"),
    ("brightness", "-1"), ("brightness", ""), ("brightness", "2.5"), ("start-hour", "99999999999999999999"),
  ])
  func otherTextIsRefused(name: String, text: String) throws {
    let field = try CommandTable.display.field(name)
    #expect(throws: SettingError.value(text, field)) { try field.number(from: text) }
  }

  /// Words alone where every value has one, and otherwise the limits, with their unit.
  @Test func theErrorNamesTheChoices() throws {
    func choices(_ setting: RingSetting, _ name: String) throws -> String {
      try setting.field(name).choices
    }
    #expect(try choices(CommandTable.display, "hand") == "left, right")
    #expect(try choices(CommandTable.display, "enabled") == "on or off")
    #expect(try choices(CommandTable.display, "brightness") == "1 to 5")
    #expect(try choices(CommandTable.heartRateSchedule, "interval").hasSuffix(" min"))
  }

  @Test func unitsMayBeWritten() throws {
    let interval = try CommandTable.heartRateSchedule.field("interval")
    #expect(try interval.number(from: "15 min") == 15)
    #expect(try interval.number(from: "15min") == 15)
    #expect(throws: SettingError.self) { try interval.number(from: "15 s") }
  }
}
