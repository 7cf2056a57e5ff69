import TestSupport

/// Light as a reflecting sensor measures it, with beats at known times: its counts fall with each.
struct SimulatedLight {
  struct Sample: Equatable {
    /// In seconds: the arrival.
    var time: Double
    var light: Double
    var acceleration: SIMD3<Double>? = SIMD3(0.1, -0.98, 0.15)
    var counter: UInt8?
  }

  var samples: [Sample]
  /// In seconds.
  let beats: [Double]
  let rate: Double

  /// - Parameters:
  ///   - beats: their times, in seconds
  ///   - rate: in samples a second
  ///   - noise: in counts; a pulse has 250
  ///   - event: in seconds, of the link: samples arrive at multiples; 0 for at once
  ///   - isCounted: whether the samples have a counter
  init(
    beats: [Double], rate: Double = 25, seconds: Double, noise: Double = 4, event: Double = 0,
    isCounted: Bool = true, seed: UInt64 = 1
  ) {
    self.beats = beats
    self.rate = rate
    var random = SeededGenerator(seed: seed)
    samples = (0..<Int(seconds * rate)).map { index in
      let time = Double(index) / rate
      var blood = 0.3 * Gauss.wave(time, period: 4)
      for (index, beat) in beats.enumerated() where beat > time - 1.5 && beat < time + 0.3 {
        // A fast heart's wave is shorter.
        let interval = index + 1 < beats.count ? beats[index + 1] - beat : 0.85
        let x = (time - beat) / min(1.2, max(0.72, (interval / 0.85).squareRoot()))
        blood += Gauss.at(x - 0.18, rise: 0.065, fall: 0.15)
        blood += 0.22 * Gauss.at(x - 0.42, rise: 0.1, fall: 0.1)
      }
      let noise = noise * Double.random(in: -1.7...1.7, using: &random)
      let arrival = event == 0 ? time : ((time + 0.002) / event).rounded(.up) * event
      return Sample(
        time: arrival, light: (11500 - 250 * blood + noise).rounded(),
        counter: isCounted ? UInt8(truncatingIfNeeded: index) : nil)
    }
  }

  /// A steady heart, from 0.5 s on.
  static func steady(
    _ rate: Double, at samples: Double = 25, seconds: Double = 60, noise: Double = 4, event: Double = 0,
    isCounted: Bool = true
  ) -> SimulatedLight {
    SimulatedLight(
      beats: Array(stride(from: 0.5, to: seconds, by: 60 / rate)), rate: samples, seconds: seconds,
      noise: noise,
      event: event, isCounted: isCounted)
  }

  /// A heart whose intervals change with the breath and from beat to beat, in seconds.
  static func varying(_ interval: Double, by spread: Double, seconds: Double, seed: UInt64 = 3) -> [Double] {
    var random = SeededGenerator(seed: seed)
    var beats = [0.5]
    while let last = beats.last, last < seconds {
      beats.append(last + interval + spread * Double.random(in: -1...1, using: &random))
    }
    return beats
  }
}

private enum Gauss {
  static func at(_ x: Double, rise: Double, fall: Double) -> Double {
    let scaled = x / (x < 0 ? rise : fall)
    return exp(-0.5 * scaled * scaled)
  }

  /// A slow wave between -1 and 1, of parabolas.
  static func wave(_ time: Double, period: Double) -> Double {
    let phase = (time / period - (time / period).rounded(.down)) * 2 - 1
    return 4 * phase * (1 - abs(phase))
  }

  private static func exp(_ x: Double) -> Double {
    guard x > -40 else { return 0 }
    var sum = 1.0
    for term in stride(from: 20.0, to: 0, by: -1) { sum = 1 + x / 16 / term * sum }
    for _ in 0..<4 { sum *= sum }
    return sum
  }
}
