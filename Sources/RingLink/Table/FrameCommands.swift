/// A command that is answered with one frame or, if it starts an activity, with frames until it is stopped.
package struct RingQuery<Request: Hashable & Sendable, Reply: Hashable & Sendable>: CommandRow {
  package let command: RingCommand
  package let entry: CommandEntry
  private let requestFields: FrameFields<Request>
  private let replyFields: FrameFields<Reply>

  /// - Parameters:
  ///   - requests: the forms of the request, if it has others than that of its fields
  ///   - replies: the forms of the answer, if it has others than that of its fields
  init(
    _ command: RingCommand, _ name: String, _ purpose: String, _ group: CommandEntry.Group,
    isStream: Bool = false, requests: [FrameForm]? = nil, replies: [FrameForm]? = nil,
    families: Set<RingFamily> = .every, source: String, _ request: FrameFields<Request>,
    _ reply: FrameFields<Reply>
  ) {
    self.command = command
    requestFields = request
    replyFields = reply
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: group,
      shape: isStream ? .stream : .single,
      requests: requests ?? [FrameForm("request", request.map(\.field))],
      replies: replies ?? [FrameForm(isStream ? "update" : "reply", reply.map(\.field))],
      families: families, source: source)
  }

  package func request(_ request: Request) -> RingFrame {
    RingFrame(command) { requestFields.store(request, in: &$0) }
  }

  /// The request with the usual values.
  package func request() -> RingFrame { request(requestFields.usual) }

  /// Reads a request to a ring.
  package func request(in frame: RingFrame) throws(RingFrameError) -> Request {
    try requestFields.read(frame, of: command)
  }

  /// Reads an answer of a ring.
  package func reply(_ frame: RingFrame) throws(RingFrameError) -> Reply {
    try replyFields.read(frame, of: command)
  }

  /// The ring's answer.
  package func frame(of reply: Reply) -> RingFrame {
    RingFrame(command) { replyFields.store(reply, in: &$0) }
  }
}

/// A command without an answer, or whose answer is a plain echo.
package struct RingAction: CommandRow {
  package let command: RingCommand
  package let entry: CommandEntry
  /// The one frame that does it.
  package let frame: RingFrame

  init(
    _ command: RingCommand, startingWith bytes: [UInt8] = [], _ name: String, _ purpose: String,
    echoes: Bool = false, families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), prefix: bytes, name: name, purpose: purpose, group: .actions,
      shape: echoes ? .single : .none, requests: [FrameForm("request", startingWith: bytes)],
      replies: echoes ? [FrameForm("echo")] : [], families: families, source: source)
    frame = RingFrame(command) { $0.store(bytes, at: 1) }
  }
}

/// A frame that a ring sends without a request.
package struct RingReport<Value: Hashable & Sendable>: CommandRow {
  package let command: RingCommand
  package let entry: CommandEntry
  private let form: FrameForm
  private let fields: FrameFields<Value>

  /// - Parameter prefix: the bytes behind that of the command, where several reports share it
  init(
    _ command: RingCommand, startingWith prefix: [UInt8] = [], _ name: String, _ purpose: String,
    families: Set<RingFamily> = .every, source: String, _ fields: FrameFields<Value>
  ) {
    self.command = command
    self.fields = fields
    form = FrameForm("event", startingWith: prefix, fields.map(\.field))
    entry = CommandEntry(
      subject: .frame(command), prefix: prefix, name: name, purpose: purpose, group: .events, shape: .event,
      replies: [form], families: families, source: source)
  }

  /// Reads a frame of the ring.
  package func value(_ frame: RingFrame) throws(RingFrameError) -> Value {
    guard form.matches(frame) else { throw .unexpected(frame.command) }
    return try fields.read(frame, of: command)
  }

  /// The frame that a ring sends.
  package func frame(_ value: Value) -> RingFrame {
    RingFrame(command, form) { fields.store(value, in: &$0) }
  }
}

/// A command that is answered with several frames: a history of one day.
package struct RingLog<Assembler: LogAssembler>: CommandRow {
  package let command: RingCommand
  package let entry: CommandEntry

  init(
    _ command: RingCommand, _ name: String, _ purpose: String, families: Set<RingFamily> = .every,
    source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .history, shape: .multiFrame,
      requests: [FrameForm("request", startingWith: Assembler.requestPrefix, Assembler.Request.self)],
      replies: Assembler.forms, families: families, source: source)
  }

  package func request(_ request: Assembler.Request) -> RingFrame {
    RingFrame(command, request, form: entry.requests.first)
  }
}

/// Assembles the frames of one answer. Frames may be lost, repeated or reordered: missing frames are detected,
/// duplicates and order are harmless.
package protocol LogAssembler: Sendable {
  associatedtype Request: FrameRecord
  associatedtype Contents: Sendable

  /// The bytes that follow the command's byte in every request.
  static var requestPrefix: [UInt8] { get }
  /// The forms of the frames. The assembler reads by the same forms.
  static var forms: [FrameForm] { get }

  /// - Parameter request: the request that is answered
  init(_ request: Request)

  /// Handles a frame of this command.
  mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<Contents>
}

/// An assembler of a log that can also be written.
package protocol LogWriter: LogAssembler {
  /// The answer of a ring that has stored `contents`.
  static func frames(of contents: Contents, command: RingCommand, to request: Request) -> [RingFrame]
}

extension LogAssembler {
  package static var requestPrefix: [UInt8] { [] }
}

/// The progress of a log.
package enum LogProgress<Contents: Sendable>: Sendable {
  /// The received frames and their total; `of` is nil until the ring has reported it.
  case incomplete(received: Int, of: Int?)
  /// The last frame is here, and others are missing.
  case gaps([Int])
  case complete(Contents)

  /// The progress while frames are missing.
  ///
  /// - Parameters:
  ///   - missing: the numbers of these frames, at least one
  ///   - numbers: the numbers of all frames but the header
  static func waiting(for missing: [Int], of numbers: Range<Int>) -> Self {
    missing.last == numbers.last
      ? .incomplete(received: numbers.count + 1 - missing.count, of: numbers.count + 1) : .gaps(missing)
  }
}
