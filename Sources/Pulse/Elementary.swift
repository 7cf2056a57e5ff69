/// The functions of real numbers that the filters need. They are here so that the module needs no C library, and so that it
/// gives the same numbers on every platform.
enum Elementary {
  /// e to the power of a number of at most 0; used for forgetting, where the argument is -(step / time constant).
  static func exp(_ x: Double) -> Double {
    // The power of a small part, squared several times: the part is at most 1/16, where 8 terms are exact.
    guard x > -700 else { return 0 }
    var part = x
    var squarings = 0
    while part < -0.0625 {
      part /= 2
      squarings += 1
    }
    var sum = 1.0
    for term in stride(from: 9.0, to: 0, by: -1) { sum = 1 + part / term * sum }
    for _ in 0..<squarings { sum *= sum }
    return sum
  }

  /// Sine and cosine of an angle from 0 to pi.
  static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
    // A quarter of the angle is at most 0.79; the double angle twice gives the whole.
    let x = angle / 4
    let square = x * x
    var sine = 1.0
    var cosine = 1.0
    for n in stride(from: 16.0, to: 0, by: -2) {
      sine = 1 - square / (n * (n + 1)) * sine
      cosine = 1 - square / (n * (n - 1)) * cosine
    }
    sine *= x
    for _ in 0..<2 { (sine, cosine) = (2 * sine * cosine, cosine * cosine - sine * sine) }
    return (sine, cosine)
  }

  /// What an exponential average takes of a new value, if the values are `step` apart and it forgets within `time`.
  static func share(of step: Double, in time: Double) -> Double { 1 - exp(-step / time) }
}

/// A filter of second order with a Butterworth response (the formulas of R. Bristow-Johnson's Audio EQ Cookbook).
struct Biquad {
  enum Kind { case lowPass, highPass }

  private let b: (Double, Double, Double)
  private let a: (Double, Double)
  private var z: (Double, Double) = (0, 0)

  /// - Parameters:
  ///   - frequency: of the corner, in Hz; below half the rate
  ///   - rate: in samples a second
  init(_ kind: Kind, at frequency: Double, rate: Double) {
    let (sine, cosine) = Elementary.sineAndCosine(2 * Double.pi * frequency / rate)
    let alpha = sine / 2.0.squareRoot()
    let scale = 1 / (1 + alpha)
    let side = kind == .lowPass ? (1 - cosine) / 2 : (1 + cosine) / 2
    b = (side * scale, (kind == .lowPass ? 2 : -2) * side * scale, side * scale)
    a = (-2 * cosine * scale, (1 - alpha) * scale)
  }

  /// Sets the state that a constant input leaves.
  mutating func settle(at x: Double) {
    let y = x * (b.0 + b.1 + b.2) / (1 + a.0 + a.1)
    z.1 = b.2 * x - a.1 * y
    z.0 = b.1 * x - a.0 * y + z.1
  }

  mutating func apply(_ x: Double) -> Double {
    let y = b.0 * x + z.0
    z.0 = b.1 * x - a.0 * y + z.1
    z.1 = b.2 * x - a.1 * y
    return y
  }
}

/// The last values of a series, at most as many as its capacity. Its memory is allocated once.
struct RecentValues {
  private var values: [Double]
  private var sorted: [Double]
  private var next = 0
  private(set) var count = 0

  init(capacity: Int) {
    values = Array(repeating: 0, count: capacity)
    sorted = values
  }

  mutating func append(_ value: Double) {
    values[next] = value
    next = next + 1 == values.count ? 0 : next + 1
    if count < values.count { count += 1 }
  }

  mutating func removeAll() { (next, count) = (0, 0) }

  /// Keeps the newest.
  mutating func keepLast(_ length: Int) { count = min(count, length) }

  /// The value that was appended `age` calls ago; 0 is the newest.
  subscript(age age: Int) -> Double {
    let index = next - 1 - age
    return values[index < 0 ? index + values.count : index]
  }

  /// The upper one of two in the middle; nil without values.
  mutating func median() -> Double? {
    guard count > 0 else { return nil }
    sort()
    return sorted[count / 2]
  }

  /// The mean of the values between the quartiles; nil without values.
  mutating func meanOfMiddleHalf() -> Double? {
    guard count > 0 else { return nil }
    sort()
    let quarter = count / 4
    var sum = 0.0
    for index in quarter..<(count - quarter) { sum += sorted[index] }
    return sum / Double(count - 2 * quarter)
  }

  private mutating func sort() {
    for index in 0..<count {
      let value = self[age: index]
      var place = index
      while place > 0, sorted[place - 1] > value {
        sorted[place] = sorted[place - 1]
        place -= 1
      }
      sorted[place] = value
    }
  }
}
