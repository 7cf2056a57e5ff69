import HaloPulse

/// The pulse of one ring over a day, second by second, in constant memory: what is older than a day gives way.
///
/// Times are seconds on any one clock; they may be negative.
package struct DayLog: Sendable {
  /// What is kept of a second.
  private struct Row {
    /// The second; `.min` if there is none.
    var second = Int32.min
    /// The least and the greatest count of green light; the least is above the greatest if there is no light.
    var low = UInt16.max
    var high = UInt16.min
    /// The same of the acceleration's magnitude, in units of 1/64 g.
    var still = UInt8.max
    var moved = UInt8.min
    /// In beats a minute; 0 for none.
    var rate: UInt8 = 0
    /// From 0 to 100; 255 for none.
    var quality: UInt8 = .max
  }

  /// Values of columns of equal width; nil where there is none.
  package struct Columns: Sendable {
    /// In seconds: the beginning of the first one, and the width of each.
    package let from: Int
    package let step: Int
    package fileprivate(set) var rates: [Double?] = []
    package fileprivate(set) var qualities: [Double?] = []
    /// In counts.
    package fileprivate(set) var lows: [Int?] = []
    package fileprivate(set) var highs: [Int?] = []
    /// In g: how much the magnitude of acceleration changes within a second.
    package fileprivate(set) var movements: [Double?] = []
  }

  /// In seconds.
  package static let length = 86_400
  private static let gravity = 64.0
  private var rows = [Row](repeating: Row(), count: length)
  /// The newest second; nil before the first value.
  package private(set) var last: Int?
  /// The oldest second that there has been.
  private var oldest: Int?

  package init() {}

  /// The first second that is kept; nil if there is none.
  package var first: Int? {
    guard let last, let oldest else { return nil }
    return max(oldest, last - Self.length + 1)
  }

  // MARK: Adding

  package mutating func addLight(_ counts: UInt16, at time: Double) {
    guard counts > 0 else { return }
    update(time) { row in
      row.low = min(row.low, counts)
      row.high = max(row.high, counts)
    }
  }

  /// - Parameter g: the acceleration
  package mutating func addMovement(_ g: SIMD3<Double>, at time: Double) {
    let magnitude = (g * g).sum().squareRoot()
    guard magnitude.isFinite else { return }
    let units = UInt8(min(magnitude * Self.gravity, 255))
    update(time) { row in
      row.still = min(row.still, units)
      row.moved = max(row.moved, units)
    }
  }

  /// - Parameter beatsPerMinute: the rate at that time; nil if it is not known
  package mutating func add(_ second: PulseSecond, beatsPerMinute: Double?) {
    update(second.start) { row in
      row.quality = UInt8(max(0, min(second.quality, 1)) * 100)
      if let beatsPerMinute, second.quality >= Beat.acceptance { row.rate = Self.rate(beatsPerMinute) }
    }
  }

  /// Adds a rate that the ring has measured.
  package mutating func addRate(_ beatsPerMinute: Double, at time: Double) {
    update(time) { $0.rate = Self.rate(beatsPerMinute) }
  }

  private static func rate(_ beatsPerMinute: Double) -> UInt8 {
    beatsPerMinute.isFinite ? UInt8(max(0, min(beatsPerMinute.rounded(), 255))) : 0
  }

  private mutating func update(_ time: Double, _ change: (inout Row) -> Void) {
    guard time.isFinite, time.magnitude < 2e9 else { return }
    let second = Int(time.rounded(.down))
    if let last, second <= last - Self.length { return }
    last = max(last ?? second, second)
    oldest = min(oldest ?? second, second)
    let index = Self.index(of: second)
    if rows[index].second != Int32(second) {
      rows[index] = Row()
      rows[index].second = Int32(second)
    }
    change(&rows[index])
  }

  private static func index(of second: Int) -> Int {
    let rest = second % length
    return rest < 0 ? rest + length : rest
  }

  /// Takes the seconds of another log that are before this one's first.
  package mutating func addEarlier(_ other: DayLog) {
    guard let start = other.first, let end = other.last else { return }
    let limit = first ?? end + 1
    guard start < limit else { return }
    for second in start..<min(limit, end + 1) {
      let row = other.rows[Self.index(of: second)]
      guard Int(row.second) == second else { continue }
      update(Double(second)) { $0 = row }
    }
  }

  // MARK: Reading

  /// The values of a stretch.
  ///
  /// - Parameters:
  ///   - from: the first second
  ///   - to: the last one
  ///   - most: how many columns there may be
  package func columns(from: Int, to: Int, atMost most: Int) -> Columns {
    let step = max(1, (to - from) / max(1, most) + 1)
    var columns = Columns(from: from, step: step)
    for start in stride(from: from, through: max(from, to), by: step) {
      var (rates, qualities, movements) = (Mean(), Mean(), Mean())
      var (low, high) = (UInt16.max, UInt16.min)
      for second in start..<start + step {
        let row = rows[Self.index(of: second)]
        guard Int(row.second) == second else { continue }
        if row.rate > 0 { rates.add(Double(row.rate)) }
        if row.quality <= 100 { qualities.add(Double(row.quality) / 100) }
        if row.still <= row.moved { movements.add(Double(row.moved - row.still) / Self.gravity) }
        (low, high) = (min(low, row.low), max(high, row.high))
      }
      columns.rates.append(rates.value)
      columns.qualities.append(qualities.value)
      columns.movements.append(movements.value)
      columns.lows.append(low <= high ? Int(low) : nil)
      columns.highs.append(low <= high ? Int(high) : nil)
    }
    return columns
  }

  private struct Mean {
    private var sum = 0.0
    private var count = 0.0

    mutating func add(_ value: Double) { (sum, count) = (sum + value, count + 1) }

    var value: Double? { count > 0 ? sum / count : nil }
  }
}
