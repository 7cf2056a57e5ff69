import TestSupport
import Testing

@testable import RingLink

/// What a ring sends unasked (ring reference, 4.3, 4.13 to 4.15), with every byte another one.
struct RingEventTests {
  private static let told: [(String, String?)] = [
    ("02 01", "camera mode"), ("02 02", "shaken: take a picture"), ("02 03", "camera mode ended"),
    ("02 04", nil),
    ("02 00", nil), ("1d 01", "key: playPause"), ("1d 02", "key: previous"), ("1d 03", "key: next"),
    ("1d 04", "key: volumeUp"), ("1d 05", "key: volumeDown"), ("1d 06", nil), ("1d 00", nil),
    ("22 01", "looks for the phone"), ("22 02", "looks for the phone no longer"),
    ("22 00", "looks for the phone no longer"), ("2f f4", "notifications carry up to 244 bytes"),
    // A COLMI R10 (thebabush/junk, fixtures/colmi-r10), and a client of an R09 (stansz/smart-ring, parsers/temp.py).
    ("73 27 a6", "skin temperature 36.6 °C"), ("73 27 00", "new skin temperature"),
    ("73 0c 63 01", "battery at 99 %, charging"),
    ("73 05 42 0e", "new temperature: 3650, hundredths of a °C by one client, without a capture"),
    ("73 05", "new temperature"), ("73 0c 2b 01", "battery at 43 %, charging"),
    ("73 0c 65", "battery changed"),
    ("73 12 010203 040506 070809", "today 66051 steps, 460809 m, 263 kcal"), ("73 2b 29", "new HRV: 41 ms"),
    ("73 2c 29", "new stress: 41"), ("73 01", "new heart rate"), ("73 09", "requests synchronization"),
    ("73 0b", "requests synchronization"), ("73 28", "value 0x28"), ("73 29", "notification, kind 0x29"),
    ("73 2d 01", "button: down"), ("73 2d 02", "button: up"), ("73 2d 03", "button: tap"),
    ("73 2d 04", "button: long"),
    ("73 2d 05", "button"), ("73 3a 01 2d", "heart rate too low: 45 bpm"),
    ("73 3a 02 82", "heart rate too high: 130 bpm"),
    ("73 3a 03 82", "heart rate alarm"), ("73 25 00000013 0007", "counter: 19"),
    ("78 07 05 0102 4b 030405 060708 090a0b", "run: 258 s, 75 bpm, 197637 steps, 395016 m, status 5"),
    ("78 04 01 004b 60 000082 00005b 001400", "walk: 75 s, 96 bpm, 130 steps, 91 m"),
    ("78 04 02 004b 60 000082 00005b 001400", "walk: 75 s, 96 bpm, 130 steps, 91 m, paused"),
    ("78 63 03 0000 00", "balance training: 0 s, 0 bpm, 0 steps, 0 m, not worn"),
    ("78 ff 03 0000 00", "sport 255: 0 s, 0 bpm, 0 steps, 0 m, not worn"), ("03 40", nil), ("a1 01", nil),
  ]

  @Test(arguments: told) func eventsAreRead(_ start: String, _ text: String?) throws {
    #expect(RingEvent(try frame(start))?.description == text)
  }

