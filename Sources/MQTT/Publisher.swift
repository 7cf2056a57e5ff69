import BluetoothCore
import Glibc
import SystemCalls

/// Publishes messages, in order, with QoS 1: each is on disk from when it is added until the broker has it, also over
/// the end of the process. Messages of the moment are not stored, and are dropped without a connection. One thread stores,
/// and one talks to the broker; no call but ``finish(within:)`` waits for them.
package final class Publisher: @unchecked Sendable {
  /// What the user should know.
  package enum Event: Hashable, Sendable {
    case connected
    /// The broker does not want this client; it is tried again all the same.
    case refused(String)
    /// There is no connection, and none can be made.
    case unreachable(String)
    /// The oldest messages are dropped, because too many wait.
    case dropping
    /// Messages wait in memory, because they can't be stored.
    case notStored(QueueError)
  }

  /// What was not published.
  package struct Remainder: Hashable, Sendable {
    /// The number of messages on disk, which are sent when the queue is used again.
    package var kept: Int
    /// The number of messages that no subscriber will ever get.
    package var lost: Int

    package init(kept: Int, lost: Int) {
      self.kept = kept
      self.lost = lost
    }
  }

  private let topics: Topics
  private let report: @Sendable (Event) -> Void
  /// Wakes the thread that talks to the broker.
  private let signal: Int32
  private let monitor = Monitor()

  /// The number of messages that may wait for their acknowledgement: what is sent again after a lost connection.
  private static let window = 16
  /// The number of messages of the moment that may wait for the thread that talks.
  private static let momentaryLimit = 256
  /// In bytes: what may wait for a slow disk.
  private static let memoryLimit = 1 << 26
  /// In seconds.
  private static let storingPause = 5.0
  private static let longestPause = 30.0
  private static let farewellTime = 1.0

  // Used by the thread that stores.
  private let queue: MessageQueue
  // Used by the thread that talks to the broker.
  private let connection: BrokerConnection
  private let usesTLS: Bool
  private var unacknowledged: [Int32: MessageQueue.Receipt] = [:]
  private var pause = 1.0
  private var nextAttempt = 0.0
  /// Whether a last attempt to connect was made at the end.
  private var hasTriedAgain = false
  /// The number of the message that says goodbye.
  private var farewell: Int32?
  private var isFarewellDone = false

  // The monitor's lock guards the following properties.
  private var isConnected = false
  /// Whether the last attempt to connect has failed.
  private var hasFailed = false
  /// Of the moment, not handed to the connection yet.
  private var momentary: [Message] = []
  private var pending: [Message] = []
  private var pendingBytes = 0
  /// Stored, and not handed to the connection yet.
  private var outbox: [MessageQueue.Entry] = []
  /// The number of messages in the outbox, or without an acknowledgement.
  private var inFlight = 0
  private var acknowledged: [MessageQueue.Receipt] = []
  /// Whether the queue may have messages that were not read.
  private var hasMore = true
  private var isStoring = false
  private var kept = 0
  private var lost = 0
  /// When to end; nil before ``finish(within:)``.
  private var end: Double?
  private var isStopped = false
  private var isClosed = false

  /// Starts to publish what the queue has.
  ///
  /// - Parameters:
  ///   - queue: which nothing else uses
  ///   - address: the broker
  ///   - report: called on other threads
  /// - Returns: nil if there are no threads or no memory for it
  package init?(
    _ library: Mosquitto, _ address: BrokerAddress, queue: sending MessageQueue,
    report: @escaping @Sendable (Event) -> Void
  ) {
    let topics = Topics(address.prefix)
    let will = Message(topic: topics.status, text: Topics.offline, isRetained: true)
    guard
      let connection = BrokerConnection(
        library, address, name: queue.client, will: will, window: Self.window)
    else { return nil }
    signal = SystemCall.perform(.event) { Linux.event() }
    self.topics = topics
    self.connection = connection
    usesTLS = address.usesTLS
    kept = queue.count
    self.queue = queue
    self.report = report
    // OpenSSL and SQLite need more than the usual stack.
    let stack = 1 << 20
    guard signal >= 0, HelperThread.start(stackSize: stack, { self.store() }) == 0 else { return nil }
    if HelperThread.start(stackSize: stack, { self.talk() }) != 0 {
      stop()
      return nil
    }
  }

  deinit {
    // A thread retains the publisher: none is running here.
    if signal >= 0 { close(signal) }
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  // MARK: For the caller

  /// Adds a message. Never waits.
  package func add(_ message: Message) {
    if message.isMomentary { return addMomentary(message) }
    monitor.locked {
      guard pendingBytes + message.payload.count <= Self.memoryLimit else { return lost += 1 }
      pending.append(message)
      pendingBytes += message.payload.count
      monitor.signal()
    }
  }

  private func addMomentary(_ message: Message) {
    monitor.locked {
      if isConnected, momentary.count < Self.momentaryLimit { momentary.append(message) }
    }
    wake()
  }

  /// The number of messages that the broker does not have yet.
  package var waiting: Int { monitor.locked { kept + pending.count } }

  /// Waits until all is published, at most the given number of seconds of the kernel's clock. Adds nothing afterwards.
  package func finish(within seconds: Double) -> Remainder {
    let deadline = Monitor.time(after: seconds + 2 * Self.farewellTime)
    monitor.lock()
    defer { monitor.unlock() }
    end = Self.now + seconds
    wake()
    while !isClosed, monitor.wait(until: deadline) {}
    return Remainder(kept: kept, lost: lost + pending.count)
  }

  private func wake() {
    var one: UInt64 = 1
    _ = SystemCall.write(signal, &one, 8)
  }

  // MARK: The thread that stores

  private func store() {
    monitor.lock()
    while true {
      while !hasWork {
        if isStopped { return closeQueue() }
        monitor.wait()
      }
      let messages = pending
      let receipts = acknowledged
      let room = isConnected ? Self.window - inFlight : 0
      (pending, pendingBytes, acknowledged, isStoring) = ([], 0, [], true)
      monitor.unlock()
      let (result, progress) = store(messages, receipts, room: room)
      monitor.lock()
      isStoring = false
      kept = queue.count
      lost += progress.dropped
      if progress.isAdded { hasMore = hasMore || !messages.isEmpty } else { giveBack(messages) }
      if !progress.isRemoved { acknowledged = receipts + acknowledged }
      outbox += progress.entries
      inFlight += progress.entries.count
      if progress.hasRead, room > 0 { hasMore = progress.entries.count == room || !pending.isEmpty }
      wake()
      if case .failure(let error) = result, !waitAfter(error) { return closeQueue() }
    }
  }

  private var hasWork: Bool {
    !pending.isEmpty || !acknowledged.isEmpty
      || (hasMore && isConnected && inFlight < Self.window && !isStopped)
  }

  private struct Progress {
    var isAdded = false
    var isRemoved = false
    var hasRead = false
    var dropped = 0
    var entries: [MessageQueue.Entry] = []
  }

  private func store(
    _ messages: [Message], _ receipts: [MessageQueue.Receipt], room: Int
  ) -> (Result<Void, QueueError>, Progress) {
    var progress = Progress()
    do throws(QueueError) {
      if !messages.isEmpty { progress.dropped = try queue.add(messages) }
      progress.isAdded = true
      if progress.dropped > 0 { report(.dropping) }
      if !receipts.isEmpty { try queue.remove(receipts) }
      progress.isRemoved = true
      if room > 0 { progress.entries = try queue.next(room) }
      progress.hasRead = true
      return (.success(()), progress)
    } catch {
      return (.failure(error), progress)
    }
  }

  private func giveBack(_ messages: [Message]) {
    pending = messages + pending
    pendingBytes += messages.reduce(0) { $0 + $1.payload.count }
  }

  /// Waits before the next try.
  ///
  /// - Returns: false at the end
  private func waitAfter(_ error: QueueError) -> Bool {
    report(.notStored(error))
    let next = Monitor.time(after: Self.storingPause)
    while !isStopped, monitor.wait(until: next) {}
    return !isStopped
  }

  private func closeQueue() {
    try? queue.compact()
    isClosed = true
    monitor.signal()
    monitor.unlock()
  }

  // MARK: The thread that talks to the broker

  private func talk() {
    connection.onEvent = { [unowned self] in take($0) }
    while true {
      let (entries, messages) = monitor.locked {
        guard isConnected else { return ([MessageQueue.Entry](), [Message]()) }
        defer { (outbox, momentary) = ([], []) }
        return (outbox, momentary)
      }
      for entry in entries { publish(entry) }
      for message in messages { _ = connection.publish(message) }
      if hasEnded { break }
      if connection.socket < 0, Self.now >= nextAttempt {
        nextAttempt = Self.now + pause
        connection.connect()
      }
      wait()
      connection.work()
    }
    connection.onEvent = { _ in }
    stop()
  }

  private func stop() {
    monitor.locked {
      isStopped = true
      monitor.signal()
    }
  }

  /// Publishes a message that is stored.
  private func publish(_ entry: MessageQueue.Entry) {
    let receipt = MessageQueue.Receipt(entry)
    if let number = connection.publish(entry.message) {
      unacknowledged[number] = receipt
    } else {
      // The queue must not stop at it.
      monitor.locked {
        lost += 1
        acknowledge(receipt)
      }
    }
  }

  private func acknowledge(_ receipt: MessageQueue.Receipt) {
    inFlight -= 1
    acknowledged.append(receipt)
    monitor.signal()
  }

  /// Whether all is done, or the time is over; says goodbye before.
  private var hasEnded: Bool {
    let (end, isConnected, hasFailed, isDone) = monitor.locked {
      (self.end, self.isConnected, self.hasFailed, pending.isEmpty && !isStoring && !hasMore && inFlight == 0)
    }
    guard let end else { return false }
    guard isConnected else {
      guard hasTriedAgain else {
        // It may be back.
        (hasTriedAgain, nextAttempt) = (true, 0)
        monitor.locked { self.hasFailed = false }
        return false
      }
      return hasFailed || Self.now >= end
    }
    if farewell == nil, isDone || Self.now >= end {
      farewell =
        connection.publish(Message(topic: topics.status, text: Topics.offline, isRetained: true)) ?? 0
    }
    return isFarewellDone || Self.now >= end + Self.farewellTime
  }

  /// Waits for the broker or for the other thread.
  private func wait() {
    let socket = connection.socket
    var events = [
      pollfd(fd: signal, events: Int16(POLLIN), revents: 0),
      pollfd(
        fd: socket, events: Int16(POLLIN) | (connection.wantsToWrite ? Int16(POLLOUT) : 0), revents: 0),
    ]
    // The library has to be called now and then for its keep-alive; and TLS may hold back what it has read already.
    var limit = usesTLS && !unacknowledged.isEmpty ? 0.1 : 5
    if socket < 0 { limit = min(limit, max(0, nextAttempt - Self.now)) }
    if monitor.locked({ end }) != nil { limit = min(limit, 0.1) }
    _ = poll(&events, nfds_t(events.count), Int32(limit * 1000) + 1)
    var count: UInt64 = 0
    if events[0].revents != 0 { _ = SystemCall.read(signal, &count, 8) }
  }

  private func take(_ event: BrokerConnection.Event) {
    switch event {
    case .connected:
      pause = 1
      _ = connection.publish(Message(topic: topics.status, text: Topics.online, isRetained: true))
      report(.connected)
      setConnected(true)
    case .refused(let reason): disconnected { .refused(reason) }
    case .lost(let reason): disconnected { .unreachable(reason) }
    case .acknowledged(let number):
      if let receipt = unacknowledged.removeValue(forKey: number) {
        monitor.locked { acknowledge(receipt) }
      } else if number == farewell {
        isFarewellDone = true
        connection.disconnect()
      }
    }
  }

  /// Reports the first failure after a connection.
  private func disconnected(_ event: () -> Event) {
    guard !isFarewellDone else { return }
    nextAttempt = Self.now + pause
    pause = min(pause * 2, Self.longestPause)
    if monitor.locked({ !hasFailed && end == nil }) { report(event()) }
    setConnected(false)
  }

  private func setConnected(_ isConnected: Bool) {
    monitor.locked {
      self.isConnected = isConnected
      hasFailed = !isConnected
      if !isConnected { momentary = [] }
      monitor.signal()
    }
  }
}
