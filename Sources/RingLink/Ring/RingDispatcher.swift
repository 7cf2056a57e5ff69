import HaloBluetoothCore

/// Dispatches the messages of a ring: answers go to the open exchange, samples to the stream, the rest is an event or
/// passed on raw. One exchange is open at a time: a ring puts slow commands into an unguarded queue of ten (ring
/// reference, 1.6).
///
/// It does no I/O: values of the notify characteristics are passed to ``receive(_:at:)`` and ``receiveBulk(_:at:)``,
/// messages to write are passed to ``send``.
package final class RingDispatcher {
  /// Discarded input, counted.
  package struct Counters: Hashable, Sendable {
    /// Frames of the wrong length or with a wrong checksum, and bulk frames with a wrong CRC.
    package var rejectedFrames = 0
    /// Unsolicited frames and bulk frames that are not events.
    package var unknownFrames = 0
  }

  @exclusivity(unchecked) package private(set) var counters = Counters()
  /// Called for each frame of the raw stream. The hot path: it does not allocate.
  @exclusivity(unchecked) package var onSample: ((RawSample, Instant) -> Void)?
  /// Called for each sample of the counted stream; nil while there is none. The hot path, too.
  @exclusivity(unchecked) package var onCountedSample: ((CountedSample, Instant) -> Void)?
  /// Called for a frame of the wrong length or with a wrong checksum: its bytes, and why it was rejected.
  package var onRejected: ((RawSpan, RingFrameError, Instant) -> Void)?
  /// Called for the ring's unsolicited events.
  package var onEvent: ((RingEvent) -> Void)?
  /// Called for frames and bulk frames that no exchange takes and that are not events.
  package var onUnknown: ((RingReply) -> Void)?
  /// Called for every frame with a valid checksum that is not of the raw stream, before any other handler.
  package var onFrame: ((RingFrame) -> Void)?

  /// Called with each message that is to be written.
  package var send: (RingMessage) -> Void

  private let timers: Timers
  private struct Open {
    var token: UInt64
    var exchange: RingExchange
    /// Whether it was cancelled: frames for it are still taken.
    var isAbandoned = false
  }

  private var queue: [Open] = []
  private var nextToken: UInt64 = 0
  private var timeout: Timers.Token?
  private var closed: RingError?
  private var closeHandlers: [(RingError) -> Void] = []
  private var listeners: [RingCommand: (RingFrame, Instant) -> Void] = [:]
  private var assembler = BulkAssembler()

  package init(timers: Timers, send: @escaping (RingMessage) -> Void = { _ in }) {
    self.timers = timers
    self.send = send
  }

  /// Opens an exchange, when those before it are over.
  ///
  /// - Returns: the number that identifies it for ``cancel(_:)``
  @discardableResult
  package func start(_ exchange: RingExchange) -> UInt64 {
    let token = nextToken
    nextToken += 1
    if let closed {
      exchange.completion(closed)
    } else if let danger = exchange.message.danger {
      exchange.completion(.dangerous(danger))
    } else {
      queue.append(Open(token: token, exchange: exchange))
      if queue.count == 1 { sendNext() }
    }
    return token
  }

  /// Ends an exchange with `.cancelled`. If its question was sent, the next one waits for the answer all the same, or
  /// it would be taken for the next one's; but no longer than one silence.
  package func cancel(_ token: UInt64) {
    guard let index = queue.firstIndex(where: { $0.token == token && !$0.isAbandoned }) else { return }
    let exchange = queue[index].exchange
    if index == 0 {
      queue[index].isAbandoned = true
      wait(exchange.silence)
    } else {
      queue.remove(at: index)
    }
    exchange.completion(.cancelled)
  }

  /// Sends a command that is not answered.
  package func post(_ frame: RingFrame) throws(RingError) {
    if let danger = CommandTable.danger(of: frame) { throw .dangerous(danger) }
    if closed == nil { send(.frame(frame)) }
  }

  /// Calls `listener` for frames of a command that no exchange takes, refusals of it included; nil ends that.
  package func listen(to command: RingCommand, _ listener: ((RingFrame, Instant) -> Void)?) {
    listeners[command] = listener
  }

  /// Fails the open exchanges: the link is gone, or a command could not be sent.
  package func close(_ error: RingError) {
    guard closed == nil else { return }
    closed = error
    timers.cancel(timeout)
    let open = queue
    queue = []
    for entry in open where !entry.isAbandoned { entry.exchange.completion(error) }
    let handlers = closeHandlers
    closeHandlers = []
    for handler in handlers { handler(error) }
  }

  /// Calls `handler` once, when messages can no longer be sent or received; at once if that is already so.
  package func whenClosed(_ handler: @escaping (RingError) -> Void) {
    if let closed { handler(closed) } else { closeHandlers.append(handler) }
  }

  // MARK: Exchanges

  private func sendNext() {
    guard let exchange = queue.first?.exchange else { return }
    if case .bulk = exchange.message { assembler.reset() }
    wait(exchange.silence)
    send(exchange.message)
  }

  private func wait(_ time: Duration) {
    timers.cancel(timeout)
    timeout = timers.schedule(after: time) { [weak self] in
      guard let self, let open = queue.first?.exchange else { return }
      let isCutOff = assembler.openFrame.map { open.bulkReplies.contains($0.id) } ?? false
      finish(
        isCutOff
          ? .damaged(open.message.subject) : .notAnswered(open.message.subject, seconds: time.inSeconds))
    }
  }

  private func finish(_ error: RingError?) {
    guard !queue.isEmpty else { return }
    timers.cancel(timeout)
    let ended = queue.removeFirst()
    sendNext()
    if !ended.isAbandoned { ended.exchange.completion(error) }
  }

  /// - Returns: false if the open exchange has no use for it
  private func offer(_ answer: RingReply) -> Bool {
    guard let entry = queue.first else { return false }
    switch entry.exchange.accept(answer) {
    case .notMine: return false
    case .nothingNew: break
    case .more: if !entry.isAbandoned { wait(entry.exchange.silence) }
    case .moreWithin(let time): if !entry.isAbandoned { wait(time) }
    case .done: finish(nil)
    case .failed(let error): finish(error)
    }
    return true
  }

  // MARK: Received frames

  /// Handles a value of the command service's notify characteristic.
  package func receive(_ value: RawSpan, at time: Instant) {
    let frame: RingFrame
    do throws(RingFrameError) {
      frame = try RingFrame(parsing: value)
    } catch {
      counters.rejectedFrames += 1
      onRejected?(value, error, time)
      return
    }
    if let sample = RawSample(frame) {
      onSample?(sample, time)
    } else if let onCountedSample, let sample = CountedSample(frame), sample.status == 0 {
      onCountedSample(sample, time)
    } else {
      receive(frame, at: time)
    }
  }

  private func receive(_ frame: RingFrame, at time: Instant) {
    onFrame?(frame)
    let open = queue.first?.exchange.message.command
    let refusal = CommandTable.refusal(frame, pending: open)
    if let open, let refusal, refusal.command == open {
      finish(.refused(.frame(open), refusal.code))
    } else if open == frame.command, offer(.frame(frame)) {
      return
    } else if let listener = listeners[refusal?.command ?? frame.command] {
      listener(frame, time)
    } else {
      pass(on: .frame(frame), RingEvent(frame))
    }
  }

  /// Passes on a frame that no exchange has asked for.
  private func pass(on reply: RingReply, _ event: RingEvent?) {
    if let event {
      onEvent?(event)
    } else {
      counters.unknownFrames += 1
      onUnknown?(reply)
    }
  }

  /// Handles a value of the bulk service's notify characteristic.
  package func receiveBulk(_ value: RawSpan, at time: Instant) {
    guard value.byteCount > 0 else { return }
    let damaged = assembler.errors.badCRC
    switch assembler.receive(value, at: time) {
    case .raw(let frame):
      if let sample = RawSample(frame) { onSample?(sample, time) }
    case .frame(let frame):
      let isAnswer = queue.first?.exchange.bulkReplies.contains(frame.id) ?? false
      if !isAnswer || !offer(.bulk(frame)) { pass(on: .bulk(frame), RingEvent(frame)) }
    case .incomplete:
      guard let entry = queue.first, !entry.isAbandoned, let frame = assembler.openFrame,
        entry.exchange.bulkReplies.contains(frame.id)
      else { return }
      wait(entry.exchange.silence)
      entry.exchange.progress?(frame.received, frame.length)
    case .dropped:
      guard assembler.errors.badCRC > damaged else { return }
      counters.rejectedFrames += 1
      if let open = queue.first?.exchange, let id = open.message.bulkID { finish(.damaged(.bulk(id))) }
    }
  }
}
