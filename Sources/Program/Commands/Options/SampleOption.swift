import HaloCommandLine

/// The options that select kinds of samples.
enum SampleOption {
  static let ppg = Flag("--ppg", help: "the photoplethysmogram (green light), in sensor counts")
  static let accel = Flag("--accel", help: "acceleration, in g and in sensor counts")
  static let spo2 = Flag("--spo2", help: "red and infrared light, in sensor counts; not a percentage")

  static let all: [any CommandOption] = [ppg, accel, spo2]
}

extension SampleKinds {
  /// The kinds that the options select; all without one.
  init(_ invocation: Invocation) {
    self = []
    if invocation[SampleOption.ppg] { insert(.ppg) }
    if invocation[SampleOption.accel] { insert(.accelerometer) }
    if invocation[SampleOption.spo2] { insert(.spo2) }
    if isEmpty { self = .all }
  }
}
