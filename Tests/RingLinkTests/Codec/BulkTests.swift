import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@Suite struct BulkTests {
  private let nap = hex("bc3e11007c6001020e06037503021404110321021b020e")

  private func crc(_ bytes: [UInt8]) -> UInt16 { CRC16.modbus(bytes.span.bytes) }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func crcHasItsCheckValue() {
    #expect(crc(Array("123456789".utf8)) == 0x4B37)
    #expect(crc([]) == 0xFFFF)
    #expect(crc([0]) == 0x40BF)
    #expect(crc([0xFF]) == 0x00FF)
    #expect(crc([0, 1]) == 0x70C0)
  }

  @Test(
    arguments: [
      (0x27, "0001", "bc270200c0700001"), (0x27, "", "bc270000ffff"), (0x2A, "ff", "bc2a0100ff00ff"),
      (0x4A, "010100fffe460065006c0069007800", "bc4a0f00f3ac010100fffe460065006c0069007800"),
    ] as [(UInt8, String, String)])
  func requestsHaveTheirExactLength(id: UInt8, payload: String, packet: String) throws {
    var writer = ByteWriter()
    try BulkFrame.write(BulkID(rawValue: id), payload: hex(payload), into: &writer)
    #expect(writer.bytes == hex(packet))
  }

  @Test func firmwareUpdatesAreNeverBuilt() throws {
    var writer = ByteWriter()
    for id in UInt8(1)...5 {
      #expect(throws: BulkFrameError.firmwareUpdate(BulkID(rawValue: id))) {
        try BulkFrame.write(BulkID(rawValue: id), payload: [], into: &writer)
      }
    }
    #expect(throws: BulkFrameError.payloadTooLong(4097)) {
      try BulkFrame.write(0x27, payload: Array(repeating: 0, count: 4097), into: &writer)
    }
    #expect(writer.bytes.isEmpty)
  }

  @Test func anyFragmentationGivesTheSameFrame() {
    for first in 6...nap.count {
      for size in 1...nap.count {
        var assembler = BulkAssembler()
        var results = [assembler.take(nap[..<first], at: .zero)]
        for start in stride(from: first, to: nap.count, by: size) {
          #expect(results.last == .incomplete)
          let piece = Array(nap[start..<min(start + size, nap.count)])
          results.append(assembler.take(piece, at: .zero))
        }
        guard case .frame(let frame) = results.last else {
          Issue.record("\(first) then \(size): \(results)")
          return
        }
        #expect(frame.id == .nap)
        #expect(frame.payload == Array(nap[6...]))
        #expect(assembler.errors == .init())
        #expect(assembler.deadline == nil)
      }
    }
  }

  @Test func aContinuationMayLookLikeAHeader() throws {
    var writer = ByteWriter()
    let payload = Array(repeating: BulkFrame.magic, count: 40)
    try BulkFrame.write(0x2A, payload: payload, into: &writer)
    var assembler = BulkAssembler()
    #expect(assembler.take(writer.bytes[..<20], at: .zero) == .incomplete)
    #expect(assembler.take(writer.bytes[20..<40], at: .zero) == .incomplete)
    guard case .frame(let frame) = assembler.take(writer.bytes[40...], at: .zero) else {
      Issue.record("no frame")
      return
    }
    #expect(frame.payload == payload)
  }

  @Test func abandonsFrameAfterSilence() {
    var assembler = BulkAssembler()
    #expect(assembler.take(nap[..<10], at: at(1000)) == .incomplete)
    #expect(assembler.take(nap[10..<12], at: at(3999)) == .incomplete)
    #expect(assembler.deadline == at(6999))
    assembler.abandonIfSilent(at: at(6998))
    #expect(assembler.deadline == at(6999))
    // The next header comes late enough to be one, though nobody looked at the clock in between.
    guard case .frame = assembler.take(nap, at: at(6999)) else {
      Issue.record("no frame")
      return
    }
    #expect(assembler.errors.abandoned == 1)
    _ = assembler.take(nap[..<10], at: at(8000))
    assembler.reset()
    #expect(assembler.deadline == nil)
    #expect(assembler.errors.abandoned == 1)
  }

  @Test func countsStrayAndOversizedFragments() {
    var assembler = BulkAssembler()
    #expect(assembler.take(hex("bc27010010"), at: .zero) == .dropped)
    #expect(assembler.take([], at: .zero) == .dropped)
    #expect(assembler.take(hex("27010000ffff00"), at: .zero) == .dropped)
    #expect(assembler.errors.stray == 3)
    #expect(assembler.take(hex("bc270110ffff00"), at: .zero) == .dropped)
    #expect(assembler.errors.tooLong == 1)
    #expect(assembler.deadline == nil)
    #expect(assembler.take(hex("bc300100bf4001"), at: .zero) == .dropped)
    #expect(assembler.errors.badCRC == 1)
    guard case .frame(let frame) = assembler.take(hex("bc300100bf4000ffff"), at: .zero)
    else {
      Issue.record("no frame")
      return
    }
    #expect(frame.payload == [0])
    #expect(assembler.errors.overlong == 1)
  }

  @Test func rawFramesMayComeHere() throws {
    let raw = hex("a10229812acd29c1010c01000000003c")
    let expected = try RingFrame(parsing: raw.span.bytes)
    var assembler = BulkAssembler()
    #expect(assembler.take(raw, at: .zero) == .raw(expected))
    #expect(assembler.take(hex("a105066320281f5100d700000000009b"), at: .zero) == .dropped)
    // Inside an open frame the same bytes are its payload.
    #expect(assembler.take(hex("bc2712000000"), at: .zero) == .incomplete)
    #expect(assembler.take(raw, at: .zero) == .incomplete)
  }

  @Test(arguments: RingVector.all.filter { $0.verdict == .bulk })
  func damagedVectorsAreSurvived(vector: RingVector) {
    let bytes = hex(vector.hex)
    checkDecoderIsTotal(bytes) { damaged in
      var assembler = BulkAssembler()
      // The CRC covers the payload: a frame that comes through has it unharmed, or another header.
      if case .frame(let frame) = assembler.take(damaged, at: .zero) {
        #expect(frame.payload == Array(bytes[6...]) || damaged[2...5] != bytes[2...5])
      }
    }
  }
}

extension BulkAssembler {
  /// `#expect` cannot hold a span.
  fileprivate mutating func take(_ bytes: some Sequence<UInt8>, at now: Instant) -> Result {
    receive(Array(bytes).span.bytes, at: now)
  }
}
