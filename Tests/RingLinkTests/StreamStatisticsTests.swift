import HaloBluetoothCore
import RingLink
import Testing

@Suite struct StreamStatisticsTests {
  private func statistics(_ milliseconds: [Int64]) -> StreamStatistics {
    var statistics = StreamStatistics()
    for time in milliseconds { statistics.add(Instant(nanoseconds: time * 1_000_000)) }
    return statistics
  }

  @Test func aSteadyStreamHasARateAndNoJitter() throws {
    let steady = statistics((0..<101).map { $0 * 40 })
    #expect(steady.count == 101)
    #expect(steady.rate == 25)
    #expect(try #require(steady.jitter) < 1e-9)
    #expect((steady.gaps, steady.delays) == (0, 0))
    #expect(steady.longestInterval == 40_000_000)
  }

  @Test func missingSamplesAreAGap() {
    let times = (0..<100).map { Int64($0) * 40 }.filter { !(2000..<2200).contains($0) } + [4000]
    let broken = statistics(times)
    #expect((broken.gaps, broken.delays) == (1, 0))
    #expect(broken.longestInterval == 240_000_000)
  }

  @Test func burstsAreNotGaps() throws {
    // 200 samples a second over connection events of 15 ms: three at a time.
    let bursts = statistics((0..<300).map { $0 / 3 * 15 })
    #expect((bursts.gaps, bursts.delays) == (0, 0))
    #expect(abs(try #require(bursts.rate) - 200) < 2)
  }

  @Test func lateSamplesThatCatchUpAreADelay() {
    // One comes 60 ms late, and those behind it at once.
    let times = (0..<100).map { Int64($0) * 20 }.map { (1000..<1080).contains($0) ? 1080 : $0 }
    let late = statistics(times)
    #expect((late.gaps, late.delays) == (0, 1))
  }

  @Test func aStallAfterWhichAllArrivesIsADelay() {
    // 1.2 s at 25 a second: 29 samples wait, and come at once.
    let even: [Int64] = (0..<500).map { Int64($0 * 40) }
    let times = even.map { (4000..<5200).contains($0) ? 5200 : $0 }
    let stalled = statistics(times)
    #expect((stalled.gaps, stalled.delays) == (0, 1))
    #expect(stalled.longestInterval == 1_240_000_000)
  }

  @Test func aLostBurstIsAGap() {
    let all: [Int64] = (0..<300).map { Int64($0 / 3 * 15) }
    let times = all.filter { $0 != 600 && $0 != 615 }
    let broken = statistics(times)
    #expect((broken.gaps, broken.delays) == (1, 0))
  }

  /// The machine slept for 9 s between a packet and its read: its stamp is earlier than those before it.
  @Test func aStampThatGoesBackMakesNoLongPause() {
    let times = (0..<200).map { Int64($0) * 20 }.map { (2000..<2060).contains($0) ? $0 - 1500 : $0 }
    let suspended = statistics(times)
    #expect(suspended.gaps + suspended.delays == 1)
    #expect(suspended.longestInterval == 80_000_000)
  }

  @Test func initialBurstIsNotAGap() {
    let times = Array(repeating: Int64(0), count: 17) + (1...500).map { $0 * 20 }
    let steady = statistics(times)
    #expect((steady.gaps, steady.delays) == (0, 0))
  }

  @Test func afterALongStallShortOnesAreStillSeen() {
    var times = (0..<100).map { Int64($0) * 40 }
    times += (0..<100).map { 604_000 + Int64($0) * 40 }
    times += (0..<100).map { 608_400 + Int64($0) * 40 }
    #expect(statistics(times).gaps == 2)
  }

  @Test func longerConnectionIntervalIsNotAGap() {
    // 2000 samples a second; the connection interval goes from 15 to 50 ms.
    let before = (0..<4000).map { Int64($0) / 30 * 15 }
    let after = (0..<20_000).map { 2000 + Int64($0) / 100 * 50 }
    let slower = statistics(before + after)
    #expect(slower.gaps == 0)
    #expect(slower.delays < 32)
  }

  @Test func trailingSilenceIsAGap() {
    var silent = statistics((0..<100).map { $0 * 40 })
    silent.finish(at: Instant(nanoseconds: 10_000_000_000))
    #expect(silent.gaps == 1)
    #expect(silent.longestInterval == 6_040_000_000)
    var steady = statistics((0..<100).map { $0 * 40 })
    steady.finish(at: Instant(nanoseconds: 4_000_000_000))
    #expect(steady.gaps == 0)
  }

  @Test func anUnresolvedPauseAtTheEndIsAGap() {
    #expect(statistics((0..<100).map { $0 * 40 } + [8000]).gaps == 1)
  }

  @Test func connectionEventQuantizationIsNotAGap() {
    let quantised = statistics((0..<200).map { ($0 * 40 + 14) / 15 * 15 })
    #expect(quantised.gaps == 0)
  }

  @Test func trailingInterruptionIsNotAPause() {
    var statistics = statistics((0..<50).map { $0 * 40 })
    statistics.interrupt()
    statistics.finish(at: Instant(nanoseconds: 60_000_000_000))
    #expect(statistics.gaps == 0 && statistics.longestInterval == 40_000_000)
  }

  @Test func tooFewSamplesHaveNoRate() {
    #expect(StreamStatistics().rate == nil)
    #expect(statistics([5]).rate == nil)
    #expect(statistics([5, 5]).rate == nil)
    #expect(statistics([0, 10]).jitter == nil)
  }
}
