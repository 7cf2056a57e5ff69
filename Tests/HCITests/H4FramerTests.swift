import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// What a framer makes of chunks.
private func frames(_ chunks: [[UInt8]], _ framer: H4Framer = H4Framer()) -> [[UInt8]] {
  var packets: [[UInt8]] = []
  for chunk in chunks { framer.receive(chunk.span.bytes) { packets.append(Array($0)) } }
  return packets
}

/// `bytes` in random pieces of up to `largest` bytes.
private func pieces(
  _ bytes: [UInt8], upTo largest: Int, using generator: inout some RandomNumberGenerator
) -> [[UInt8]] {
  var pieces: [[UInt8]] = []
  var offset = 0
  while offset < bytes.count {
    let end = min(bytes.count, offset + Int.random(in: 1...largest, using: &generator))
    pieces.append(Array(bytes[offset..<end]))
    offset = end
  }
  return pieces
}

private let fromController = eventVectors.map(\.packet) + aclVectors.map(\.packet)
private let fromHost = commandVectors.map(\.packet) + aclVectors.map(\.packet)

/// Packets that are a good start after garbage, and that hold what looks like the start of others.
private let recognisable = [
  "040e0401092001", "0413050145000100", "043e0c040045000100000000000000",
  "0245201b00170004001b12000f5502000000000000"
    + "0000000000001b00000081", "04050400400016",
  "043e2b02010000a07d1c7fc7f01f0201060302e0ff17ffa07d1c7fc7f03130303038330100000000010d0d00b8af",
].map { hex($0) }

@Suite struct H4FramerTests {
  @Test func framesWholeStreams() {
    let framer = H4Framer()
    #expect(frames([fromController.flatMap { $0 }], framer) == fromController)
    #expect(framer.garbageBytes == 0)
    let controller = H4Framer(accepting: H4Framer.fromHost)
    #expect(frames([fromHost.flatMap { $0 }], controller) == fromHost)
    #expect(controller.garbageBytes == 0)
  }

