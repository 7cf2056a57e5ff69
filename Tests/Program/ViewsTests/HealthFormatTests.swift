import HaloBluetoothCore
import HaloStorage
import RingLink
import Testing

@testable import HaloViews

/// What the readers in Tests/Interop/files/test_health_formats.py can't show: bytes, limits, and values that no ring reports.
@Suite struct HealthFormatTests {
  private let time: RingTime

  init() throws { time = try #require(RingTime("2026-11-28T18:27:00")) }

  private func session(_ rates: [Int] = [80, 0, 255]) -> StoredSport {
    var sport = StoredSport(time: time, sport: .walk)
    (sport.seconds, sport.meters, sport.calories, sport.steps) = (30, 2340, 140_400, 3120)
    (sport.averageRate, sport.minimumRate, sport.maximumRate) = (104, 95, 114)
    (sport.sampleSeconds, sport.heartRates) = (10, rates)
    return sport
  }

  /// The digest of "abc" is an example of FIPS 180.
  @Test func uuidsAreThoseOfOtherPrograms() {
    // uuid.uuid5(uuid.NAMESPACE_URL, "https://www.example.com") of Python.
    #expect(NameUUID.text(url: "https://www.example.com") == "a0787afd-c170-5773-8d60-02739168de9f")
    #expect(
      Hex.string(NameUUID.sha1(Array("abc".utf8))).lowercased() == "a9993e364706816aba3e25717850c26c9cd0d89d")
    for count in [55, 56, 63, 64, 119, 120] {
      #expect(NameUUID.sha1([UInt8](repeating: 0, count: count)).count == 20)
    }
  }

  @Test func theChecksumIsThatOfTheCatalogue() {
    // CRC-16/ARC in the catalogue of parametrised CRC algorithms.
    #expect(CRC16.arc(Array("123456789".utf8).span.bytes) == 0xBB3D)
    #expect(CRC16.modbus(Array("123456789".utf8).span.bytes) == 0x4B37)
  }

  @Test func aFITFileIsAHeaderMessagesAndAChecksum() throws {
    let start = ZonedTime(time, utcOffset: 3600)
    let bytes = try #require(FITActivity(session(), at: start, serial: 7)).bytes
    #expect(bytes[0] == 14 && bytes[8..<12].elementsEqual(".FIT".utf8))
    let length = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    #expect(length == bytes.count - 16)
    // The checksum of a file with its checksum is 0.
    #expect(CRC16.arc(bytes.span.bytes) == 0)
    #expect(CRC16.arc(Array(bytes[..<14]).span.bytes) == 0)
  }

  /// The times of FIT are seconds since 1989 in 32 bits, and small ones are relative.
  @Test(arguments: [
    ("1998-07-03T21:24:15", false), ("1998-07-03T21:24:16", true), ("2126-02-06T06:27:44", true),
    ("2126-02-06T06:27:45", false),
    ("0001-01-01T00:00:00", false), ("9999-12-31T00:00:00", false),
  ])
  func aTimeThatFITLacksIsRefused(text: String, isTaken: Bool) throws {
    let start = ZonedTime(try #require(RingTime(text)), utcOffset: 0)
    #expect((FITActivity(session(), at: start, serial: 0) != nil) == isTaken)
  }

  @Test func numbersThatNoRingReportsAreInvalidAndTrapNothing() throws {
    var wild = session([Int](repeating: 255, count: 5000))
    (wild.seconds, wild.meters, wild.calories, wild.steps) = (0, 0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF)
    (wild.averageRate, wild.minimumRate, wild.maximumRate) = (0xFFFF_FFFF, 256, 0)
    let start = ZonedTime(time, utcOffset: -86400)
    let bytes = try #require(FITActivity(wild, at: start, serial: .max)).bytes
    // The distance of 2^32 m in centimeters does not fit.
    #expect(bytes.count > 5000 && CRC16.arc(bytes.span.bytes) == 0)
    var document = TCXActivities()
    document.add(wild, at: start)
    #expect(
      document.text.contains("<Calories>65535</Calories>") && !document.text.contains("AverageHeartRate"))
    #expect(!document.text.contains("<Steps>"))
    var count = 0
    OpenMHealth(ring: "", created: start).points(.sport([wild]), offsets: [0]) { _ in count += 1 }
    #expect(count == 5001)
    #expect(
      HealthTable.rows(.sport([wild]), offsets: [86400])[0].count == HealthTable.columns(of: .sport)?.count)
  }

  /// An offset is written as the zone, if it can be one; else the time is written in UTC.
  @Test(arguments: [
    (3600, "2026-11-28T18:27:00+01:00", "2026-11-28 18:27:00 +0100"),
    (-12600, "2026-11-28T18:27:00-03:30", "2026-11-28 18:27:00 -0330"),
    (0, "2026-11-28T18:27:00+00:00", "2026-11-28 18:27:00 +0000"),
    (7, "2026-11-28T18:26:53Z", "2026-11-28 18:26:53 +0000"),
    (86400, "2026-11-27T18:27:00Z", "2026-11-27 18:27:00 +0000"),
  ])
  func timesHaveTheirZone(offset: Int, rfc3339: String, spaced: String) {
    let zoned = ZonedTime(time, utcOffset: offset)
    #expect(zoned.rfc3339 == rfc3339 && zoned.spaced == spaced)
  }

  @Test func aRecordKeepsItsUUIDAndAnotherHasAnother() throws {
    func uuid(_ ring: String, _ rate: Int, _ offset: Int, isManual: Bool = false) -> JSONValue? {
      var found: JSONValue?
      let reading = HeartRateReading(time: time, beatsPerMinute: rate, isManual: isManual)
      OpenMHealth(ring: ring, created: ZonedTime(time, utcOffset: offset)).points(
        .heartRate([reading]), offsets: [offset]
      ) { found = $0.found("header")?.found("uuid") }
      return found
    }
    let one = try #require(uuid("A", 60, 0))
    #expect(one == uuid("A", 61, 0))
    #expect(one != uuid("B", 60, 0) && one != uuid("A", 60, 3600) && one != uuid("A", 60, 0, isManual: true))
  }

  @Test func estimatesBelongInNoHealthRecord() {
    for kind in HistoryKind.allCases where kind.isEstimate || kind == .sedentary {
      #expect(HealthTable.columns(of: kind) == nil && !OpenMHealth.has(kind))
    }
    for kind in HistoryKind.allCases where HealthTable.columns(of: kind) != nil {
      #expect(OpenMHealth.has(kind))
    }
  }
}
