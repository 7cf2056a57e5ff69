import RingLink

/// How the simulated ring answers one command of the table: the table defines the frames, this supplies their contents.
struct RingAnswer {
  let entry: CommandEntry
  /// The frames that answer a frame.
  let frames: (SimulatedRing, RingFrame) -> [RingFrame]

  /// A request that is answered with one frame. Malformed requests are not answered.
  static func query<Request, Reply>(
    _ query: RingQuery<Request, Reply>, _ answer: @escaping (SimulatedRing, Request) -> Reply
  ) -> RingAnswer {
    RingAnswer(entry: query.entry) { ring, frame in
      guard let request = try? query.request(in: frame) else { return [] }
      return [query.frame(of: answer(ring, request))]
    }
  }

  /// A question with several frames for an answer.
  static func log<Assembler: LogWriter>(
    _ log: RingLog<Assembler>, _ answer: @escaping (SimulatedRing, Assembler.Request) -> Assembler.Contents
  ) -> RingAnswer {
    RingAnswer(entry: log.entry) { ring, frame in
      guard let request = try? Assembler.Request(parsing: frame) else { return [] }
      return Assembler.frames(of: answer(ring, request), command: log.command, to: request)
    }
  }

  /// A setting, which is stored as it was written. Some are not reported when read, as on most rings.
  static func setting(_ setting: RingSetting) -> RingAnswer {
    RingAnswer(entry: setting.entry) { ring, frame in
      if setting.isWriteReply(frame) {
        guard let kept = try? setting.reply(afterWrite: frame) else { return [] }
        if !ring.options.faults.ignoresSettings {
          ring.memory.settings[setting.entry.name] =
            setting.isReadable ? kept : ring.options.model?.answer(toProfile: frame)
        }
        return [setting.acknowledgement]
      }
      return [ring.memory.settings[setting.entry.name] ?? setting.readRequest]
    }
  }

  /// Something to do.
  static func action(_ action: RingAction, _ perform: @escaping (SimulatedRing) -> Void = { _ in })
    -> RingAnswer
  {
    RingAnswer(entry: action.entry) { ring, frame in
      perform(ring)
      return action.entry.shape == .none ? [] : [frame]
    }
  }

  /// The answer to a frame; nil if the ring does not support it.
  static func answer(to meaning: DecodedFrame, family: RingFamily) -> RingAnswer? {
    guard meaning.form != nil, let entry = meaning.entry, entry.families.contains(family) else { return nil }
    return byEntry[entry.name]?.first { $0.entry == entry }
  }

  nonisolated(unsafe) private static let byEntry = Dictionary(grouping: all, by: \.entry.name)

  static var all: [RingAnswer] {
    device + CommandTable.settings.map(setting) + actions + measurements + history
  }

  private static var device: [RingAnswer] {
    [
      query(CommandTable.battery) { ring, _ in
        RingBattery(percent: ring.options.battery, isCharging: ring.options.isCharging)
      },
      RingAnswer(entry: CommandTable.setTime.entry) { ring, frame in
        if let time = try? ClockSetting(parsing: frame).time { ring.memory.clock.set(to: time) }
        return [
          CommandTable.payloadLength.frame(UInt8(clamping: ring.payloadLength())),
          ring.options.model?.capabilities ?? CommandTable.setTime.frame(of: ring.capabilities),
        ]
      },
      query(CommandTable.hostInformation) { _, _ in NoFields.usual },
      RingAnswer(entry: CommandTable.deviceSupport.entry) { ring, _ in
        [ring.options.model?.deviceSupport ?? CommandTable.deviceSupport.frame(of: ring.deviceSupport)]
      },
      query(CommandTable.notificationMask) { ring, _ in ring.memory.notificationMask },
      query(CommandTable.setNotificationMask) { ring, mask in
        ring.memory.notificationMask = mask
        return mask
      },
    ]
  }

  private static var actions: [RingAnswer] {
    [
      action(CommandTable.blink), action(CommandTable.find),
      RingAnswer(entry: CommandTable.cameraEnter.entry) { ring, _ in
        ring.events.enterCamera()
        return [CommandTable.camera.frame(1)]
      },
      action(CommandTable.reboot) { $0.leave() },
      action(CommandTable.powerOff) { if !$0.options.isCharging { $0.switchOff() } },
      action(CommandTable.factoryReset) { $0.forgetEverything() },
    ]
  }

  /// Measurements, sport and the camera: commands that start an activity.
  static var measurements: [RingAnswer] {
    [
      RingAnswer(entry: CommandTable.measurementStart.entry) { ring, frame in
        guard let request = try? MeasurementStart(parsing: frame) else { return [] }
        guard ring.measures(request.kind) else { return [.refusal(of: frame.command)].compactMap { $0 } }
        if let light = SimulatedCountedStream.Light(rawValue: frame.byte(at: 1)) {
          ring.startCountedStream(light, seconds: frame.byte(at: 2))
          return []
        }
        ring.takeSensor()
        ring.measurement.start(request)
        return []
      },
      query(CommandTable.measurementStop) { ring, request in
        ring.measurement.stop(request.kind)
        ring.stopCountedStream(request.kind)
        return MeasurementStop(request.kind)
      },
      RingAnswer(entry: CommandTable.sport.entry) { ring, frame in
        guard let request = try? SportControl(parsing: frame) else { return [] }
        return [SimulatedRing.frame(0x77, ring.sport.control(request))]
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
    // The types of the counted stream, and body temperature.
    case MeasurementKind(rawValue: 13), MeasurementKind(rawValue: 14): return options.hasCountedStream
    case MeasurementKind(rawValue: 11), .combined: return options.family == .rt11cr
    default: return false
    }
  }
}
