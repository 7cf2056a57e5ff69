import Testing
@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// What `bench` concludes from the times of packets.
struct StreamMeasurementTests {
  private static let interval: Int64 = 15_000_000

  /// Packets at the connection events with these numbers, each with a delay, on a clock that is fast by `drift` millionths.
  private static func times(_ events: some Sequence<Int64>, drift: Int64, delay: (Int64) -> Int64) -> [Int64]
  {
    events.map { event in
      let time = event * interval + delay(event)
      return time + time / 1_000_000 * drift
    }
  }

  /// 0 to 3 ms, without a pattern.
  private static func delay(_ event: Int64) -> Int64 { event &* 7_919_113 % 3_000_000 }

  /// A grid is found to 0.1 ms, whatever its phase is and if clocks differ: 12 s with each third event used.
  @Test(arguments: [0, 43, -212] as [Int64], [0, 14_900_000] as [Int64])
  func delaysAfterConnectionEventsAreFound(drift: Int64, phase: Int64) {
    let events = Array(stride(from: Int64(0), to: 800, by: 3))
    let times = Self.times(events, drift: drift, delay: Self.delay).map { $0 + phase }
    let found = ConnectionEvents.delays(of: times, interval: Self.interval)
    #expect(found.count == events.count)
    let errors = zip(events, found).compactMap { event, found in found.map { abs($0 - Self.delay(event)) } }
    #expect(errors.count == events.count)
    #expect(errors.max() ?? .max < 100_000, "\(errors)")
  }

  @Test func estimatesNoDelaysFromFewPackets() {
    let times = Self.times(Int64(0)..<15, drift: 0, delay: Self.delay)
    #expect(ConnectionEvents.delays(of: times, interval: Self.interval) == times.map { _ in nil })
    #expect(ConnectionEvents.delays(of: times, interval: 0) == times.map { _ in nil })
    #expect(ConnectionEvents.delays(of: [], interval: Self.interval) == [])
  }

  /// 25 samples a second need two or three events of 15 ms each; one that takes five has missed two.
  @Test func missedEventsAreThoseBeyondTheUsualOnes() {
    let regular = (0..<100).map { (index: Int64) in (index * 40 + 14) / 15 * Self.interval }
    #expect(ConnectionEvents.missed(in: regular, interval: Self.interval) == 0)
    let late = regular.map { $0 > 600_000_000 ? $0 + 2 * Self.interval : $0 }
    #expect(ConnectionEvents.missed(in: late, interval: Self.interval) >= 1)
    #expect(ConnectionEvents.missed(in: [], interval: Self.interval) == 0)
    #expect(ConnectionEvents.missed(in: [5], interval: 0) == 0)
  }

  @Test func aQuantileIsOneOfTheValues() {
    let distribution = Distribution((1...1000).reversed())
    #expect(distribution.quantile(0.5) == 500)
    #expect(distribution.quantile(0.99) == 990)
    #expect(distribution.quantile(0.999) == 999)
    #expect(distribution.quantile(1) == 1000)
    #expect(Distribution([7]).quantile(0.5) == 7)
    #expect(Distribution([]).quantile(0.5) == 0)
  }
}
