import RingLink

extension RingAnswer {
  /// Measurements, sport and the camera: commands that start an activity.
  static var measurements: [RingAnswer] {
    [
      RingAnswer(entry: CommandTable.measurementStart.entry) { ring, frame in
        guard let request = try? MeasurementStart(parsing: frame) else { return [] }
        guard ring.measures(request.kind) else { return [.refusal(of: frame.command)].compactMap { $0 } }
        ring.takeSensor()
        ring.measurement.start(request)
        return []
      },
      query(CommandTable.measurementStop) { ring, request in
        ring.measurement.stop(request.kind)
        return MeasurementStop(request.kind)
      },
      RingAnswer(entry: CommandTable.liveHeartRate.entry) { ring, frame in
        guard let request = try? LiveHeartRateControl(parsing: frame) else { return [] }
        ring.takeSensor()
        ring.measurement.control(request)
        return []
      },
      query(CommandTable.sport) { ring, request in
        ring.sport.control(request)
        return request
      },
    ]
  }
}

extension SimulatedRing {
  /// Whether firmware of this family supports the measurement at all.
  func measures(_ kind: MeasurementKind) -> Bool {
    guard !options.faults.refusesMeasurements else { return false }
    switch kind {
    case .heartRate, .bloodPressure, .oxygen, .continuousHeartRate: return true
    case .fatigue, .oneKeyCheck, .stress, .bloodSugar, .variability: return options.family != .rf03
    default: return kind.rawValue == 12 && options.family == .rt11cr
    }
  }
}
