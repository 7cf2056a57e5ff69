/// How much a hand moves, by its acceleration.
struct Motion {
  /// In g, of the acceleration about its mean of a second, averaged over half a second.
  var strength: Double { isStale ? 0 : square.squareRoot() }
  /// In seconds: how long the strength has been above `threshold`.
  private(set) var duration = 0.0
  /// The same bytes have come for a second: the sensor says nothing.
  private(set) var isStale = false
  /// Whether there has been any acceleration.
  var isKnown: Bool { last != nil && !isStale }

  /// In g.
  static let threshold = 0.08

  private var last: SIMD3<Double>?
  private var mean = SIMD3<Double>()
  private var square = 0.0
  private var time = 0.0
  private var lastCalm: Double?
  private var sameSince = 0.0

  mutating func add(_ acceleration: SIMD3<Double>, at now: Double) {
    guard let previous = last else {
      (last, mean, time, sameSince, lastCalm) = (acceleration, acceleration, now, now, now)
      return
    }
    last = acceleration
    if acceleration != previous || now < sameSince { sameSince = now }
    isStale = now - sameSince > 1
    let step = max(0.001, min(1, now - time))
    time = now
    mean += Elementary.share(of: step, in: 1) * (acceleration - mean)
    let distance = acceleration - mean
    square += Elementary.share(of: step, in: 0.5) * ((distance * distance).sum() - square)
    if square < Self.threshold * Self.threshold { lastCalm = now }
    duration = now - (lastCalm ?? now)
  }
}
