import HaloViews
import Testing

@testable import HaloPulse

@Suite struct DayLogTests {
  private var log = DayLog()

  private func second(_ start: Double, _ quality: Double) -> PulseSecond {
    PulseSecond(start: start, quality: quality, reason: quality < 0.5 ? .motion : .good)
  }

  @Test mutating func keepsTheValuesOfEachSecond() {
    log.addLight(11_000, at: 10.2)
    log.addLight(11_400, at: 10.9)
    log.addLight(0, at: 10.95)
    log.addMovement([0, 0, 1], at: 10.1)
    log.addMovement([0, 0.75, 1], at: 10.5)
    log.add(second(10, 0.9), beatsPerMinute: 71.6)
    let columns = log.columns(from: 9, to: 11, atMost: 10)
    #expect(columns.step == 1)
    #expect(columns.lows == [nil, 11_000, nil] && columns.highs == [nil, 11_400, nil])
    #expect(columns.rates == [nil, 72, nil] && columns.qualities == [nil, 0.9, nil])
    #expect(columns.movements == [nil, 0.25, nil])
  }

  @Test mutating func takesNoRateFromBadLight() {
    log.add(second(5, 0.3), beatsPerMinute: 140)
    #expect(log.columns(from: 5, to: 5, atMost: 1).rates == [nil])
    log.addRate(64, at: 5.5)
    #expect(log.columns(from: 5, to: 5, atMost: 1).rates == [64])
  }

  @Test mutating func putsSecondsTogetherForAWideStretch() {
    for time in 0..<100 {
      log.addLight(UInt16(1000 + time), at: Double(time))
      log.addRate(Double(60 + time % 2), at: Double(time))
    }
    let columns = log.columns(from: 0, to: 99, atMost: 10)
    #expect(columns.step == 10 && columns.rates == [Double?](repeating: 60.5, count: 10))
    #expect(columns.lows.first == 1000 && columns.highs.last == 1099)
  }

  @Test mutating func forgetsWhatIsOlderThanADay() {
    log.addLight(1, at: -5)
    log.addLight(2, at: 100)
    #expect(log.first == -5)
    log.addLight(3, at: Double(DayLog.length) + 50)
    #expect(log.first == 51 && log.columns(from: 100, to: 100, atMost: 1).lows == [2])
    log.addLight(4, at: 0)
    #expect(log.columns(from: 0, to: 0, atMost: 1).lows == [nil])
  }

  @Test mutating func takesTheSecondsBeforeItsOwn() {
    var earlier = DayLog()
    for time in -10..<10 { earlier.addLight(500, at: Double(time)) }
    log.addLight(900, at: 3)
    log.addEarlier(earlier)
    let columns = log.columns(from: -10, to: 4, atMost: 100)
    #expect(log.first == -10)
    #expect(columns.lows == [Int?](repeating: 500, count: 13) + [900, nil])
  }

  @Test mutating func standsAnyTime() {
    for time in [Double.nan, .infinity, -1e300, 1e300, -2e9, 2e9] { log.addLight(1, at: time) }
    log.addMovement([.nan, 0, 0], at: 1)
    log.addMovement([1e300, 0, 0], at: 1)
    log.addRate(.nan, at: 1)
    log.addRate(-5, at: 1)
    log.addRate(1e9, at: 1)
    #expect(log.columns(from: 1, to: 1, atMost: 1).rates == [255])
  }
}
