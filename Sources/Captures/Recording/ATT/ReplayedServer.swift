import ATT
import HaloGATT
import HCI
import HaloBluetoothCore

/// The server of a replayed link: requests in, recorded answers out. It does no I/O; its time is that of `timers`. This part
/// decides on the times; the extensions decide on the answers.
@BluetoothActor
final class ReplayedServer {
  /// Called with each PDU for the client.
  var onPDU: (([UInt8], Instant) -> Void)?
  /// Called when the recorded server, or the radio, ended the connection.
  var onLoss: ((HCIErrorCode) -> Void)?

  let peripheral: ReplayedPeripheral
  let dialogue: RecordedDialogue
  let timers: Timers
  private let connection: RecordedConnection
  /// The values that it sends on its own.
  var queue: PushQueue
  /// Answers requests that need no recorded exchange.
  let table: InMemoryServer
  var matcher: ExchangeMatcher
  /// The values that the client has read or written, by their handles.
  var values: [AttributeHandle: [UInt8]] = [:]
  /// The parts of a long write.
  var prepared: [ATTPreparedWrite] = []
  private var timer: Timers.Token?
  private var lossTimer: Timers.Token?
  private var isRunning = false
  private var responses = 0
  private let startTime: Instant

  /// The time of an answer that was not recorded.
  static let answerDelay = Duration.milliseconds(30)
  static let preparedCapacity = 1024
  /// The time without a request, and without waiting for its subscriptions, after which a client is taken for one that only
  /// listens.
  static let listening = Duration.seconds(2)
  /// A client that has not confirmed an indication for so long is gone (Core Specification Vol 3, Part F, 3.3.3).
  private static let transactionTime = Duration.seconds(30)

  /// The indication that is not confirmed yet.
  private var isWaitingForConfirmation = false
  /// Whether the connection is to end as soon as all was sent.
  private(set) var isLossDue = false
  /// Whether the recorded time was over, and the values that the client had not asked for were sent.
  private(set) var isEnding = false
  /// The last match but of a subscription: the packet, its recorded time, and the time of the replay.
  var position: (packet: Int, recorded: Int64, time: Instant)
  /// The last recorded packet that matched.
  var lastPacket = 0
  /// When the client sent a request or a command last.
  private var lastRequest: Instant
  /// The time of the last request without an answer; nil if there was none.
  var lastMissing: Instant?

  /// The time of the link begins now; it is started in the same instant.
  init(_ peripheral: ReplayedPeripheral, _ index: Int, timers: Timers) {
    self.peripheral = peripheral
    self.timers = timers
    connection = peripheral.connections[index]
    dialogue = peripheral.dialogues[index]
    matcher = ExchangeMatcher(dialogue)
    let mtu = dialogue.serverMTU.map(Int.init) ?? dialogue.longestPDU
    table = InMemoryServer(AttributeDatabase(peripheral.attributes.attributes), mtu: mtu)
    startTime = timers.now
    lastRequest = timers.now
    queue = PushQueue(dialogue, at: timers.now)
    position = (0, dialogue.start, startTime)
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
    if let pdu = try? ATTReader.read(bytes) {
      // Also the responses to the server's own requests come here.
      if opcode.kind == .request || opcode.kind == .command { lastRequest = timers.now }
      if opcode == .handleValueConfirmation { isWaitingForConfirmation = false } else { answer(pdu, bytes) }
    } else {
      guard opcode.kind == .request else { return }
      refuse(opcode, nil, .invalidPDU)
    }
    scheduleNext()
  }

  func reply(_ bytes: [UInt8], _ delay: Duration = .zero) {
    responses += 1
    timers.schedule(after: delay) { [weak self] in
      guard let self, isRunning else { return }
      responses -= 1
      onPDU?(bytes, timers.now)
    }
  }

  // MARK: Notifications and indications

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
      // Nothing can be sent before the client confirms an indication: waits as long as a server does.
      if isLossDue {
        lossTimer = timers.schedule(after: Self.transactionTime) { [weak self] in self?.lose() }
      }
      return
    }
    timer = timers.schedule(at: max(due, timers.now)) { [weak self] in self?.sendNext() }
  }

  private func sendNext() {
    timer = nil
    guard isRunning, let push = queue.take(canIndicate: !isWaitingForConfirmation) else { return }
    if push.isIndication { isWaitingForConfirmation = true }
    if push.handle != nil { peripheral.notified += 1 }
    onPDU?(push.bytes, timers.now)
    scheduleNext()
  }

  /// Nothing happens before `deadline`, nil for never. A client that waits then may only listen: it gets the values that the
  /// recorded client asked for, at the recorded distance to its subscription.
  func wait(until deadline: Instant?) {
    guard isRunning, responses == 0, deadline ?? .init(nanoseconds: .max) >= lastRequest + Self.listening
    else {
      return
    }
    queue.listen()
    scheduleNext()
  }

  /// The end of the recording: sends the values that the client has not asked for.
  ///
  /// - Returns: whether there is something
  func sendRest() -> Bool {
    guard isRunning, queue.releaseRest(at: timers.now) else { return false }
    isEnding = true
    scheduleNext()
    return true
  }

  // MARK: The end

  func scheduleLoss() {
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

  private func lose() {
    guard isRunning, let reason = connection.loss else { return }
    timers.cancel(lossTimer)
    lossTimer = nil
    onLoss?(reason)
  }
}
