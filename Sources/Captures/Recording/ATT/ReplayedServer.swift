import ATT
import HCI
import HaloBluetoothCore

/// The server of a replayed link: requests in, recorded answers out. It does no I/O; its time is that of `timers`.
@BluetoothActor
final class ReplayedServer {
  /// Called with each PDU for the client.
  var onPDU: (([UInt8], Instant) -> Void)?
  /// Called when the recorded server, or the radio, ended the connection.
  var onLoss: ((HCIErrorCode) -> Void)?

  private let peripheral: ReplayedPeripheral
  private let connection: RecordedConnection
  private let dialogue: RecordedDialogue
  private let timers: Timers
  private let answers: ReplayedAnswers
  private var queue: PushQueue
  private var timer: Timers.Token?
  private var lossTimer: Timers.Token?
  private var isRunning = false
  private var responses = 0
  private let startTime: Instant

  /// The time of an answer that was not recorded.
  private static let answerDelay = Duration.milliseconds(30)
  /// A client that has asked for nothing but subscriptions, and for so long not for these, only listens.
  private static let listening = Duration.seconds(2)
  /// A client that has not confirmed an indication for so long is gone (Core Specification Vol 3, Part F, 3.3.3).
  private static let transactionTime = Duration.seconds(30)

  /// The indication that is not confirmed yet.
  private var isWaitingForConfirmation = false
  /// Whether the connection is to end as soon as all was sent.
  private var isLossDue = false
  /// Whether the recorded time was over, and what the client had not asked for was sent.
  private(set) var isEnding = false
  /// The last match: the recorded time, and the time of the replay.
  private var position: (recorded: Int64, time: Instant)
  /// The last recorded packet that matched.
  private var lastPacket = 0
  /// When the client sent a request or a command last.
  private var lastRequest: Instant
  /// The time of the last request without an answer; nil if there was none.
  private(set) var lastMissing: Instant?

  /// The time of the link begins now; it is started in the same instant.
  init(_ peripheral: ReplayedPeripheral, _ index: Int, timers: Timers) {
    self.peripheral = peripheral
    self.timers = timers
    connection = peripheral.connections[index]
    dialogue = peripheral.dialogues[index]
    answers = ReplayedAnswers(peripheral, dialogue)
    startTime = timers.now
    lastRequest = timers.now
    queue = PushQueue(dialogue, at: timers.now)
    position = (dialogue.start, startTime)
  }

  /// Whether something is still to be sent, or the connection to end.
  var isBusy: Bool {
    responses > 0 || lossTimer != nil || queue.nextDue(canIndicate: !isWaitingForConfirmation) != nil
  }

  /// The time of the replay at which the recorded connection ends, counted from the last match.
  private var lossTime: Instant { position.time + .microseconds(max(0, dialogue.end - position.recorded)) }
  /// The same, not before its recorded time of day.
  var end: Instant { max(lossTime, startTime + .microseconds(dialogue.end - dialogue.start)) }

  func start() {
    isRunning = true
    scheduleNext()
    scheduleLoss()
  }

  func stop() {
    isRunning = false
    onPDU = nil
    onLoss = nil
    timers.cancel(timer)
    timers.cancel(lossTimer)
    timer = nil
    lossTimer = nil
    responses = 0
  }

  // MARK: Requests

  func receive(_ bytes: RawSpan) {
    guard isRunning, let first = bytes.byte(at: 0) else { return }
    let opcode = ATTOpcode(rawValue: first)
    guard let pdu = try? ATTReader.read(bytes) else {
      if opcode.kind == .request { perform(answers.refuse(opcode)) }
      return
    }
    if opcode == .handleValueConfirmation {
      isWaitingForConfirmation = false
      return scheduleNext()
    }
    // Also the responses to the server's own requests come here.
    if opcode.kind == .request || opcode.kind == .command { lastRequest = timers.now }
    perform(answers.receive(pdu, bytes))
  }

