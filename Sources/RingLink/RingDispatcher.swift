import BluetoothCore

/// Sorts what a ring sends: answers go to who asked, samples to the stream, the rest is an event or shown raw. One
/// command is open at a time: a ring puts slow ones into a queue of ten that it does not guard (ring reference, 1.6).
///
/// It does no I/O: values of the notify characteristic come in through ``receive(_:at:)``, frames go out through the
/// closure given at the start.
public final class RingDispatcher {
  /// What arrived and was of no use.
  public struct Counters: Hashable, Sendable {
    /// Frames of the wrong length or with a wrong checksum.
    public var rejectedFrames = 0
    /// Frames that nobody had asked for and that are no event.
    public var unknownFrames = 0
  }

  /// How long a ring may take to answer.
  public static let answerDeadline = Duration.seconds(2)

  public private(set) var counters = Counters()
  /// Called for each frame of the raw stream. The hot path: nothing is allocated on the way here.
  public var onSample: ((RawSample, Instant) -> Void)?
  /// Called for what the ring tells of its own accord.
  public var onEvent: ((RingEvent) -> Void)?
  /// Called for frames that are not understood.
  public var onUnknownFrame: ((RingFrame) -> Void)?

  private struct Request {
    var frame: RingFrame
    var deadline: Duration
    var completion: (Result<RingFrame, RingError>) -> Void
  }

  private let timers: Timers
  private let send: (RingFrame) -> Void
  private var queue: [Request] = []
  private var timeout: Timers.Token?
  private var closed: RingError?
  private var closeHandlers: [(RingError) -> Void] = []

  public init(timers: Timers, send: @escaping (RingFrame) -> Void) {
    self.timers = timers
    self.send = send
  }

  /// Sends a command and waits for the one frame that answers it.
  public func request(
    _ frame: RingFrame, deadline: Duration = RingDispatcher.answerDeadline,
    completion: @escaping (Result<RingFrame, RingError>) -> Void
  ) {
    if let closed { return completion(.failure(closed)) }
    queue.append(Request(frame: frame, deadline: deadline, completion: completion))
    if queue.count == 1 { sendNext() }
  }

  /// Sends a command that is not answered.
  public func post(_ frame: RingFrame) {
    if closed == nil { send(frame) }
  }

  /// Fails what is open: the link is gone, or a command could not be sent.
  public func close(_ error: RingError) {
    guard closed == nil else { return }
    closed = error
    timers.cancel(timeout)
    let open = queue
    queue = []
    for request in open { request.completion(.failure(error)) }
    let handlers = closeHandlers
    closeHandlers = []
    for handler in handlers { handler(error) }
  }

  /// Calls `handler` once, when nothing can be sent or heard any more; at once if that is so already.
  public func whenClosed(_ handler: @escaping (RingError) -> Void) {
    if let closed { handler(closed) } else { closeHandlers.append(handler) }
  }

  private func sendNext() {
    guard let request = queue.first else { return }
    timeout = timers.schedule(after: request.deadline) { [weak self] in
      self?.finish(
        .failure(.notAnswered(request.frame.command, seconds: request.deadline.inSeconds)))
    }
    send(request.frame)
  }

  private func finish(_ result: Result<RingFrame, RingError>) {
    guard !queue.isEmpty else { return }
    timers.cancel(timeout)
    let request = queue.removeFirst()
    sendNext()
    request.completion(result)
  }

  /// Takes a value of the notify characteristic.
  public func receive(_ value: RawSpan, at time: Instant) {
    guard let frame = try? RingFrame(parsing: value) else {
      counters.rejectedFrames += 1
      return
    }
    if let sample = RawSample(frame) {
      onSample?(sample, time)
    } else if let event = RingEvent(frame) {
      onEvent?(event)
    } else if let open = queue.first?.frame.command, frame.isError(for: open) {
      finish(.failure(.refused(open, frame.errorCode)))
    } else if let open = queue.first?.frame.command, frame.command == open {
      finish(.success(frame))
    } else {
      counters.unknownFrames += 1
      onUnknownFrame?(frame)
    }
  }
}
