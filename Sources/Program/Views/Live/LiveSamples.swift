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

  /// Samples of one kind that wait: of each, its time and its values.
  private struct Batch {
    let values: Int
    private(set) var numbers: [Double] = []
    /// A batch that is not sent in time grows no further.
    private static let most = 2048

    init(values: Int) {
      self.values = values
      numbers.reserveCapacity(Self.most + 8)
    }

    var count: Int { numbers.count / (1 + values) }

    mutating func add(_ time: Double, _ value: Double) {
      guard numbers.count < Self.most else { return }
      numbers.append(time)
      numbers.append(value)
    }

    mutating func add(_ time: Double, _ g: Acceleration) {
      guard numbers.count < Self.most else { return }
      numbers.append(time)
      numbers.append(g.x)
      numbers.append(g.y)
      numbers.append(g.z)
    }

    mutating func clear() { numbers.removeAll(keepingCapacity: true) }
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
    case .spo2(let optical) where kinds.contains(.spo2) && isSent: addRed(optical.raw, at: time)
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
    } else if kinds.contains(.spo2), isSent {
      addRed(sample.raw, at: time)
    }
  }

  private mutating func addLight(_ counts: UInt16, at time: Double, _ isSent: Bool) {
    day.addLight(counts, at: time)
    if isSent { light.add(time, Self.value(counts)) }
  }

  private mutating func addRed(_ counts: UInt16, at time: Double) { red.add(time, Self.value(counts)) }

  private mutating func add(_ g: Acceleration, at time: Double, _ isSent: Bool) {
    day.addMovement(SIMD3(g.x, g.y, g.z), at: time)
    if isSent { acceleration.add(time, g) }
  }

  /// A zero is a gap of the sensor (ring reference, 5.3).
  private static func value(_ counts: UInt16) -> Double { counts > 0 ? Double(counts) : .nan }

  // MARK: Messages

  /// The samples that wait, as a message.
  ///
  /// - Parameter ring: the number of the ring on the page
  /// - Returns: the message, and how many samples it has; nil if none waits
  package mutating func takeMessage(ring: Int) -> (bytes: [UInt8], samples: Int)? {
    let samples = light.count + red.count + acceleration.count
    guard samples > 0 else { return nil }
    var message = EventText("samples")
    message.add("ring", ring)
    Self.add("ppg", &light, places: 0, to: &message)
    Self.add("spo2", &red, places: 0, to: &message)
    Self.add("accel", &acceleration, places: 3, to: &message)
    return (message.finished(), samples)
  }

  private static func add(
    _ name: StaticString, _ batch: inout Batch, places: Int, to message: inout EventText
  ) {
    guard batch.count > 0 else { return }
    let each = 1 + batch.values
    message.add(name, batch.numbers.enumerated()) { text, number in
      text.write(number.element, places: number.offset % each == 0 ? 4 : places)
    }
    batch.clear()
  }
}
