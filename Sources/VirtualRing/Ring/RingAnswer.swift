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
      guard let request = try? Request(parsing: frame) else { return [] }
      return [query.frame(of: answer(ring, request))]
    }
  }

  /// A question with several frames for an answer.
  static func log<Assembler>(
    _ log: RingLog<Assembler>, _ answer: @escaping (SimulatedRing, Assembler.Request) -> Assembler.Contents
  ) -> RingAnswer {
    RingAnswer(entry: log.entry) { ring, frame in
      guard let request = try? Assembler.Request(parsing: frame) else { return [] }
      return Assembler.frames(of: answer(ring, request), command: log.command, to: request)
    }
  }

  /// A setting, which is stored as it was written. Some are not reported when read, as on most rings.
  static func setting(_ setting: any RingSetting) -> RingAnswer {
    RingAnswer(entry: setting.entry) { ring, frame in
      if setting.isWriteReply(frame) {
        guard let kept = try? setting.reply(afterWrite: frame) else { return [] }
        if setting.isToldBack, !ring.options.faults.ignoresSettings {
          ring.memory.settings[setting.entry.name] = kept
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
}
