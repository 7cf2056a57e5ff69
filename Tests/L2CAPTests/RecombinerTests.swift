import HaloBluetoothCore
import TestSupport
import Testing

@testable import L2CAP

/// A recombiner with what it delivered.
private final class Recombination {
  let recombiner: Recombiner
  private(set) var frames: [String] = []

  init(maximumPayload: Int = 1024) {
    recombiner = Recombiner(maximumPayload: maximumPayload)
  }

  var counters: Recombiner.Counters { recombiner.counters }

  func start(_ bytes: [UInt8]) { receive(bytes, isStart: true) }
  func start(_ bytes: String) { start(hex(bytes)) }
  func next(_ bytes: [UInt8]) { receive(bytes, isStart: false) }
  func next(_ bytes: String) { next(hex(bytes)) }

  private func receive(_ bytes: [UInt8], isStart: Bool) {
    recombiner.receive(bytes.span.bytes, isStart: isStart) { channel, payload in
      frames.append("\(channel) \(Hex.string(Array(payload)))")
    }
  }
}

@Suite struct RecombinerTests {
  private let frame = hex("0700 0400 1b1000 a1030405")
  private let expected = ["ATT 1b1000a1030405"]

  @Test func aWholeFrameIsDelivered() {
    let recombination = Recombination()
    recombination.start(frame)
    #expect(recombination.frames == expected)
    #expect(recombination.counters == Recombiner.Counters())
  }

  /// Also inside of the four bytes of the header.
  @Test func fragmentsCutAnywhereAreTheSame() {
    for first in 1..<frame.count {
      for second in first...frame.count {
        let recombination = Recombination()
        recombination.start(Array(frame[..<first]))
        recombination.next(Array(frame[first..<second]))
        if second < frame.count { recombination.next(Array(frame[second...])) }
        #expect(recombination.frames == expected, "\(first) \(second)")
        #expect(recombination.counters == Recombiner.Counters(), "\(first) \(second)")
      }
    }
  }

  @Test func randomRefragmentationIsTheSame() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<200 {
      let recombination = Recombination()
      var wanted: [String] = []
      for _ in 0..<5 {
        let payload = random.bytes(Int.random(in: 0...80, using: &random))
        let frame = [UInt8(payload.count), 0, 4, 0] + payload
        wanted.append("ATT " + Hex.string(payload))
        var offset = 0
        repeat {
          let end = min(frame.count, offset + Int.random(in: 1...27, using: &random))
          let fragment = Array(frame[offset..<end])
          if offset == 0 { recombination.start(fragment) } else { recombination.next(fragment) }
          offset = end
        } while offset < frame.count
      }
      #expect(recombination.frames == wanted)
    }
  }

  @Test func aFrameOfNoBytesIsAFrame() {
    let recombination = Recombination()
    recombination.start("0000 0400")
    recombination.start("00")
    recombination.next("000400")
    #expect(recombination.frames == ["ATT ", "ATT "])
  }

  @Test func anEmptyStartBeginsAFrame() {
    let recombination = Recombination()
    recombination.start("")
    recombination.next(frame)
    #expect(recombination.frames == expected)
    #expect(recombination.counters == Recombiner.Counters())
  }

  @Test func ignoresEmptyContinuation() {
    let recombination = Recombination()
    recombination.start(Array(frame[..<3]))
    recombination.next("")
    recombination.next(Array(frame[3...]))
    #expect(recombination.frames == expected)
  }

  @Test func aContinuationWithoutAStartIsDropped() {
    let recombination = Recombination()
    recombination.next(frame)
    recombination.start(frame)
    recombination.next("ff")
    #expect(recombination.frames == expected)
    #expect(recombination.counters.orphans == 2)
  }

  @Test func newStartDropsUnfinishedFrame() {
    let recombination = Recombination()
    recombination.start(Array(frame[..<6]))
    recombination.start(frame)
    recombination.next("ff")
    #expect(recombination.frames == expected)
    #expect(recombination.counters.unfinished == 1)
    #expect(recombination.counters.orphans == 1)
  }

  @Test func moreBytesThanAnnouncedAreDropped() {
    let recombination = Recombination()
    recombination.start("0300 0400 0a1600 ffff")
    recombination.start("0300 0400 0a")
    recombination.next("1600 ffff")
    // The rest of what was too long is nobody's.
    recombination.next("ff")
    recombination.start(frame)
    #expect(recombination.frames == expected)
    #expect(recombination.counters.overlong == 2)
    #expect(recombination.counters.orphans == 1)
  }

  @Test func framesThatAreTooLargeAreSkippedAndTheNextOneWorks() {
    let recombination = Recombination(maximumPayload: 16)
    recombination.start("1100 0400" + String(repeating: "00", count: 17))
    #expect(recombination.counters.tooLarge == 1)

    // In fragments, with the end in one of its own.
    recombination.start("2000 0400" + String(repeating: "00", count: 10))
    recombination.next(Array(repeating: 0, count: 10))
    recombination.next(Array(repeating: 0, count: 12))
    #expect(recombination.counters.tooLarge == 2)
    recombination.next("00")
    #expect(recombination.counters.orphans == 1)
    recombination.start(frame)

    // The header is cut, and the rest comes with it in one large fragment.
    recombination.start("ff")
    recombination.next("ff0400" + String(repeating: "00", count: 40))
    recombination.next(Array(repeating: 0, count: 1000))
    recombination.start(frame)
    #expect(recombination.frames == expected + expected)
    #expect(recombination.counters.tooLarge == 3)
    #expect(recombination.counters.unfinished == 1)
    #expect(recombination.counters.overlong == 0)
  }

  @Test func theLargestFrameIsAccepted() {
    let recombination = Recombination(maximumPayload: 16)
    let largest = hex("1000 0400") + Array(repeating: 7, count: 16)
    recombination.start(largest)
    recombination.start(Array(largest[..<4]))
    recombination.next(Array(largest[4...]))
    #expect(recombination.frames.count == 2)
    #expect(recombination.counters == Recombiner.Counters())
  }

  @Test func resetDropsUnfinishedFrame() {
    let recombination = Recombination()
    recombination.start(Array(frame[..<6]))
    recombination.recombiner.reset()
    recombination.next(Array(frame[6...]))
    #expect(recombination.frames.isEmpty)
    recombination.start(frame)
    #expect(recombination.frames == expected)
  }

  @Test func handlesRandomFragmentsWithoutCrashing() {
    var random = SeededGenerator(seed: 3)
    let recombination = Recombination(maximumPayload: 64)
    for _ in 0..<20_000 {
      var bytes = random.bytes(Int.random(in: 0...90, using: &random))
      if bytes.count > 1, Bool.random(using: &random) { bytes[1] = 0 }
      if Int.random(in: 0..<3, using: &random) == 0 {
        recombination.start(bytes)
      } else {
        recombination.next(bytes)
      }
    }
    recombination.start(frame)
    #expect(recombination.frames.last == expected.last)
  }
}
