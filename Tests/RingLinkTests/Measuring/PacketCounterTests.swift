@testable import RingLink
import TestSupport
import Testing

/// What becomes of the numbers of a counted stream.
@Suite struct PacketCounterTests {
  private typealias Kind = PacketCounter.Step.Kind

  /// A packet with a content of its own, unless one is given.
  private func packet(_ number: Int, content: UInt16? = nil) -> CountedSample {
    var sample = CountedSample(.green)
    sample.packet = UInt8(truncatingIfNeeded: number)
    sample.raw = content ?? UInt16(truncatingIfNeeded: 10_000 + number)
    sample.x = 1
    return sample
  }

  private func steps(_ numbers: [Int], _ counter: inout PacketCounter) -> [PacketCounter.Step] {
    numbers.map { counter.add(packet($0)) }
  }

  private func step(_ kind: Kind, _ number: Int) -> PacketCounter.Step {
    PacketCounter.Step(kind: kind, number: number)
  }

  @Test func theByteIsUnwrapped() {
    var counter = PacketCounter()
    let steps = steps(Array(200..<1200), &counter)
    #expect(steps == (200..<1200).map { step(.next, $0) })
    #expect((counter.received, counter.lost, counter.lossRatio) == (1000, 0, 0))
  }

  /// Also across the end of the byte. OpenBCI_GUI, issue 1262, asks what more than one round of lost packets would be.
  @Test(arguments: [1, 5, 63, 64, 100, 190]) func lostPacketsAreCounted(_ count: Int) {
    for first in [0, 200, 255] {
      var counter = PacketCounter()
      let steps = steps([first, first + 1, first + 2 + count], &counter)
      #expect(steps.last == step(.afterLoss(count), first + 2 + count))
      #expect((counter.received, counter.lost) == (3, count))
    }
  }

  @Test func aLatePacketWasNotLost() {
    var counter = PacketCounter()
    #expect(
      steps([254, 256, 255, 257], &counter) == [
        step(.next, 254), step(.afterLoss(1), 256), step(.late, 255), step(.next, 257),
      ])
    #expect((counter.received, counter.lost, counter.late) == (4, 0, 1))
  }

  /// bleak, issue 584: soon after the connection a packet comes twice. orbit-bhyve-ble, pull request 15: a relay sends the same
  /// packets again, several in a row.
  @Test func packetsThatComeAgainAreDoubled() {
    var counter = PacketCounter()
    #expect(steps([0, 0, 1, 2, 3], &counter)[1] == step(.doubled, 0))
    #expect(
      steps([1, 2, 3, 4], &counter) == [
        step(.doubled, 1), step(.doubled, 2), step(.doubled, 3), step(.next, 4),
      ])
    #expect((counter.received, counter.lost, counter.doubled) == (5, 0, 4))
  }

  /// brainflow, pull request 664: two packets with one number and other contents.
  @Test func anotherPacketWithTheSameNumberIsNotLeftOut() {
    var counter = PacketCounter()
    _ = steps([6, 7], &counter)
    #expect(counter.add(packet(7, content: 1)) == step(.restarted, 8))
    #expect(steps([8], &counter) == [step(.next, 9)])
    #expect((counter.received, counter.lost, counter.doubled) == (4, 0, 0))
  }

  @Test func constantCounterIsNotALoss() {
    var counter = PacketCounter()
    for content in 0..<100 { _ = counter.add(packet(0, content: UInt16(content))) }
    #expect(!counter.ringCounts)
    #expect((counter.received, counter.lost, counter.doubled) == (100, 0, 0))
    #expect(counter.add(packet(9, content: 9)) == step(.next, 100))
  }

  /// A stream that was requested again, to go on, may begin with its first number again.
  @Test func countRestartsAfterNewRequest() {
    var counter = PacketCounter()
    _ = steps(Array(0..<150), &counter)
    counter.requestedAgain()
    #expect(
      steps([150, 0, 1], &counter) == [step(.next, 150), step(.restarted, 151), step(.next, 152)])
    // Without a request, it is a loss.
    #expect(steps(Array(2..<150) + [256], &counter).last == step(.afterLoss(106), 152 + 148 + 107))
    #expect(counter.lost == 106)
  }

  @Test func interruptionIsNotALoss() {
    var counter = PacketCounter()
    _ = steps([0, 1, 2], &counter)
    counter.interrupt()
    #expect(steps([77, 78], &counter) == [step(.next, 3), step(.next, 4)])
    #expect(counter.lost == 0)
  }

  /// Whatever is lost, doubled or late, up to what a byte can show: the sum is right, and each number has one packet.
  @Test(arguments: 0..<50) func countsStayConsistentForRandomLoss(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func dice(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var sent: [Int] = []
    var isLost = Set<Int>()
    var number = 1
    sent.append(0)
    while number < 5000 {
      switch dice(100) {
      case 0..<5:
        let count = 1 + dice(dice(10) == 0 ? 150 : 3)
        isLost.formUnion(number..<number + count)
        sent.append(number + count)
        number += count + 1
      case 5..<8: sent.append(sent.last ?? 0)
      case 8..<11 where number > 8:
        // Two or three change their places.
        let count = 2 + dice(2)
        sent += (0..<count).map { number + $0 }.reversed()
        number += count
      default:
        sent.append(number)
        number += 1
      }
    }
    sent.append(number)
    var counter = PacketCounter()
    var seen = Set<Int>()
    var sum = 0
    for number in sent {
      let step = counter.add(packet(number))
      switch step.kind {
      case .afterLoss(let count): sum += count
      case .late: sum -= 1
      case .next, .doubled, .restarted: break
      }
      #expect(step.number == number)
      if step.kind != .doubled { #expect(seen.insert(step.number).inserted) }
    }
    #expect(Set(0...number).subtracting(seen) == isLost)
    #expect((sum, counter.lost) == (isLost.count, isLost.count))
    #expect(counter.received == seen.count)
  }
}
