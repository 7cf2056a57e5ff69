/// The usual shape of a wave: the smoothed light around its rise, without its line, of unit length.
struct WaveTemplate {
  private(set) var count = 0
  private var values = [Double](repeating: 0, count: Wave.shapeLength)
  /// What a new shape counts for.
  private static let share = 0.15
  /// In seconds: the most by which the time of a beat is corrected.
  private static let largestDelay = 0.04

  mutating func forget() { count = 0 }

  mutating func begin(with shape: [Double]) {
    for index in values.indices { values[index] = shape[index] }
    count = 1
  }

  mutating func learn(_ shape: [Double]) {
    for index in values.indices { values[index] += Self.share * (shape[index] - values[index]) }
    count += 1
  }

  /// The correlation with a shape, from -1 to 1.
  func likeness(of shape: [Double]) -> Double {
    let (product, energy) = products(with: shape)
    return energy > 0 ? product / energy.squareRoot() : 0
  }

  /// By how much a shape is later than the template, in steps of its values: the least squares fit with the slope of the
  /// template. It uses the whole wave, so noise moves it less than it moves the place of the rise.
  func delay(of shape: [Double], step: Double) -> Double? {
    let (product, energy) = products(with: shape)
    guard energy > 0 else { return nil }
    let scale = product / energy
    var (numerator, denominator) = (0.0, 0.0)
    for index in 1..<(Wave.shapeLength - 1) {
      let slope = scale * (values[index + 1] - values[index - 1]) / 2
      numerator += slope * (shape[index] - scale * values[index])
      denominator += slope * slope
    }
    guard denominator > 0 else { return nil }
    let delay = -numerator / denominator * step
    return abs(delay) < Self.largestDelay ? delay : nil
  }

  private func products(with shape: [Double]) -> (Double, Double) {
    var (product, energy) = (0.0, 0.0)
    for index in values.indices {
      product += shape[index] * values[index]
      energy += values[index] * values[index]
    }
    return (product, energy)
  }
}
