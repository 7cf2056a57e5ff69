/// Measured times, sorted.
struct Distribution {
  /// In nanoseconds.
  private let values: [Int64]

  init(_ values: [Int64]) {
    self.values = values.sorted()
  }

  var isEmpty: Bool { values.isEmpty }

  /// The smallest value that a part of all values does not exceed; zero if there is none.
  ///
  /// - Parameter part: 0...1; 0.5 for the median
  func quantile(_ part: Double) -> Int64 {
    guard !values.isEmpty else { return 0 }
    let index = Int((part * Double(values.count)).rounded(.up)) - 1
    return values[min(max(index, 0), values.count - 1)]
  }
}
