import HaloCommandLine
import RingLink

/// The samples of one ring for the page that `stream --web` serves: those that wait for the next message, and the day so far.
/// To add a sample allocates nothing.
package struct LiveSamples {
  package private(set) var day = DayLog()
  private let kinds: SampleKinds
  private var detector: AccelerometerEncodingDetector
  private var light = Batch(values: 1)
  private var red = Batch(values: 1)
  private var acceleration = Batch(values: 3)

  /// The last samples of one kind, and those of them that wait: of each, its time and its values.
  private struct Batch {
    /// How many numbers a sample has.
    let width: Int
    private var numbers: [Double]
    /// The samples so far, and those of them that wait.
    private var total = 0
    private(set) var waiting = 0

    /// Fifteen seconds of a fast ring, and all that is shown of a slow one.
    private static let capacity = 1500
    /// In seconds: what is older is not shown, of a fast ring and of a slow one, which has no more samples than these.
    private static let window = (fast: 12.0, slow: 65.0, samples: 66)

    init(values: Int) {
      width = 1 + values
      numbers = [Double](repeating: 0, count: Self.capacity * width)
    }

    @inline(__always)
    mutating func add(_ time: Double, _ first: Double, _ others: (Double, Double)? = nil, isSent: Bool) {
      let place = total % Self.capacity * width
      numbers[place] = time
      numbers[place + 1] = first
      if let others {
        numbers[place + 2] = others.0
        numbers[place + 3] = others.1
      }
      total += 1
      // What is not sent in time gives way.
      if isSent { waiting = min(waiting + 1, Self.capacity) }
    }

    mutating func clear() { waiting = 0 }

    /// How many of the last samples are shown.
    var recent: Int {
      guard total > 0 else { return 0 }
      let newest = time(total - 1)
      let kept = min(total, Self.capacity)
      return (1...kept).last { count in
        newest - time(total - count) <= (count > Self.window.samples ? Self.window.fast : Self.window.slow)
      } ?? 0
    }

    /// The numbers of the last samples.
    func last(_ count: Int) -> some Sequence<(number: Double, isTime: Bool)> {
      (total - count..<total).lazy.flatMap { self[$0].enumerated().lazy.map { ($0.element, $0.offset == 0) } }
    }

    private func time(_ sample: Int) -> Double { numbers[sample % Self.capacity * width] }

    private subscript(sample: Int) -> ArraySlice<Double> {
      let place = sample % Self.capacity * width
      return numbers[place..<place + width]
    }
  }

  /// - Parameters:
  ///   - kinds: the kinds that are shown
  ///   - encoding: how the ring encodes acceleration; nil to detect it from the samples
  package init(_ kinds: SampleKinds, _ encoding: AccelerometerEncoding?) {
    self.kinds = kinds
    detector = AccelerometerEncodingDetector(known: encoding)
  }

  /// Changes the day so far.
  package mutating func updateDay(_ change: (inout DayLog) -> Void) { change(&day) }

  // MARK: Adding

  /// - Parameters:
  ///   - time: in seconds, on the clock of the page
  ///   - isSent: whether it waits for the next message
  package mutating func take(_ sample: RawSample, at time: Double, isSent: Bool) {
    switch sample {
    case .ppg(let optical) where kinds.contains(.ppg): addLight(optical.raw, at: time, isSent)
    case .spo2(let optical) where kinds.contains(.spo2):
      red.add(time, Self.value(optical.raw), isSent: isSent)
    case .accelerometer(let counts) where kinds.contains(.accelerometer):
      detector.observe(counts)
      if let encoding = detector.encoding { add(counts.acceleration(encoding), at: time, isSent) }
    default: break
    }
  }

  package mutating func take(_ sample: CountedSample, at time: Double, isSent: Bool) {
    if kinds.contains(.accelerometer), let g = sample.acceleration(detector.encoding) {
      add(g, at: time, isSent)
    }
    if sample.light == .green {
      if kinds.contains(.ppg) { addLight(sample.raw, at: time, isSent) }
    } else if kinds.contains(.spo2) {
      red.add(time, Self.value(sample.raw), isSent: isSent)
    }
  }

  private mutating func addLight(_ counts: UInt16, at time: Double, _ isSent: Bool) {
    day.addLight(counts, at: time)
    light.add(time, Self.value(counts), isSent: isSent)
  }

  private mutating func add(_ g: Acceleration, at time: Double, _ isSent: Bool) {
    day.addMovement(SIMD3(g.x, g.y, g.z), at: time)
    acceleration.add(time, g.x, (g.y, g.z), isSent: isSent)
  }

  /// A zero is a gap of the sensor (ring reference, 5.3).
  private static func value(_ counts: UInt16) -> Double { counts > 0 ? Double(counts) : .nan }

  // MARK: Messages

  /// The samples that wait, as a message.
  ///
  /// - Parameter ring: the number of the ring on the page
  /// - Returns: the message, and how many samples it has; nil if none waits
  package mutating func takeMessage(ring: Int) -> (bytes: [UInt8], samples: Int)? {
    defer {
      light.clear()
      red.clear()
      acceleration.clear()
    }
    let samples = light.waiting + red.waiting + acceleration.waiting
    return message(ring, light.waiting, red.waiting, acceleration.waiting).map { ($0, samples) }
  }

  /// The last samples, as a message; nil if there are none.
  package func recentMessage(ring: Int) -> [UInt8]? {
    message(ring, light.recent, red.recent, acceleration.recent)
  }

  private func message(_ ring: Int, _ lights: Int, _ reds: Int, _ accelerations: Int) -> [UInt8]? {
    guard lights + reds + accelerations > 0 else { return nil }
    var message = EventText("samples")
    message.add("ring", ring)
    Self.add("ppg", light, lights, places: 0, to: &message)
    Self.add("spo2", red, reds, places: 0, to: &message)
    Self.add("accel", acceleration, accelerations, places: 3, to: &message)
    return message.finished()
  }

  private static func add(
    _ name: StaticString, _ batch: Batch, _ count: Int, places: Int, to message: inout EventText
  ) {
    guard count > 0 else { return }
    message.add(name, batch.last(count)) { $0.write($1.number, places: $1.isTime ? 4 : places) }
  }
}
