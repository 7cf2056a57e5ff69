/// The least and the greatest value in each step of time, in constant memory: steps become twice as long when there are too
/// many.
struct Envelope: Sendable {
  struct Step: Sendable {
    var low = Double.infinity
    var high = -Double.infinity

    var isEmpty: Bool { low > high }

    mutating func add(_ other: Step) {
      low = min(low, other.low)
      high = max(high, other.high)
    }
  }

  private(set) var steps: [Step] = []
  /// In seconds; the first step begins at 0.
  private(set) var stepLength = 0.01

  /// An even number; more steps than a plot has pixels show nothing more.
  private static let capacity = 1024

  /// - Parameters:
  ///   - value: the value; one that is not finite is left out
  ///   - time: in seconds, 0 or later
  mutating func add(_ value: Double, at time: Double) {
    guard value.isFinite, time >= 0, time < 1e12 else { return }
    while time >= stepLength * Double(Self.capacity) { double() }
    let index = min(Int(time / stepLength), Self.capacity - 1)
    if index >= steps.count {
      steps.append(contentsOf: repeatElement(Step(), count: index + 1 - steps.count))
    }
    steps[index].add(Step(low: value, high: value))
  }

  private mutating func double() {
    stepLength *= 2
    for index in 0..<(steps.count + 1) / 2 {
      var step = steps[2 * index]
      if 2 * index + 1 < steps.count { step.add(steps[2 * index + 1]) }
      steps[index] = step
    }
    steps.removeLast(steps.count / 2)
  }

  var low: Double { steps.map(\.low).min() ?? .infinity }
  var high: Double { steps.map(\.high).max() ?? -.infinity }
}
