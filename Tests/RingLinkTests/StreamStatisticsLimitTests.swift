import HaloBluetoothCore
import RingLink
import Testing

/// The numbers of a stream at the limits of what a pause is: three times the usual interval, after 16 intervals.
@Suite struct StreamStatisticsLimitTests {
  private func statistics(_ microseconds: [Int]) -> StreamStatistics {
    var statistics = StreamStatistics()
    for time in microseconds { statistics.add(Instant(nanoseconds: Int64(time) * 1000)) }
    return statistics
  }

  /// `count` samples, 10 ms apart.
  private func steady(_ count: Int) -> [Int] { (0..<count).map { $0 * 10_000 } }

  @Test func theRateIsThatOfTheIntervals() throws {
    #expect(statistics([0, 10_000]).rate == 100)
    #expect(statistics([0, 10_000, 40_000]).rate == 50)
    #expect(statistics(steady(3)).last == Instant(nanoseconds: 20_000_000))
  }

  /// The jitter of 10, 20 and 30 ms is 10 ms; that of 10 and 20 is half of the root of 200.
  @Test func theJitterIsTheStandardDeviation() throws {
    let three = try #require(statistics([0, 10_000, 30_000, 60_000]).jitter)
    #expect(abs(three - 0.010) < 1e-9)
    let two = try #require(statistics([0, 10_000, 30_000]).jitter)
    #expect(abs(two - 0.0070710678) < 1e-9)
    #expect(statistics([0, 10_000]).jitter == nil && StreamStatistics().jitter == nil)
  }

  @Test(arguments: [(16, 0), (17, 1)]) func aPauseNeedsSixteenIntervals(_ samples: Int, _ gaps: Int) {
    let times = steady(samples)
    #expect(statistics(times + [(times.last ?? 0) + 200_000]).gaps == gaps)
  }

  @Test(arguments: [(29_999, 0), (30_000, 1)]) func aPauseIsThreeTimesAsLong(_ pause: Int, _ gaps: Int) {
    let times = steady(50)
    let after = (0..<50).map { 490_000 + pause + $0 * 10_000 }
    #expect(statistics(times + after).gaps == gaps)
    var ended = statistics(times)
    ended.finish(at: Instant(nanoseconds: Int64(490_000 + pause) * 1000))
    #expect(ended.gaps == gaps && ended.longestInterval == (gaps == 0 ? 10_000_000 : Int64(pause) * 1000))
  }

  /// Samples within two milliseconds came at once, and tell nothing of the usual interval.
  @Test(arguments: [(2000, 0), (2001, 1)]) func simultaneousSamplesCountAsOne(_ interval: Int, _ gaps: Int) {
    let times = (0..<40).map { $0 * interval }
    #expect(statistics(times + [40 * interval + 60_000]).gaps == gaps)
  }

  /// A pause is no interval of the jitter; its samples that come late are.
  @Test func aGapIsLeftOutOfTheJitter() throws {
    let times = steady(50) + (0..<50).map { 990_000 + $0 * 10_000 }
    let broken = statistics(times)
    #expect(broken.gaps == 1 && broken.delays == 0 && broken.count == 100)
    #expect(try #require(broken.jitter) < 1e-9)
    #expect(broken.rate == 99 / 1.48)
    let late = statistics(steady(50).map { (300_000..<350_000).contains($0) ? 350_000 : $0 })
    #expect(late.delays == 1 && late.gaps == 0)
    #expect(try #require(late.jitter) > 0.001)
  }

  /// A new run after an interruption: neither the time between counts, nor the interval.
  @Test func anInterruptionEndsARun() throws {
    var statistics = statistics(steady(11))
    statistics.interrupt()
    for index in 0..<11 { statistics.add(Instant(nanoseconds: 60_000_000_000 + Int64(index) * 10_000_000)) }
    #expect(statistics.count == 22 && statistics.rate == 100 && statistics.longestInterval == 10_000_000)
    #expect(statistics.gaps == 0 && statistics.delays == 0)
    #expect(statistics.last == Instant(nanoseconds: 60_100_000_000))
    statistics.interrupt()
    statistics.add(Instant(nanoseconds: 90_000_000_000))
    #expect(statistics.rate == 100)
    // Before the first sample there is nothing to interrupt.
    var fresh = StreamStatistics()
    fresh.interrupt()
    fresh.add(.zero)
    fresh.add(Instant(nanoseconds: 20_000_000))
    #expect(fresh.rate == 50)
  }

  @Test func aPauseThatIsInterruptedIsAGap() {
    var statistics = statistics(steady(50) + [990_000])
    #expect(statistics.gaps == 1)
    statistics.interrupt()
    statistics.add(Instant(nanoseconds: 5_000_000_000))
    statistics.add(Instant(nanoseconds: 5_010_000_000))
    #expect(statistics.gaps == 1 && statistics.delays == 0)
  }

  /// The longest interval is the longest of all, whenever it was; stamps that go back are no interval.
  @Test func theLongestIntervalStays() {
    #expect(statistics([0, 30_000, 40_000]).longestInterval == 30_000_000)
    let back = statistics([50_000, 40_000, 60_000])
    #expect(back.longestInterval == 10_000_000 && back.last == Instant(nanoseconds: 60_000_000))
  }

  /// The second of two pauses ends the first.
  @Test func twoPausesAreTwoGaps() {
    let times = steady(50) + [990_000, 1_490_000]
    #expect(statistics(times).gaps == 2)
    #expect(statistics(times + (1...20).map { 1_490_000 + $0 * 10_000 }).gaps == 2)
  }
}
