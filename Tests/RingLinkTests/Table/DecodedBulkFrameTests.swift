import RingLink
import TestSupport
import Testing

/// What the tools say of a bulk frame (ring reference, 3 and 6).
struct DecodedBulkFrameTests {
  private func meaning(_ frame: String, isFromRing: Bool = true) throws -> DecodedBulkFrame {
    var assembler = BulkAssembler()
    guard case .frame(let frame) = assembler.receive(hex(frame).span.bytes, at: .zero) else {
      preconditionFailure(frame)
    }
    return frame.meaning(isFromRing: isFromRing)
  }

  private func lines(_ meaning: DecodedBulkFrame) -> [String] {
    meaning.values.map {
      String(repeating: "  ", count: $0.depth)
        + "\($0.name): \($0.text) @\($0.range.lowerBound)+\($0.range.count)"
    }
  }

  /// The nap of an RT11CR.
  @Test func aNapHasItsFields() throws {
    let nap = try meaning("bc3e11007c6001020e06037503021404110321021b020e")
    #expect(nap.name == "naps" && nap.form == "event")
    #expect(
      lines(nap) == [
        "number of days: 1 @0+1", "days 1:  @1+16", "  days-ago: 2 d @1+1", "  length: 14 @2+1",
        "  start: 774 min @3+2", "  end: 885 min @5+2", "  stages 1: kind light (2), minutes 20 min @7+2",
        "  stages 2: kind REM (4), minutes 17 min @9+2", "  stages 3: kind deep (3), minutes 33 min @11+2",
        "  stages 4: kind light (2), minutes 27 min @13+2",
        "  stages 5: kind light (2), minutes 14 min @15+2",
      ])
  }

  @Test func describesFieldsOfOtherBulkFrames() throws {
    #expect(
      lines(try meaning("bc28040022f200960459"))
        == ["days-ago: 0 d @0+1", "readings 1: minute 1174, heart-rate 89 bpm @1+3"])
    #expect(
      lines(try meaning("bc2702008180ff01", isFromRing: false)) == ["days: all @0+1", "version: 1 @1+1"])
    #expect(lines(try meaning("bc2a0100ff00ff", isFromRing: false)) == ["days: all @0+1"])
    let name = try meaning("bc4a0f00f3ac010100fffe460065006c0069007800", isFromRing: false)
    #expect(name.form == "request" && lines(name) == ["name: Felix @5+10"])
    // The answer of another id than the request's.
    let sport = try meaning("bc420100bf4000")
    #expect(sport.name == "sport records" && sport.form == "reply")
  }

  /// The frames of `vectors/ring.json`: a session of strength training, one without a start, and a part of a course.
  @Test func aSportSessionHasItsNumbers() throws {
    let list = try meaning(
      "bc4250009ec60323580601a891006b040226070604a04e020003077003085803098d040e0c000413f0000c0404023c0006034b000000"
        + "2007060128e3016b040258020603dc0500000405fa0004063601061340060000")
    #expect(list.name == "sport records" && list.form == "reply")
    #expect(
      lines(list).prefix(11) == [
        "number of sessions: 3 @0+1", "sessions 1:  @1+35", "  length: 35 @1+1",
        "  sport: strength training (88) @2+1", "  start: 1795199400 s @3+6", "  duration: 1830 s @9+4",
        "  energy: 151200 cal @13+6", "  average rate: 112 bpm @19+3", "  minimum rate: 88 bpm @22+3",
        "  maximum rate: 141 bpm @25+3", "  count: 12 @28+4",
      ])
    let request = try meaning("bc43050035af58a891006b", isFromRing: false)
    #expect(lines(request) == ["sport: strength training (88) @0+1", "start: 1795199400 s @1+4"])
    #expect(
      lines(try meaning("bc440800e35a0002003c01110212")) == [
        "status: 0 @0+1", "packets: 2 @1+2", "interval: 60 s @3+1", "columns 1: width 1, key rate (17) @4+2",
        "columns 2: width 2, key 18 @6+2",
      ])
    #expect(
      lines(try meaning("bc450b001a0e0100600100680200000300"))
        == ["packet: 1 @0+2", "samples: 60 01 00 68 02 00 00 03 00 @2+9"])
  }

  /// A single byte is a status: a wrong CRC during an update, and no days (the vendor's SDK; PulseLoopAndroid's pull
  /// request 26).
  @Test func decodesSingleByteAsStatus() throws {
    let update = try meaning("bc0301003e8102")
    #expect(update.form == "status" && update.values.first?.text == "2: wrong content or CRC")
    #expect(try meaning("bc270100bf4000").values.map(\.text) == ["0: no data"])
    #expect(CommandTable.meaning(ofBulk: 0x2A, [4], isFromRing: true).values.first?.text == "4: wrong format")
  }

  @Test func describesUnknownBulkFrames() {
    let meaning = CommandTable.meaning(ofBulk: 0x60, [7], isFromRing: true)
    #expect(meaning.name == "bulk frame, id 0x60" && meaning.form == nil && meaning.values.isEmpty)
    // A request that no ring would understand.
    #expect(CommandTable.meaning(ofBulk: 0x27, [9, 9, 9], isFromRing: false).form == nil)
  }

  /// Whatever arrives, each value lies in the payload.
  @Test func everyValueHasItsBytes() {
    var generator = SeededGenerator(seed: 9)
    for id in UInt8.min...UInt8.max {
      for length in [0, 1, 2, 7, 20, 60, 200] {
        let payload = generator.bytes(length)
        for isFromRing in [true, false] {
          let meaning = CommandTable.meaning(ofBulk: BulkID(rawValue: id), payload, isFromRing: isFromRing)
          for value in meaning.values { #expect(value.range.upperBound <= max(length, 1)) }
        }
      }
    }
  }
}
