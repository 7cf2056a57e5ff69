import BluetoothCore
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
    #expect((steady.gaps, steady.missing) == (0, 0))
    #expect(steady.longestInterval == 40_000_000)
  }

  @Test func missingSamplesAreAGap() {
    let times = (0..<100).map { Int64($0) * 40 }.filter { !(2000..<2200).contains($0) } + [4000]
    let broken = statistics(times)
    #expect((broken.gaps, broken.missing) == (1, 5))
    #expect(broken.longestInterval == 240_000_000)
  }

  @Test func burstsOfASlowLinkAreNoGaps() throws {
    // 200 samples a second over connection events of 15 ms: three at a time.
    let bursts = statistics((0..<300).map { $0 / 3 * 15 })
    #expect((bursts.gaps, bursts.missing) == (0, 0))
    #expect(abs(try #require(bursts.rate) - 200) < 2)
  }

  @Test func lateSamplesThatCatchUpAreNoGap() {
    // One comes 60 ms late, and those behind it at once.
    let times = (0..<100).map { Int64($0) * 20 }.map { (1000..<1080).contains($0) ? 1080 : $0 }
    #expect(statistics(times).gaps == 0)
  }

  @Test func aLostBurstIsAGap() {
    let times = (0..<300).map { Int64($0) / 3 * 15 }.filter { $0 != 600 && $0 != 615 }
    let broken = statistics(times)
    #expect((broken.gaps, broken.missing) == (1, 6))
  }

  @Test func connectionEventsOf15MillisecondsAreNoGapsAt25Hertz() {
    let quantised = statistics((0..<200).map { ($0 * 40 + 14) / 15 * 15 })
    #expect(quantised.gaps == 0)
  }

  @Test func tooFewSamplesHaveNoRate() {
    #expect(StreamStatistics().rate == nil)
    #expect(statistics([5]).rate == nil)
    #expect(statistics([5, 5]).rate == nil)
    #expect(statistics([0, 10]).jitter == nil)
  }
}
