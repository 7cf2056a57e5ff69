import ATT
import HaloBluetoothCore
import HaloGATT

/// Writes without response that wait for room, in their order.
struct WaitingWrites {
  struct Entry {
    var id: UInt64
    var handle: AttributeHandle
    var stamp: DiscoveryStamp?
    var value: [UInt8]
    var deadline: Timers.Token?
    var completion: (Result<Void, GATTError>) -> Void
  }

  private var entries: [Entry] = []
  private var nextID: UInt64 = 0

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func newID() -> UInt64 {
    defer { nextID += 1 }
    return nextID
  }

  mutating func append(_ entry: Entry) { entries.append(entry) }
  mutating func removeFirst() -> Entry { entries.removeFirst() }

  mutating func remove(_ id: UInt64) -> Entry? {
    entries.firstIndex { $0.id == id }.map { entries.remove(at: $0) }
  }

  mutating func removeAll() -> [Entry] {
    defer { entries = [] }
    return entries
  }
}

/// Write Without Response (Core Specification Vol 3, Part G, 4.9.1): without a response, so that only the link limits
/// the sender. A link accepts a bounded number of them; there is room again as they are sent.
extension GATTClient {
  /// Whether a write without response can be sent now.
  package var canSendWriteWithoutResponse: Bool { isOpen && waitingWrites.isEmpty && hasRoom() }

  /// Writes a value without a response: immediately, ahead of all queued procedures, and without confirmation.
  ///
  /// - Throws: ``GATTError/noRoom`` if the link has no room: then nothing was sent. Wait with
  ///   ``writeWithoutResponse(_:to:within:)-(_,AttributeHandle,_)``, or for ``onReadyToSendWriteWithoutResponse``.
  package func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) throws(GATTError) {
    try writeNow(value, to: handle, nil)
  }

  package func writeWithoutResponse(
    _ value: [UInt8], to characteristic: Characteristic
  ) throws(GATTError) {
    try writeNow(value, to: characteristic.valueHandle, characteristic.stamp)
  }

  /// Writes a value without an answer, as soon as the link has room for it. Values are sent in the order in which they
  /// were given.
  ///
  /// - Parameters:
  ///   - value: at most MTU - 3 bytes
  ///   - handle: the attribute to write
  ///   - time: how long to wait for room
  /// - Throws: ``GATTError/noRoomInTime(seconds:)``, and `.cancelled`: then nothing was sent
  package func writeWithoutResponse(
    _ value: [UInt8], to handle: AttributeHandle, within time: Duration
  ) async throws(GATTError) {
    try await write(value, to: handle, nil, within: time)
  }

  package func writeWithoutResponse(
    _ value: [UInt8], to characteristic: Characteristic, within time: Duration
  ) async throws(GATTError) {
    try await write(value, to: characteristic.valueHandle, characteristic.stamp, within: time)
  }

  /// The same for callers that cannot wait.
  ///
  /// - Parameters:
  ///   - value: at most MTU - 3 bytes
  ///   - handle: the attribute to write
  ///   - time: how long to wait for room
  ///   - completion: called once, when it was sent or has failed
  package func postWithoutResponse(
    _ value: [UInt8], to handle: AttributeHandle, within time: Duration,
    completion: @escaping (Result<Void, GATTError>) -> Void
  ) {
    _ = post(value, to: handle, nil, within: time, completion)
  }

  package func postWithoutResponse(
    _ value: [UInt8], to characteristic: Characteristic, within time: Duration,
    completion: @escaping (Result<Void, GATTError>) -> Void
  ) {
    _ = post(value, to: characteristic.valueHandle, characteristic.stamp, within: time, completion)
  }

  private func writeNow(
    _ value: [UInt8], to handle: AttributeHandle, _ stamp: DiscoveryStamp?
  ) throws(GATTError) {
    guard !isOpen || canSendWriteWithoutResponse else { throw .noRoom }
    try send(value, to: handle, stamp)
  }

  private func send(
    _ value: [UInt8], to handle: AttributeHandle, _ stamp: DiscoveryStamp?
  ) throws(GATTError) {
    try check(handle, stamp)
    do throws(ATTError) {
      try bearer.writeWithoutResponse(handle, value)
    } catch {
      throw .att(error)
    }
  }

  private func write(
    _ value: [UInt8], to handle: AttributeHandle, _ stamp: DiscoveryStamp?, within time: Duration
  ) async throws(GATTError) {
    try await awaitCallback { (done: @escaping (Result<Void, GATTError>) -> Void) in
      guard let id = post(value, to: handle, stamp, within: time, done) else { return {} }
      return { [weak self] in self?.endWaiting(id, .cancelled) }
    }
  }

  /// - Returns: its identifier while it waits; nil if it is done
  private func post(
    _ value: [UInt8], to handle: AttributeHandle, _ stamp: DiscoveryStamp?, within time: Duration,
    _ completion: @escaping (Result<Void, GATTError>) -> Void
  ) -> UInt64? {
    do throws(GATTError) {
      try writeNow(value, to: handle, stamp)
      completion(.success(()))
      return nil
    } catch .noRoom {
      let id = waitingWrites.newID()
      let deadline = timers.schedule(after: time) { [weak self] in
        self?.endWaiting(id, .noRoomInTime(seconds: time.inSeconds))
      }
      waitingWrites.append(
        .init(
          id: id, handle: handle, stamp: stamp, value: value, deadline: deadline, completion: completion))
      return id
    } catch {
      completion(.failure(error))
      return nil
    }
  }

  private func endWaiting(_ id: UInt64, _ error: GATTError) {
    guard let entry = waitingWrites.remove(id) else { return }
    timers.cancel(entry.deadline)
    entry.completion(.failure(error))
  }

  /// There is room: writes that were already waiting go first.
  func sendWaitingWrites() {
    while isOpen, !waitingWrites.isEmpty, hasRoom() {
      let entry = waitingWrites.removeFirst()
      timers.cancel(entry.deadline)
      do throws(GATTError) {
        try send(entry.value, to: entry.handle, entry.stamp)
        entry.completion(.success(()))
      } catch {
        entry.completion(.failure(error))
      }
    }
    if canSendWriteWithoutResponse { onReadyToSendWriteWithoutResponse?() }
  }

  func failWaitingWrites(_ error: GATTError) {
    for entry in waitingWrites.removeAll() {
      timers.cancel(entry.deadline)
      entry.completion(.failure(error))
    }
  }
}
