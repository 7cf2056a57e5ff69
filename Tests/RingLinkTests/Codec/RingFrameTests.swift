import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

@Suite struct RingFrameTests {
  @Test(arguments: RingVector.all)
  func everyVectorGetsItsVerdict(vector: RingVector) {
    let bytes = hex(vector.hex)
    switch vector.verdict {
    case .frame:
      let frame = try? RingFrame(parsing: bytes.span.bytes)
      #expect(frame?.bytes == bytes)
      #expect(frame?.command.rawValue == bytes[0])
    case .badFrame:
      #expect(throws: RingFrameError.checksum(expected: 0x9E, found: 0x9B)) {
        try RingFrame(parsing: bytes.span.bytes)
      }
    case .bulk:
      var assembler = BulkAssembler()
      let result = assembler.receive(bytes.span.bytes, at: .zero)
      guard case .frame(let frame) = result else {
        Issue.record("no frame: \(result)")
        return
      }
      #expect(frame.id.rawValue == bytes[1])
      #expect(frame.payload == Array(bytes[6...]))
      #expect(assembler.errors == .init())
    case .other:
      #expect(throws: RingFrameError.length(bytes.count)) { try RingFrame(parsing: bytes.span.bytes) }
    }
  }

  @Test func allVectorsAreThere() {
    let verdicts = RingVector.all.map(\.verdict)
    #expect(verdicts.count == 177)
    #expect(verdicts.filter { $0 == .frame }.count == 156)
    #expect(verdicts.filter { $0 == .bulk }.count == 16)
    #expect(verdicts.filter { $0 == .badFrame }.count == 1)
  }

  @Test(arguments: RingVector.all)
  func damagedVectorsAreSurvived(vector: RingVector) {
    let bytes = hex(vector.hex)
    checkDecoderIsTotal(bytes) { damaged in
      guard let frame = try? RingFrame(parsing: damaged.span.bytes) else { return }
      // A flipped bit changes the sum, so only the bytes themselves pass, or the bad ones made right.
      #expect(damaged == bytes || vector.verdict == .badFrame)
      _ = RawSample(frame)?.frame
      _ = RingEvent(frame)?.description
      _ = try? CommandTable.battery.reply(frame)
      _ = CommandTable.meaning(of: frame, isFromRing: true)
      _ = CommandTable.danger(of: frame)
    }
  }

  @Test func framesArePaddedAndSummed() throws {
    #expect(RingFrame(0x03).bytes == hex("03000000000000000000000000000003"))
    #expect(RingFrame(0x50, 0x55, 0xAA).bytes == hex("5055aa0000000000000000000000004f"))
    let profile = try RingFrame(0x0A, payload: hex("020000001baf3c785a"))
    #expect(profile.bytes == hex("0a020000001baf3c785a0000000000e4"))
    let full = try RingFrame(0x37, payload: hex("0100282a30232b2d1f2122241e22"))
    #expect(full.bytes == hex("370100282a30232b2d1f2122241e22fb"))
    #expect(full.description == "37 01 00 28 2a 30 23 2b 2d 1f 21 22 24 1e 22 fb")
    #expect(throws: RingFrameError.payloadTooLong(15)) {
      try RingFrame(0x01, payload: Array(repeating: 0, count: 15))
    }
    var writer = ByteWriter()
    full.write(into: &writer)
    #expect(writer.bytes == full.bytes)
  }

  @Test func bytesOutsideAreZero() {
    let frame = RingFrame(RingCommand(rawValue: 0xFF), 0xFF)
    #expect(frame.byte(at: -1) == 0)
    #expect(frame.byte(at: 16) == 0)
    #expect(frame.uint16BigEndian(at: 15) == 0xFE00)
  }

  @Test func describesFrameErrors() {
    #expect(RingFrameError.length(3).description == "a frame has 16 bytes, not 3")
    #expect(
      RingFrameError.checksum(expected: 0x9E, found: 0x9B).description
        == "the checksum is 0x9b and should be 0x9e")
  }
}
