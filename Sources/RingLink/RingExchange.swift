import BluetoothCore

/// What is written to a ring.
public enum RingMessage: Hashable, Sendable {
  case frame(RingFrame)
  case bulk(BulkID, payload: [UInt8])

  public var subject: CommandEntry.Subject {
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

/// What a ring sends to the one who asked.
public enum RingAnswer: Hashable, Sendable {
  case frame(RingFrame)
  case bulk(BulkFrame)
}

/// One question and all of its answer.
public struct RingExchange {
  /// What became of a frame that might belong to it.
  public enum Acceptance {
    /// Somebody else's.
    case notMine
    /// Its own, but of no use: it is there already. The time to wait runs on.
    case nothingNew
    /// One of several; the next has to come within ``RingExchange/silence``.
    case more
    /// One of several; the next has to come within another time.
    case moreWithin(Duration)
    /// The last one.
    case done
    /// It shows that no answer will come.
    case failed(RingError)
  }

  /// How long a ring may take to answer, and between two frames.
  public static let usualSilence = Duration.seconds(2)

  public var message: RingMessage
  /// The bulk frames that answer it. A request's own id, unless it says otherwise.
  public var bulkReplies: Set<BulkID>
  /// After so long without a frame of its own, it fails.
  public var silence = Self.usualSilence
  /// Called for each frame of its own command, or bulk frame of its id.
  public var accept: (RingAnswer) -> Acceptance
  /// Called while a bulk frame arrives, with the bytes that are there and the bytes that it has.
  public var progress: ((Int, Int) -> Void)?
  /// Called once, with nil when the last frame is there.
  public var completion: (RingError?) -> Void

  /// - Parameter bulkReplies: nil for the message's own id
  public init(
    _ message: RingMessage, bulkReplies: Set<BulkID>? = nil, silence: Duration = Self.usualSilence,
    accept: @escaping (RingAnswer) -> Acceptance, progress: ((Int, Int) -> Void)? = nil,
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
