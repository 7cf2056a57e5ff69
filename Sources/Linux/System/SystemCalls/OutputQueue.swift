import Glibc
import Synchronization

/// A queue of records for a descriptor: lines for standard output, packets for a recording. A record is a sequence of
/// bytes that is written completely or not at all.
///
/// ``write(_:)`` never blocks on a reader or a disk, unless requested. While the descriptor has room, a record is
/// written within the call. Otherwise it is kept in memory, up to a limit, and written by the queue's thread; that
/// thread also writes to regular files, as a disk can be slow at any time.
///
/// One thread at a time may call ``write(_:)``; everything else may be called from any thread.
@usableFromInline package final class OutputQueue: @unchecked Sendable {
  /// The treatment of a record when the queue is full.
  package enum Overflow: Hashable, Sendable {
    /// It is dropped and counted, and so are the following records until half of the limit is free again.
    case drop
    /// It is queued nevertheless: for output of limited length.
    case keep
    /// The caller waits, until ``abandon()`` is called: for programs that have no other work.
    case wait
  }

  /// Why writing has stopped.
  @usableFromInline package enum Failure: Error, Hashable, Sendable {
    /// The reader of a pipe or socket has closed it, as `head` does.
    case readerGone
    /// A system call failed.
    case system(SystemError)
  }

  /// Opens the file that the next records go to, when all records before them are written. Called on the queue's thread,
  /// and may wait for the disk.
  package typealias FileChange = @Sendable () throws(SystemError) -> Int32

  /// Standard output, of which no record is dropped.
  package static let standardOutput = OutputQueue(descriptor: STDOUT_FILENO)
  /// Standard error, of which records are dropped if its reader does not keep up.
  package static let standardError = OutputQueue(
    descriptor: STDERR_FILENO, capacity: 1 << 18, overflow: .drop)

  /// The output: the given descriptor, or another one of the same pipe or terminal.
  @exclusivity(unchecked) private(set) var target: OutputDescriptor
  private let capacity: Int
  private let collectionTime: Double
  /// The error number of ``failure``; zero if there is none. Read without the lock for each record.
  private let failureNumber = Atomic<Int32>(0)
  private let monitor = Monitor()
  private let rotation: ((Int) -> FileChange?)?
  private let afterEmptying: (@Sendable () -> [UInt8])?
  private var hasBegunFile = false

  // The monitor's lock guards the following properties; those that each write reads have no other check.
  private var policy: Overflow
  @exclusivity(unchecked) private var waiting = Records()
  /// The records that the thread is writing.
  @exclusivity(unchecked) private var inFlight = Records()
  private var hasThread = false
  private var isCollecting = false
  /// The number of callers that wait until all is written.
  private var waiters = 0
  private var isOverflowing = false
  private var isAbandoned = false
  private var isClosing = false
  private var isClosed = false
  private var closeHandlers: [@Sendable () -> Void] = []
  private var dropped = 0
  /// The length of the file since the last change, with the queued records.
  private var fileLength = 0
  private var drainHandlers: [@Sendable () -> Void] = []

  /// - Parameters:
  ///   - descriptor: does not block
  ///   - owned: whether the descriptor is closed with the queue
  ///   - capacity: the maximum number of bytes to queue
  ///   - overflow: what to do when the queue is full
  ///   - collectionTime: for how many seconds the thread collects records for a regular file before it writes them. Without it
  ///     the thread wakes for each record, which costs twice as many instructions as all else that is done for a packet.
  ///   - rotation: called before records are queued, with the length of the file with them; returns the closure that opens the
  ///     file that they go to, or nil if they go to the same one. Must not call the queue. For regular files
  ///   - afterEmptying: the beginning of a regular file that another program has emptied, as logrotate does with
  ///     `copytruncate`; called on the queue's thread
  package init(
    descriptor: Int32, owned: Bool = false, capacity: Int = 1 << 20, overflow: Overflow = .keep,
    collectionTime: Double = 0, rotation: ((Int) -> FileChange?)? = nil,
    afterEmptying: (@Sendable () -> [UInt8])? = nil
  ) {
    self.afterEmptying = afterEmptying
    self.collectionTime = collectionTime
    self.rotation = rotation
    target = OutputDescriptor(descriptor, owned: owned)
    self.capacity = capacity
    policy = overflow
  }

  deinit {
    // A thread retains the queue: none is running here.
    if !isClosing { target.close() }
  }

  // MARK: Writing

  /// The treatment of records when the queue is full.
  package var overflow: Overflow {
    get { monitor.locked { policy } }
    set { monitor.locked { policy = newValue } }
  }

  /// Why writing has stopped; nil if it has not.
  @usableFromInline package var failure: Failure? {
    switch failureNumber.load(ordering: .acquiring) {
    case 0: nil
    case EPIPE, ECONNRESET: .readerGone
    case let number: .system(SystemError("write", errno: number))
    }
  }

  /// The number of bytes queued or being written.
  package var waitingBytes: Int { monitor.locked { waiting.byteCount + inFlight.byteCount } }

  /// The number of dropped records.
  var droppedRecords: Int { monitor.locked { dropped } }

  /// Writes or queues a record.
  ///
  /// - Returns: false if it was dropped, or if writing has failed
  @discardableResult
  package func write(_ record: UnsafeRawBufferPointer) -> Bool {
    guard !record.isEmpty else { return failureNumber.load(ordering: .relaxed) == 0 }
    return withUnsafePointer(to: record.count) {
      write(RawSpan(_unsafeBytes: record), ends: Span(_unsafeStart: $0, count: 1)) == 1
    }
  }

  /// Writes or queues consecutive records, with one system call if the descriptor takes them all.
  ///
  /// - Parameters:
  ///   - records: one record after the other, none of them empty
  ///   - ends: where each ends
  /// - Returns: how many were accepted. Those after them were dropped, or writing has failed.
  package func write(_ records: RawSpan, ends: Span<Int>) -> Int {
    guard failureNumber.load(ordering: .relaxed) == 0 else { return 0 }
    monitor.lock()
    defer { monitor.unlock() }
    // Checked again: nothing may follow a lost record.
    guard !isClosing, failureNumber.load(ordering: .relaxed) == 0 else { return 0 }
    if let rotation { changeFile(before: records.byteCount, rotation) }
    var written = 0
    if target.isNonBlocking, waiting.isEmpty, inFlight.isEmpty {
      do throws(SystemError) {
        written = try transmit(records, ends)
      } catch {
        fail(error)
        return 0
      }
    }
    var start = written
    var accepted = 0
    for index in ends.indices {
      let end = ends[index]
      if end > start {
        // The rest of a record that was written in part has to follow.
        let isBegun = start > (accepted > 0 ? ends[accepted - 1] : 0)
        guard isBegun || makeRoom(for: end - start) else { break }
        records.extracting(start..<end).withUnsafeBytes { waiting.append($0) }
        start = end
      }
      accepted += 1
    }
    dropped += ends.count - accepted
    if !waiting.isEmpty { startThread() }
    return failureNumber.load(ordering: .relaxed) == 0 ? accepted : 0
  }

  /// Has the next records written to another file, if that is due.
  private func changeFile(before count: Int, _ rotation: (Int) -> FileChange?) {
    fileLength += count
    // The first write begins the file.
    guard fileLength > count, let change = rotation(fileLength) else { return }
    waiting.change(change)
    fileLength = count
  }

  /// Writes as many records as the descriptor takes now.
  ///
  /// - Returns: the number of bytes written
  private func transmit(_ records: RawSpan, _ ends: Span<Int>) throws(SystemError) -> Int {
    var start = 0
    var index = 0
    while index < ends.count {
      var end = ends[index]
      index += 1
      while index < ends.count, ends[index] - start <= target.atomicSize {
        end = ends[index]
        index += 1
      }
      switch records.extracting(start..<end).withUnsafeBytes({ target.write($0) }) {
      case .taken(let count):
        start += count
        if start < end { return start }
      case .failed(let error): throw error
      }
    }
    return start
  }

  /// Whether a record of this size may be queued now.
  private func makeRoom(for count: Int) -> Bool {
    switch policy {
    case .keep: return true
    case .wait:
      while waiting.byteCount + inFlight.byteCount + count > capacity, !waiting.isEmpty || !inFlight.isEmpty {
        guard !isAbandoned, failureNumber.load(ordering: .relaxed) == 0 else { return false }
        startThread()
        waitForThread { monitor.wait() }
      }
      return true
    case .drop:
      let total = waiting.byteCount + inFlight.byteCount + count
      if total > (isOverflowing ? capacity / 2 : capacity) {
        isOverflowing = true
        return false
      }
      isOverflowing = false
      return true
    }
  }

  private func fail(_ error: SystemError) {
    failureNumber.store(error.errno, ordering: .releasing)
    waiting.removeAll()
  }

  // MARK: The end

  /// Calls `handler` once when all accepted records are written or writing has failed: within this call, or on the
  /// queue's thread.
  package func whenDrained(_ handler: @escaping @Sendable () -> Void) {
    let isDrained = monitor.locked {
      let isDrained = waiting.isEmpty && inFlight.isEmpty
      if !isDrained {
        drainHandlers.append(handler)
        monitor.signal()
      }
      return isDrained
    }
    if isDrained { handler() }
  }

  /// Waits until all accepted records are written or writing has failed. Blocks the thread.
  package func waitUntilDrained() {
    monitor.locked {
      while !waiting.isEmpty || !inFlight.isEmpty { waitForThread { monitor.wait() } }
    }
  }

  /// Waits for at most the given number of seconds of the kernel's clock, also in virtual time. For the end of a
  /// process.
  ///
  /// - Returns: whether all records were written
  package func waitUntilDrained(for seconds: Double) -> Bool {
    let end = Monitor.time(after: seconds)
    return monitor.locked {
      while !waiting.isEmpty || !inFlight.isEmpty {
        guard waitForThread({ monitor.wait(until: end) }) else { return false }
      }
      return true
    }
  }

  /// Waits with `wait` for the thread, which collects no more records.
  private func waitForThread<Result>(_ wait: () -> Result) -> Result {
    waiters += 1
    defer { waiters -= 1 }
    if isCollecting { monitor.signal() }
    return wait()
  }

  /// Makes callers that wait for room return: their records are dropped, and so are all that would have to wait.
  package func stopWaiting() {
    monitor.locked {
      isAbandoned = true
      monitor.signal()
    }
  }

  /// Discards the queued records, because they can't be written in time. Callers that wait for room return, too.
  ///
  /// - Returns: the number of discarded records
  @discardableResult
  package func abandon() -> Int {
    let (count, handlers) = monitor.locked {
      isAbandoned = true
      let count = waiting.count + inFlight.count
      waiting.removeAll()
      let handlers = drainHandlers
      drainHandlers = []
      monitor.signal()
      return (count, handlers)
    }
    for handler in handlers { handler() }
    return count
  }

  /// Accepts no more records, and closes an owned descriptor when all queued records are written.
  package func close() { close {} }

  /// The same; calls `handler` once when the descriptor is closed: within this call, or on the queue's thread.
  package func close(whenClosed handler: @escaping @Sendable () -> Void) {
    let isClosed = monitor.locked {
      if !isClosing {
        isClosing = true
        if hasThread {
          monitor.signal()
        } else {
          target.close()
          self.isClosed = true
        }
      }
      if !self.isClosed { closeHandlers.append(handler) }
      return self.isClosed
    }
    if isClosed { handler() }
  }

  // MARK: The thread

  private func startThread() {
    guard !hasThread else {
      if !isCollecting || waiting.byteCount >= Self.largestCollection { monitor.signal() }
      return
    }
    // The thread calls only `write` and `poll`.
    let result = HelperThread.start { self.run() }
    if result == 0 { hasThread = true } else { fail(SystemError("pthread_create", errno: result)) }
  }

  private func run() {
    monitor.lock()
    while true {
      while waiting.isEmpty, !isClosing { monitor.wait() }
      guard !waiting.isEmpty else { break }
      collect()
      swap(&waiting, &inFlight)
      monitor.unlock()
      let error = writeInFlight()
      monitor.lock()
      inFlight.removeAll()
      if let error { fail(error) }
      monitor.signal()
      guard waiting.isEmpty else { continue }
      let handlers = drainHandlers
      drainHandlers = []
      guard !handlers.isEmpty else { continue }
      monitor.unlock()
      for handler in handlers { handler() }
      monitor.lock()
    }
    target.close()
    isClosed = true
    let handlers = closeHandlers
    closeHandlers = []
    monitor.unlock()
    for handler in handlers { handler() }
  }

  /// The number of bytes that are written without waiting for more.
  private static let largestCollection = 1 << 16

  /// Waits for more records, so that one write takes all of them.
  private func collect() {
    guard collectionTime > 0, target.isRegularFile else { return }
    let end = Monitor.time(after: collectionTime)
    isCollecting = true
    while waiters == 0, drainHandlers.isEmpty, !isClosing, waiting.byteCount < Self.largestCollection {
      guard monitor.wait(until: end) else { break }
    }
    isCollecting = false
  }

  /// Writes the records in flight. Only the thread accesses them until it is done, and only the thread sets `target`.
  private func writeInFlight() -> SystemError? {
    do throws(SystemError) {
      var start = 0
      for change in inFlight.changes {
        try write(start..<change.offset)
        let next = OutputDescriptor(try change.open(), owned: true)
        target.close()
        monitor.locked { target = next }
        hasBegunFile = false
        start = change.offset
      }
      try write(start..<inFlight.byteCount)
      return nil
    } catch {
      return error
    }
  }

  /// Writes some of the records in flight.
  private func write(_ range: Range<Int>) throws(SystemError) {
    guard !range.isEmpty else { return }
    if let afterEmptying, hasBegunFile, target.isEmptyFile {
      let failure = afterEmptying().withUnsafeBytes { write($0) { $0 } }
      if let failure { throw failure }
    }
    let failure = inFlight.bytes.withUnsafeBytes { bytes in
      write(UnsafeRawBufferPointer(rebasing: bytes[range])) {
        $0 - (inFlight.end(before: range.lowerBound + $0) - range.lowerBound)
      }
    }
    hasBegunFile = true
    if let failure { throw failure }
  }

  /// Writes all bytes. `incomplete` returns how many of the written ones are of a record that is not complete, and are taken
  /// back.
  private func write(_ bytes: UnsafeRawBufferPointer, incomplete: (Int) -> Int) -> SystemError? {
    var written = 0
    while written < bytes.count {
      switch target.write(UnsafeRawBufferPointer(rebasing: bytes[written...])) {
      case .taken(0): target.waitForRoom()
      case .taken(let count): written += count
      case .failed(let error):
        target.takeBack(incomplete(written))
        return error
      }
    }
    return nil
  }
}

/// Consecutive records. Their memory is kept when they are removed.
private struct Records {
  private(set) var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// Where another file begins.
  private(set) var changes: [(offset: Int, open: OutputQueue.FileChange)] = []

  var isEmpty: Bool { ends.isEmpty }
  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  mutating func append(_ record: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: record)
    ends.append(bytes.count)
  }

  /// The next records go to another file.
  mutating func change(_ open: @escaping OutputQueue.FileChange) { changes.append((bytes.count, open)) }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    changes.removeAll(keepingCapacity: true)
  }

  /// The end of the last complete record within the first `offset` bytes.
  func end(before offset: Int) -> Int {
    ends.last { $0 <= offset } ?? 0
  }
}
