import RingLink
import TestSupport
import Testing

/// The ring reference, 4.1, and what makers' app sent.
struct ClockVectorTests {
  @Test(arguments: [
    ("2024-01-01", 0, 0, 0, "01240101000000010000000000000028"),
    ("2025-04-09", 12, 34, 56, "012504091234560100000000000000d0"),
    ("2025-12-11", 22, 54, 15, "012512112254150100000000000000d5"),
  ])
  func timeIsWritten(day: String, hour: Int, minute: Int, second: Int, bytes: String) throws {
    let day = try #require(RingDay(day))
    let time = try #require(RingTime(day, hour: hour, minute: minute, second: second))
    let request = CommandTable.setTime.request(try #require(ClockSetting(time)))
    #expect(request.bytes == hex(bytes))
    #expect(try ClockSetting(parsing: request).time == time)
  }

  @Test func decodesCapabilitiesFromSetTimeReply() throws {
    let frame = try RingFrame(parsing: hex("01000100220000000001003001001066").span.bytes)
    let capabilities = try CommandTable.setTime.reply(frame)
    #expect(
      capabilities.features == [
        "watch-faces", "spo2", "weather", "new-sleep-protocol", "manual-heart-rate", "stress",
      ])
    #expect(capabilities.companionFeatures == 0x30 && capabilities.displayWidth == 0)
  }

  @Test(arguments: [("2ff10000000000000000000000000020", 241), ("2ff40000000000000000000000000023", 244)])
  func theLengthComesFirst(bytes: String, length: UInt8) throws {
    #expect(try CommandTable.payloadLength.value(RingFrame(parsing: hex(bytes).span.bytes)) == length)
  }

  @Test(arguments: [1999, 2100, 1, 9999]) func rejectsYearsOutsideThe21stCentury(year: Int) throws {
    let day = try #require(RingDay(year: year, month: 12, day: 31))
    #expect(ClockSetting(day.midnight) == nil)
  }

  /// Halves of a byte above 9 make it 0, as firmware reads it: then there is no such day.
  @Test func decodesInvalidTimesAsNil() throws {
    for bytes in [
      "012a01010000000100000000000000", "01250f010000000100000000000000", "01250230000000010000000000",
    ] {
      var frame = hex(bytes)
      frame += Array(repeating: 0, count: 15 - frame.count)
      frame.append(frame.reduce(0, &+))
      let setting = try ClockSetting(parsing: RingFrame(parsing: frame.span.bytes))
      #expect(setting.time == nil || setting.yearOfCentury == 0)
    }
  }

  @Test func derivesClockLeadFromRingDay() throws {
    let day = try #require(RingDay("2026-11-21"))
    let evidence = ClockEvidence(day: day, future: day.midnight.adding(minutes: 14 * 60 + 35))
    let host = day.midnight.adding(minutes: 13 * 60 + 45)
    #expect(evidence.lead(over: host) == -49500...36899)
    #expect(evidence.suggestedLead(over: host) == 3000)
    #expect(ClockEvidence().lead(over: host) == nil)
  }
}