  private func perform(_ effects: [ReplayedAnswers.Effect]) {
    let now = timers.now
    for effect in effects {
      switch effect {
      case .reply(let bytes, let delay): reply(bytes, delay)
      case .match(let exchange, let isNew):
        queue.match(exchange, isNew: isNew, at: now)
        if isNew, exchange.packet > lastPacket, !isSubscription(exchange) {
          lastPacket = exchange.packet
          position = (exchange.time, now)
          scheduleLoss()
        }
      case .ask: queue.ask()
      case .subscribe(let handle, let exchange):
        queue.subscribe(handle, exchange, at: now)
        if isLossDue { _ = queue.releaseRest(at: now) }
      case .unsubscribe(let handle): queue.unsubscribe(handle)
      case .notify(let handle, let value):
        let bytes = ATTHandleValueNotification(handle, value: value).bytes
        queue.add(.init(packet: 0, time: 0, bytes: bytes, handle: handle), at: now + Self.answerDelay)
      case .miss: lastMissing = now
      }
    }
    scheduleNext()
  }

  /// A subscription says little about the time: a client makes all of them at its start.
  private func isSubscription(_ exchange: RecordedDialogue.Exchange) -> Bool {
    guard case .write(let handle) = exchange.subject else { return false }
    return peripheral.attributes.owner(ofConfiguration: handle) != nil
  }

  private func reply(_ bytes: [UInt8], _ delay: Duration) {
    responses += 1
    timers.schedule(after: delay) { [weak self] in
      guard let self, isRunning else { return }
      responses -= 1
      send(bytes)
    }
  }

  private func send(_ bytes: [UInt8]) {
    onPDU?(bytes, timers.now)
  }

  // MARK: What the server sends on its own

  private func scheduleNext() {
    timers.cancel(timer)
    timer = nil
    guard isRunning else { return }
    if isLossDue {
      timers.cancel(lossTimer)
      lossTimer = nil
      if queue.isEmpty { return lose() }
    }
    guard let due = queue.nextDue(canIndicate: !isWaitingForConfirmation) else {
      if isLossDue { giveUp() }
      return
    }
    timer = timers.schedule(at: max(due, timers.now)) { [weak self] in self?.sendNext() }
  }

  private func sendNext() {
    timer = nil
    guard isRunning, let push = queue.take(canIndicate: !isWaitingForConfirmation) else { return }
    if push.isIndication { isWaitingForConfirmation = true }
    if push.handle != nil { peripheral.notified += 1 }
    send(push.bytes)
    scheduleNext()
  }

  /// Nothing happens before `deadline`, nil for never. A client that waits then may only listen: it gets what the recorded
  /// client asked for, at the recorded distance to its subscription.
  func wait(until deadline: Instant?) {
    guard isRunning, responses == 0, deadline ?? .init(nanoseconds: .max) >= lastRequest + Self.listening
    else {
      return
    }
    queue.listen()
    scheduleNext()
  }

  /// The end of the recording: sends what the client has not asked for.
  ///
  /// - Returns: whether there is something
  func sendRest() -> Bool {
    guard isRunning, queue.releaseRest(at: timers.now) else { return false }
    isEnding = true
    scheduleNext()
    return true
  }

  // MARK: The end

  private func scheduleLoss() {
    timers.cancel(lossTimer)
    lossTimer = nil
    guard isRunning, !isLossDue, connection.loss != nil else { return }
    lossTimer = timers.schedule(at: lossTime) { [weak self] in self?.finish() }
  }

  /// The time at which the recorded connection was lost: it is lost again as soon as all was sent.
  private func finish() {
    guard isRunning else { return }
    let quiet = lastRequest + Self.listening
    if !queue.isExhausted, timers.now < quiet {
      // The client may be about to subscribe.
      lossTimer = timers.schedule(at: quiet) { [weak self] in self?.finish() }
      return
    }
    isLossDue = true
    lossTimer = nil
    queue.listen()
    if !sendRest() { scheduleNext() }
  }

  /// Nothing can be sent before the client confirms an indication: waits as long as a server does.
  private func giveUp() {
    lossTimer = timers.schedule(after: Self.transactionTime) { [weak self] in self?.lose() }
  }

  private func lose() {
    guard isRunning, let reason = connection.loss else { return }
    timers.cancel(lossTimer)
    lossTimer = nil
    onLoss?(reason)
  }
}