  @Test func byteByByte() {
    #expect(frames(fromController.flatMap { $0 }.map { [$0] }) == fromController)
    #expect(
      frames(fromHost.flatMap { $0 }.map { [$0] }, H4Framer(accepting: H4Framer.fromHost)) == fromHost)
  }

  @Test func everyCutInTwo() {
    for stream in [Array(fromController.prefix(8)), Array(fromController.suffix(8)), recognisable] {
      let bytes = stream.flatMap { $0 }
      for cut in 0...bytes.count {
        #expect(frames([Array(bytes[..<cut]), Array(bytes[cut...])]) == stream, "cut at \(cut)")
      }
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func randomChunks(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let packets = fromController.shuffled(using: &generator)
    let chunks = pieces(packets.flatMap { $0 }, upTo: 100, using: &generator)
    #expect(frames(chunks) == packets)
  }

  @Test func garbageIsSkippedAndCounted() {
    let garbage: [UInt8] = [0x00, 0xFF, 0x3E, 0x99, 0x01]
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let framer = H4Framer()
      let stream = garbage + recognisable.flatMap { $0 + garbage }
      #expect(frames(pieces(stream, upTo: 30, using: &generator), framer) == recognisable)
      #expect(framer.garbageBytes == UInt64(garbage.count * (recognisable.count + 1)))
    }
  }

  /// Nothing that arrives behind a packet changes what was made of it: chunks do not matter, for any bytes.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func chunksDoNotMatterForNoise(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    for _ in 0..<200 {
      if Bool.random(using: &generator) {
        stream += fromController.randomElement(using: &generator) ?? []
      } else {
        for _ in 0..<Int.random(in: 0..<9, using: &generator) {
          stream.append(
            [0, 1, 2, 3, 4, 5, 0x3E, 0x0E, .random(in: 0...255, using: &generator)][
              Int.random(in: 0..<9, using: &generator)])
        }
      }
    }
    let whole = H4Framer()
    let cut = H4Framer()
    let expected = frames([stream], whole)
    #expect(frames(pieces(stream, upTo: 40, using: &generator), cut) == expected)
    #expect(cut.garbageBytes == whole.garbageBytes)
    // Each byte is garbage, or in one packet, or still pending.
    #expect(expected.reduce(Int(whole.garbageBytes)) { $0 + $1.count } <= stream.count)
  }

  @Test func aLostByteCostsFewPackets() {
    let stream = Array(repeating: recognisable, count: 20).flatMap { $0 }
    let bytes = stream.flatMap { $0 }
    let damagedArea = recognisable.flatMap { $0 }.count
    for lost in 0..<damagedArea {
      var cut = bytes
      cut.remove(at: lost)
      let packets = frames([cut])
      // A false start claims up to 4096 bytes. All that comes behind is whole again.
      let intact = packets.reversed().enumerated().prefix { index, packet in
        packet == stream[stream.count - 1 - index]
      }
      let missing = stream.dropLast(intact.count).reduce(0) { $0 + $1.count }
      #expect(missing <= damagedArea + 4096 + 64, "byte \(lost)")
      #expect(intact.count >= stream.count / 2, "byte \(lost)")
    }
  }

  @Test func impossibleLengthsAreGarbage() {
    let framer = H4Framer(largestData: 1024)
    let packets = frames([hex("02 4020 ffff"), recognisable[0]], framer)
    #expect(packets == [recognisable[0]])
    #expect(framer.garbageBytes == 5)
    let largest = hex("02 4020 0004") + Array(repeating: 0, count: 1024)
    #expect(frames([largest], framer) == [largest])
  }

  @Test func resynchronizesAfterInvalidSplitHeader() {
    // 02 looks like the start of ACL data, until the length that follows is seen to be too large.
    let framer = H4Framer(largestData: 512)
    let chunks = [[0x02] + recognisable[2].prefix(1), Array(recognisable[2].dropFirst()) + recognisable[1]]
    #expect(frames(chunks, framer) == [recognisable[2], recognisable[1]])
    #expect(framer.garbageBytes == 1)
  }

  @Test func typesOfTheOtherDirectionAreGarbage() {
    #expect(frames([hex("01030c00")]).isEmpty)
    #expect(frames([recognisable[0]], H4Framer(accepting: H4Framer.fromHost)).isEmpty)
  }

  @Test func resetForgetsTheStartOfAPacket() {
    let framer = H4Framer()
    #expect(frames([hex("040e0401")], framer).isEmpty)
    framer.reset()
    #expect(frames([recognisable[1]], framer) == [recognisable[1]])
    #expect(framer.garbageBytes == 0)
  }

  @Test(arguments: [0, 2, 7])
  func resetFromWithinDropsTheRestOfTheChunk(cut: Int) {
    let framer = H4Framer()
    let bytes = recognisable.flatMap { $0 }
    var packets: [[UInt8]] = []
    for chunk in [Array(bytes[..<cut]), Array(bytes[cut...])] {
      framer.receive(chunk.span.bytes) {
        packets.append(Array($0))
        framer.reset()
      }
    }
    #expect(packets == (cut == 7 ? Array(recognisable[..<2]) : [recognisable[0]]))
    #expect(frames([recognisable[2]], framer) == [recognisable[2]])
  }

  @Test func wholePacketsAreNotCopied() {
    let chunk = recognisable[0] + recognisable[1]
    chunk.withUnsafeBytes { whole in
      var places: [Int] = []
      H4Framer().receive(whole.bytes) { packet in
        packet.withUnsafeBytes { view in
          guard let start = whole.baseAddress, let place = view.baseAddress else { return }
          places.append(place - start)
        }
      }
      #expect(places == [0, recognisable[0].count])
    }
  }

  @Test func anyBytesAreSurvived() {
    for packet in fromController {
      checkDecoderIsTotal(packet) { bytes in
        _ = frames([bytes])
        _ = frames([[0], bytes])
        _ = frames(bytes.map { [$0] }, H4Framer(accepting: H4Framer.fromHost))
      }
    }
  }
}
