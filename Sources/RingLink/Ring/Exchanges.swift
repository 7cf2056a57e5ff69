import HaloBluetoothCore

/// A message to a ring.
package enum RingMessage: Hashable, Sendable {
  case frame(RingFrame)
  case bulk(BulkID, payload: [UInt8])

  package var subject: CommandEntry.Subject {
    switch self {
    case .frame(let frame): .frame(frame.command)
    case .bulk(let id, _): .bulk(id)
    }
  }

  var command: RingCommand? { if case .frame(let frame) = self { frame.command } else { nil } }

  var bulkID: BulkID? { if case .bulk(let id, _) = self { id } else { nil } }

  /// Why it must not be sent; nil if it may.
  var danger: String? {
    switch self {
    case .frame(let frame): CommandTable.danger(of: frame)
    case .bulk(let id, _): CommandTable.danger(of: id)
    }
  }
}

/// A frame or bulk frame of a ring.
package enum RingReply: Hashable, Sendable, CustomStringConvertible {
  case frame(RingFrame)
  case bulk(BulkFrame)

  /// `battery reply: percent 64 %, charging no`, `sleep, 21 bytes`
  package var description: String {
    switch self {
    case .frame(let frame): CommandTable.meaning(of: frame, isFromRing: true).description
    case .bulk(let frame): "\(frame.id), \(frame.payload.count) bytes"
    }
  }
}

/// One request and its complete answer.
package struct RingExchange {
  /// The classification of a frame that might belong to the exchange.
  package enum Acceptance {
    /// Belongs to another exchange.
    case notMine
    /// Belongs to this exchange, but is a duplicate. The timeout continues.
    case nothingNew
    /// One of several; the next has to arrive within ``RingExchange/silence``.
    case more
    /// One of several; the next has to arrive within another time.
    case moreWithin(Duration)
    /// The last one.
    case done
    /// It shows that there will be no answer.
    case failed(RingError)
  }

  /// The timeout for an answer, and between two frames.
  package static let usualSilence = Duration.seconds(2)

  package var message: RingMessage
  /// The ids of the bulk frames that answer it. By default the request's own id.
  package var bulkReplies: Set<BulkID>
  /// The longest time without a frame of its own before it fails.
  package var silence = Self.usualSilence
  /// Called for each frame of its own command, or bulk frame of its id.
  package var accept: (RingReply) -> Acceptance
  /// Called while a bulk frame arrives, with the bytes that are there and the bytes that it has.
  package var progress: ((Int, Int) -> Void)?
  /// Called once, with nil when the last frame is there.
  package var completion: (RingError?) -> Void

  /// Without `bulkReplies`, the message's own id answers it.
  package init(
    _ message: RingMessage, bulkReplies: Set<BulkID>? = nil, silence: Duration = Self.usualSilence,
    accept: @escaping (RingReply) -> Acceptance, progress: ((Int, Int) -> Void)? = nil,
    completion: @escaping (RingError?) -> Void
  ) {
    self.message = message
    self.bulkReplies = bulkReplies ?? message.bulkID.map { [$0] } ?? []
    self.silence = silence
    self.accept = accept
    self.progress = progress
    self.completion = completion
  }
}

/// Request functions for every command of the table.
extension RingClient {
  /// Sends a command and takes the frames that answer it.
  ///
  /// - Parameter accept: called on the loop for each frame of this command
  func exchange(
    _ message: RingMessage, bulkReplies: Set<BulkID>? = nil,
    silence: Duration = RingExchange.usualSilence,
    progress: ((Int, Int) -> Void)? = nil, accept: @escaping (RingReply) -> RingExchange.Acceptance
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

  /// Sends a request that is answered with one frame.
  ///
  /// - Throws: `.refused` if the ring does not support it, `.notAnswered`, `.malformed`
  package func request<Request, Reply>(
    _ query: RingQuery<Request, Reply>, _ request: Request
  ) async throws(RingError) -> Reply {
    let reply = try await frame(answering: query.request(request)) { _ in true }
    return try readable(query.command) { () throws(RingFrameError) in try query.reply(reply) }
  }

  /// Sends a request without parameters.
  package func request<Reply>(_ query: RingQuery<NoFields, Reply>) async throws(RingError) -> Reply {
    try await request(query, NoFields())
  }

  /// Sends a command that starts an action.
  package func perform(_ action: RingAction) async throws(RingError) {
    if action.entry.shape == .none {
      try dispatcher.post(action.frame)
      await written(within: .seconds(2))
    } else {
      _ = try await frame(answering: action.frame) { _ in true }
    }
  }

  /// Reads a setting: the numbers of its fields by their names, flags as 0 and 1.
  package func numbers(of setting: RingSetting) async throws(RingError) -> [String: Int] {
    let reply = try await frame(answering: setting.readRequest, where: setting.isReadReply)
    return try readable(setting.command) { () throws(RingFrameError) in try setting.numbers(in: reply) }
  }

  /// Writes a setting, and reads it back.
  ///
  /// - Returns: the values on the ring afterwards: some accept only a part without an error
  @discardableResult
  package func write(
    _ numbers: [String: Int], to setting: RingSetting
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