  @Test func aSecondOfSportIsRead() throws {
    let update = try CommandTable.sportUpdate.value(frame("78 07 05 0102 4b 030405 060708 090a0b"))
    #expect(
      update.sport == .run && update.status == 5 && update.seconds == 0x0102 && update.beatsPerMinute == 75)
    #expect(update.steps == 0x030405 && update.meters == 0x060708 && update.calories == 0x090A0B)
    #expect(try CommandTable.sportUpdate.frame(update) == frame("78 07 05 0102 4b 030405 060708 090a0b"))
  }

  /// The numbers are those of both libraries of the vendor: `OdmSportPlusExerciseModelType` of its manual for Android and
  /// of the headers for iOS.
  @Test func sportsHaveNames() {
    let some: [Sport] = [.walk, .rope, .run, .hike, .cycle, .other, .climbing, .badminton, .yoga]
    #expect(some.map(\.rawValue) == [4, 5, 7, 8, 9, 10, 20, 21, 22])
    #expect(
      some.map(\.option) == [
        "walk", "rope", "run", "hike", "cycle", "other", "climbing", "badminton", "yoga",
      ])
    for sport in Sport.allCases {
      #expect(Sport(name: "\(sport)") == sport && Sport(name: sport.option) == sport)
      #expect(sport.option.utf8.allSatisfy { (97...122).contains($0) || $0 == 45 })
    }
    #expect(Sport.allCases.count == 179 && Sport(name: "Fat-burning Run")?.rawValue == 45)
    #expect(Sport(name: "strength-training")?.rawValue == 88 && Sport(name: "") == nil)
    #expect(Sport(name: "255") == nil && "\(Sport(rawValue: 99))" == "balance training")
  }

  /// Firmware is known to invent these (ring reference, 4.9).
  @Test func estimatesAreMarked() throws {
    let estimates = try Self.told.compactMap { RingEvent(try frame($0.0)) }.filter(\.isEstimate)
    #expect(estimates == [.variability(41), .stress(41)])
    #expect(RingEvent.Kind.liveTotals.description == "live totals" && RingEvent.Kind.battery.rawValue == 0x0C)
    #expect(RingEvent.Kind.variability.rawValue == 0x2B && RingEvent.Kind.stress.rawValue == 0x2C)
  }

  /// The prefix tells reports of one command apart.
  @Test func aReportOfAnotherKindIsRefused() throws {
    #expect(throws: RingFrameError.unexpected(.notification)) {
      try CommandTable.liveTotals.value(frame("73 0c 2b"))
    }
    #expect(throws: RingFrameError.unexpected(0x1D)) { try CommandTable.camera.value(frame("1d 01")) }
    #expect(throws: RingFrameError.unexpected(0x02)) { try CommandTable.mediaKey.value(frame("02 01")) }
  }

  /// Answers are told by their command alone.
  @Test func totalsOfADayAreRead() throws {
    let totals = try CommandTable.today.reply(frame("48 010203 040506 070809 0a0b0c 0d0e"))
    #expect(totals.steps == 0x010203 && totals.runningSteps == 0x040506 && totals.calories == 0x070809)
    #expect(totals.meters == 0x0A0B0C && totals.activeMinutes == 0x0D0E)
    let update = try CommandTable.measurementStart.reply(frame("69 03 00 61 01 50 1234"))
    #expect(update.kind == .oxygen && update.value == 0x61 && update.second == 1 && update.third == 0x50)
    #expect(update.beatInterval == 0x3412)
  }

  /// Blood pressure has both numbers, or none (ring reference, 4.9); a value of 0 is none.
  @Test(
    arguments: [
      (UInt8(2), UInt8(9), UInt8(121), UInt8(79), MeasuredValue.bloodPressure(systolic: 121, diastolic: 79)),
      (2, 9, 1, 1, .bloodPressure(systolic: 1, diastolic: 1)), (2, 9, 121, 0, nil), (2, 9, 0, 79, nil),
      (1, 1, 0, 0, .heartRate(1)), (6, 70, 0, 0, .heartRate(70)), (3, 97, 0, 0, .oxygen(97)),
      (10, 42, 0, 0, .variability(42)),
      (8, 31, 0, 0, .stress(31)), (9, 5, 0, 0, .number(5)), (1, 0, 7, 7, nil), (3, 0, 1, 0, nil),
    ] as [(UInt8, UInt8, UInt8, UInt8, MeasuredValue?)])
  func decodesMeasuredValueOfUpdate(
    kind: UInt8, value: UInt8, second: UInt8, third: UInt8, measured: MeasuredValue?
  ) {
    var update = MeasurementUpdate(MeasurementKind(rawValue: kind))
    (update.value, update.second, update.third) = (value, second, third)
    #expect(update.measuredValue(CommandTable.measurementStart.frame(of: update)) == measured)
  }
}
