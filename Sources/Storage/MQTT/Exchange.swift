import Glibc
import HaloSystem

/// The state shared by the caller of a ``Publisher`` and its two threads. No call waits but ``waitForWork()``, ``pause(_:)``
/// and ``waitForClose(_:)``.
final class Exchange: @unchecked Sendable {
  /// Wakes the thread that talks to the broker when it is readable.
  let signal: Int32
  private let monitor = Monitor()

  /// The number of messages of the queue that may be handed out.
  static let window = 16
  /// The number of messages of the moment that may wait for the thread that talks.
  private static let momentaryLimit = 256
  /// In bytes: the most data that wait for a slow disk.
  private static let memoryLimit = 1 << 26

  // The monitor's lock guards the following properties.
  private var isConnected = false
  /// Whether the last attempt to connect has failed.
  private var hasFailed = false
  private var momentary: [Message] = []
  private var states = RetainedStates()
  private var hasFreshStates = false
  private var pending: [Message] = []
  private var pendingBytes = 0
  /// Stored, and not taken by the thread that talks.
  private var outbox: [MessageQueue.Entry] = []
  /// The number of messages in the outbox, or without an answer.
  private var handedOut = 0
  private var acknowledged: [MessageQueue.Receipt] = []
  private var refused: [MessageQueue.Refusal] = []
  /// Whether the queue may have messages that were not read.
  private var hasMore = true
  private var isStoring = false
  private var counts = (kept: 0, lost: 0, aside: 0)
  /// When to end; nil before ``end(within:)``.
  private var endTime: Double?
  private var isStopped = false
  private var isClosed = false

  /// - Parameters:
  ///   - kept: the number of messages in the queue
  ///   - aside: the number of messages that are set aside
  init(kept: Int, aside: Int) {
    counts = (kept, 0, aside)
    signal = SystemCall.perform(.event) { Linux.event() }
  }

  deinit {
    if signal >= 0 { close(signal) }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = SystemCall.write(signal, &one, 8)
  }

  // MARK: The caller

  func add(_ message: Message) {
    monitor.locked {
      switch message.kind {
      case .momentary: if isConnected, momentary.count < Self.momentaryLimit { momentary.append(message) }
      case .announcement: states.set(message)
      case .state, .record:
        guard pendingBytes + message.payload.count <= Self.memoryLimit else { return counts.lost += 1 }
        if message.kind == .state { states.set(message) }
        pending.append(message)
        pendingBytes += message.payload.count
        monitor.signal()
      }
      if message.kind == .announcement { hasFreshStates = true }
    }
    if message.kind == .momentary || message.kind == .announcement { wake() }
  }

  func withdraw(_ topics: Set<String>) { monitor.locked { states.withdraw(topics) } }

  /// The number of messages that the broker does not have yet.
  var waiting: Int { monitor.locked { counts.kept + pending.count } }
  /// The number of messages that it does not take.
  var aside: Int { monitor.locked { counts.aside } }

  /// Begins the end, which is to take at most the given number of seconds.
  func end(within seconds: Double) {
    monitor.locked { endTime = Publisher.now + seconds }
    wake()
  }

  /// Waits until the queue is closed, or the time is over.
  func waitForClose(_ seconds: Double) -> Publisher.Remainder {
    let deadline = Monitor.time(after: seconds)
    monitor.lock()
    defer { monitor.unlock() }
    while !isClosed, monitor.wait(until: deadline) {}
    return Publisher.Remainder(kept: counts.kept, lost: counts.lost + pending.count, aside: counts.aside)
  }

  // MARK: The thread that stores

  /// The work of the thread that stores.
  struct Work {
    var messages: [Message]
    var receipts: [MessageQueue.Receipt]
    var refusals: [MessageQueue.Refusal]
    /// How many messages may be read.
    var room: Int
  }

  /// The results of that work.
  struct Progress {
    var isAdded = false
    var isRemoved = false
    var isSetAside = false
    var hasRead = false
    var dropped = 0
    var entries: [MessageQueue.Entry] = []
  }

  /// Waits for something to do.
  ///
  /// - Returns: nil at the end
  func waitForWork() -> Work? {
    monitor.lock()
    defer { monitor.unlock() }
    while !hasWork {
      if isStopped { return nil }
      monitor.wait()
    }
    let room = isConnected ? Self.window - handedOut : 0
    let work = Work(messages: pending, receipts: acknowledged, refusals: refused, room: room)
    (pending, pendingBytes, acknowledged, refused, isStoring) = ([], 0, [], [], true)
    return work
  }

