import BluetoothCore
import EventLoop

/// The ways to talk to a ring, for every command of the table.
extension Ring {
  /// Sends a command and takes the frames that answer it.
  ///
  /// - Parameter accept: called on the loop for each frame of this command
  func exchange(
    _ message: RingMessage, bulkReplies: Set<BulkID>? = nil,
    silence: Duration = RingExchange.usualSilence,
    progress: ((Int, Int) -> Void)? = nil, accept: @escaping (RingAnswer) -> RingExchange.Acceptance
  ) async throws(RingError) {
    try await awaitCallback { (done: @escaping (Result<Void, RingError>) -> Void) in
      let token = dispatcher.start(
        RingExchange(
          message, bulkReplies: bulkReplies, silence: silence, accept: accept, progress: progress
        ) { error in
          done(error.map { .failure($0) } ?? .success(()))
        })
      return { [dispatcher] in dispatcher.cancel(token) }
    }
  }

  /// Asks a question that is answered with one frame.
  ///
  /// - Throws: `.refused` if the ring does not know it, `.notAnswered`, `.malformed`
  public func request<Request, Reply>(
    _ query: Query<Request, Reply>, _ request: Request = .init()
  ) async throws(RingError) -> Reply {
    let reply = try await frame(answering: query.request(request)) { _ in true }
    return try readable(query.command) { () throws(RingFrameError) in try query.reply(reply) }
  }

  /// Makes the ring do something.
  public func perform(_ action: Action) async throws(RingError) {
    if action.entry.shape == .none {
      try dispatcher.post(action.frame)
      await written(within: .seconds(2))
    } else {
      _ = try await frame(answering: action.frame) { _ in true }
    }
  }

  /// Reads a setting.
  public func read<Value>(_ setting: Setting<Value>) async throws(RingError) -> Value {
    let reply = try await frame(answering: setting.readRequest, where: setting.isReadReply)
    return try readable(setting.command) { () throws(RingFrameError) in try setting.value(reply) }
  }

  /// Writes a setting, and reads it back.
  ///
  /// - Returns: what the ring has afterwards: some take only a part, and say nothing
  @discardableResult
  public func write<Value>(_ value: Value, to setting: Setting<Value>) async throws(RingError) -> Value {
    _ = try await frame(answering: setting.writeRequest(value), where: setting.isWriteReply)
    return try await read(setting)
  }

  /// Reads a setting whatever its type: the numbers of its fields by their names, flags as 0 and 1.
  public func numbers(of setting: any RingSetting) async throws(RingError) -> [String: Int] {
    let reply = try await frame(answering: setting.readRequest, where: setting.isReadReply)
    return try readable(setting.command) { () throws(RingFrameError) in try setting.numbers(in: reply) }
  }

  /// Writes a setting whatever its type, and reads it back.
  @discardableResult
  public func write(
    _ numbers: [String: Int], to setting: any RingSetting
  ) async throws(RingError) -> [String: Int] {
    let request = try readable(setting.command) { () throws(RingFrameError) in
      try setting.writeRequest(numbers)
    }
    _ = try await frame(answering: request, where: setting.isWriteReply)
    return try await self.numbers(of: setting)
  }

  /// The one frame that answers another.
  func frame(
    answering request: RingFrame, where isAnswer: @escaping (RingFrame) -> Bool
  ) async throws(RingError) -> RingFrame {
    var answer: RingFrame?
    try await exchange(.frame(request)) {
      guard case .frame(let frame) = $0, isAnswer(frame) else { return .notMine }
      answer = frame
      return .done
    }
    guard let answer else { throw .cancelled }
    return answer
  }

  func readable<Value>(
    _ command: RingCommand, _ read: () throws(RingFrameError) -> Value
  ) throws(RingError) -> Value {
    do throws(RingFrameError) {
      return try read()
    } catch {
      throw .malformed(.frame(command), error)
    }
  }
}