  private var hasWork: Bool {
    !pending.isEmpty || !acknowledged.isEmpty || !refused.isEmpty
      || (hasMore && isConnected && handedOut < Self.window && !isStopped)
  }

  /// Some of the work is done; the rest is to be done again.
  ///
  /// - Parameters:
  ///   - kept: the number of messages in the queue
  ///   - aside: the number of messages that are set aside
  func done(_ work: Work, _ progress: Progress, kept: Int, aside: Int) {
    monitor.locked {
      isStoring = false
      (counts.kept, counts.aside) = (kept, aside)
      counts.lost += progress.dropped
      if progress.isAdded {
        hasMore = hasMore || !work.messages.isEmpty
      } else {
        pending = work.messages + pending
        pendingBytes += work.messages.reduce(0) { $0 + $1.payload.count }
      }
      if !progress.isRemoved { acknowledged = work.receipts + acknowledged }
      if !progress.isSetAside { refused = work.refusals + refused }
      outbox += progress.entries
      handedOut += progress.entries.count
      if progress.hasRead, work.room > 0 {
        hasMore = progress.entries.count == work.room || !pending.isEmpty
      }
    }
    wake()
  }

  /// Another queue has taken the place of the one before: its messages were not read.
  func beginAgain() { monitor.locked { hasMore = true } }

  /// Waits before the next try.
  ///
  /// - Returns: false at the end
  func pause(_ seconds: Double) -> Bool {
    let next = Monitor.time(after: seconds)
    monitor.lock()
    defer { monitor.unlock() }
    while !isStopped, monitor.wait(until: next) {}
    return !isStopped
  }

  func setClosed() {
    monitor.locked {
      isClosed = true
      monitor.signal()
    }
  }

  // MARK: The thread that talks to the broker

  /// The new messages for the broker; none without a connection.
  func take() -> (entries: [MessageQueue.Entry], states: [Message], momentary: [Message]) {
    monitor.locked {
      guard isConnected else { return ([], [], []) }
      defer { (outbox, momentary, hasFreshStates) = ([], [], false) }
      return (outbox, hasFreshStates ? states.takeNew() : [], momentary)
    }
  }

  /// The states that each connection begins with.
  func takeStates() -> [Message] {
    monitor.locked {
      hasFreshStates = false
      return states.takeAll()
    }
  }

  /// The broker has a message.
  ///
  /// - Parameter receipt: of one in the queue
  func acknowledge(_ message: Message, _ receipt: MessageQueue.Receipt?) {
    monitor.locked {
      if message.isRetained { states.delivered(message) }
      guard let receipt else { return }
      handedOut -= 1
      acknowledged.append(receipt)
      monitor.signal()
    }
  }

  /// The broker does not take a message. A record is set aside; of a state, there will be a newer one.
  func refuse(_ message: Message, _ receipt: MessageQueue.Receipt?, reason: String) {
    if message.isRetained { return acknowledge(message, receipt) }
    guard let receipt else { return }
    monitor.locked {
      handedOut -= 1
      refused.append(MessageQueue.Refusal(receipt, reason: reason))
      monitor.signal()
    }
  }

  func setConnected(_ isConnected: Bool) {
    monitor.locked {
      self.isConnected = isConnected
      hasFailed = !isConnected
      if !isConnected { momentary = [] }
      monitor.signal()
    }
  }

  /// Whether no attempt to connect has failed since the last connection, and the end has not begun.
  var isFailureNew: Bool { monitor.locked { !hasFailed && endTime == nil } }

  /// The conditions of the end.
  struct Ending {
    /// Nil as long as it has not begun.
    var time: Double?
    var isConnected: Bool
    var hasFailed: Bool
    /// Whether all is stored and handed out.
    var isDone: Bool
  }

  var ending: Ending {
    monitor.locked {
      Ending(
        time: endTime, isConnected: isConnected, hasFailed: hasFailed,
        isDone: pending.isEmpty && !isStoring && !hasMore && handedOut == 0 && !hasFreshStates
          && refused.isEmpty)
    }
  }

  /// A failed attempt does not count any more.
  func forgetFailure() { monitor.locked { hasFailed = false } }

  /// Nothing is sent any more.
  func stop() {
    monitor.locked {
      isStopped = true
      monitor.signal()
    }
  }
}
