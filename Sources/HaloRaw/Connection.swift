import ATT
import BluetoothCore
import GAP
import GATTClient
import HCI
import HaloGATT

/// A connection to a device.
///
/// Characteristics are named by a ``CharacteristicID``: what is not known yet is discovered, and discovered again when
/// the device says that its services have changed. Reads and writes are made one after the other, in the order of their
/// calls. The device has 30 seconds to answer each request (Core Specification Vol 3, Part F, 3.3.3).
///
/// The link ends with ``disconnect()``, or when nothing uses the connection any more; iterators keep it.
@BluetoothActor
public final class Connection {
  /// The address of the device.
  public nonisolated let peer: BluetoothAddress

  let link: GATTLink
  private let radio: Radio
  private var table = RemoteTable()
  private var listeners: [UInt64: ValueFeed<ConnectionEvent>] = [:]
  private var nextListener: UInt64 = 0
  private var isClosed = false

  init(_ link: GATTLink, on radio: Radio) {
    self.link = link
    self.radio = radio
    peer = link.peer
    link.onEvent = { [weak self] event in self?.tell(.linkChanged, event.description) }
    link.whenDisconnected { [weak self] loss in self?.lost(loss) }
    // The table keeps handles.
    link.gatt.whenServicesChanged { [weak self] range in
      self?.tell(.servicesChanged, "the services from handle \(range.start) to \(range.end) have changed")
    }
  }

  // MARK: Services

  /// All services of the device, and their characteristics.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The link is lost**: `.linkLost`.
  public func services() async throws -> [RemoteService] {
    try await repeated { () throws(GATTError) in try await table.services(link.gatt) }
  }

  // MARK: Values

  /// Reads a value of any length.
  ///
  /// - **Cancelled**: `.cancelled`; the answer is dropped.
  /// - **The link is lost**: `.linkLost`.
  /// - **Misuse**: `.notFound` if the device has no such characteristic, `.notPermitted` if it does not let this client
  ///   read it.
  ///
  /// - Throws: `.peerMisbehaved` as well, if the value has not the form of its type
  public func read<Value>(_ id: CharacteristicID<Value>) async throws -> Value {
    let bytes = try await repeated { () throws(GATTError) in
      try await link.gatt.read(try await table.characteristic(Place(id), link.gatt))
    }
    do throws(DecodeError) {
      return try Value(parsing: bytes.span.bytes)
    } catch {
      throw BluetoothError(.peerMisbehaved, "the value of \(id) can't be read: \(error)")
    }
  }

  /// Writes a value, and returns when the device has confirmed it. A long one is written in parts, which take effect together.
  ///
  /// - **Cancelled**: `.cancelled`; ``BluetoothError/mayHaveTakenEffect`` says whether it was sent.
  /// - **The link is lost**: `.linkLost`, with the same flag. What was sent is never sent again.
  /// - **Misuse**: `.invalidValue` for more than 512 bytes.
  public func write<Value>(_ value: Value, to id: CharacteristicID<Value>) async throws {
    var isSent = false
    let bytes = value.encoded
    do throws(BluetoothError) {
      try await repeated { () throws(GATTError) in
        let characteristic = try await table.characteristic(Place(id), link.gatt)
        try await awaitCallback { (done: @escaping (Result<Void, GATTError>) -> Void) in
          link.gatt.write(bytes, to: characteristic, onStart: { isSent = true }, completion: done)
        }
      }
    } catch {
      var error = error
      error.mayHaveTakenEffect = isSent && error.attCode == nil
      throw error
    }
  }

  /// Writes a value without an answer, as soon as the link has room for it. Values are sent in the order of the calls.
  ///
  /// - **Cancelled**: `.cancelled`; it was not sent.
  /// - **The link is lost**: `.linkLost`. ``disconnect()`` waits for what was accepted.
  /// - **Misuse**: `.invalidValue` for more than the MTU less 3 bytes.
  ///
  /// - Throws: `.timedOut` as well, if the link had no room for 10 seconds; it was not sent
  public func writeWithoutResponse<Value>(
    _ value: Value, to id: CharacteristicID<Value>
  ) async throws {
    let bytes = value.encoded
    try await repeated { () throws(GATTError) in
      let characteristic = try await table.characteristic(Place(id), link.gatt)
      try await link.gatt.writeWithoutResponse(bytes, to: characteristic, within: .seconds(10))
    }
  }

  // MARK: What the device sends

  /// The values that the device sends of a characteristic: notifications, or indications where there are no notifications.
  ///
  /// The subscription begins with the first `next()`, and ends with the iteration. Several iterations share it; each gets all
  /// values.
  ///
  /// - **Cancelled**: the iteration ends; the subscription is ended by a task that cannot be cancelled.
  /// - **The link is lost**: `next()` throws `.linkLost`.
  /// - **Misuse**: `.notSupported` for a characteristic that sends nothing.
  ///
  /// - Parameters:
  ///   - id: the characteristic
  ///   - capacity: how many values may wait to be fetched; after that the oldest are dropped, and counted
  public nonisolated func values<Value>(
    of id: CharacteristicID<Value>, keepingNewest capacity: Int = 256
  ) -> Values<Received<Value>> {
    Values(keepingNewest: capacity, counting: { $0.dropped = $1 }) { feed throws(BluetoothError) in
      let subscription = try await self.fill(feed, Place(id))
      return { self.end(subscription) }
    }
  }

  /// Runs `body` with the values that the device sends meanwhile: for a device that answers a write by a
  /// notification.
  ///
  /// ```swift
  /// try await connection.withValues(of: answers) { values in
  ///   try await connection.write(command, to: commands)
  ///   for try await answer in values { return print(answer.value) }
  /// }
  /// ```
  ///
  /// The device has confirmed the subscription when `body` begins. It ends with `body`.
  ///
  /// - **Cancelled**: `body` is cancelled; the subscription is ended by a task that cannot be cancelled.
  /// - **The link is lost**: the iteration over the values throws `.linkLost`.
  ///
  /// - Parameters:
  ///   - id: the characteristic
  ///   - capacity: how many values may wait to be fetched; after that the oldest are dropped, and counted
  ///   - body: the program
  /// - Throws: what `body` throws; ``BluetoothError`` if the subscription fails
  public nonisolated func withValues<Value, Result>(
    of id: CharacteristicID<Value>, keepingNewest capacity: Int = 256,
    _ body: (Values<Received<Value>>) async throws -> Result
  ) async throws -> Result {
    let feed = ValueFeed<Received<Value>>(capacity: capacity) { $0.dropped = $1 }
    let subscription = try await fill(feed, Place(id))
    return try await during(subscription) { try await body(Values(feed)) }
  }

  /// Calls `sink` with each value that the device sends, for as long as `body` runs: the way with the least delay.
  ///
  /// The sink is called on the loop as soon as a packet is read. Nothing is copied, allocated or handed to another
  /// thread before; the bytes are valid during the call only. It must not wait.
  ///
  /// - **Cancelled**: `body` is cancelled; the subscription is ended by a task that cannot be cancelled.
  /// - **The link is lost**: no more values; `body` goes on. ``events`` tells of it.
  ///
  /// - Parameters:
  ///   - id: the characteristic
  ///   - sink: gets the bytes of each value, and when its packet was received
  ///   - body: the program
  /// - Throws: what `body` throws; ``BluetoothError`` if the subscription fails
  public nonisolated func withValues<Value, Result>(
    of id: CharacteristicID<Value>, sink: @escaping @BluetoothActor @Sendable (RawSpan, Instant) -> Void,
    _ body: () async throws -> Result
  ) async throws -> Result {
    try await during(try await begin(Place(id), sink), body)
  }

  private func begin(
    _ place: Place, _ sink: @escaping @BluetoothActor @Sendable (RawSpan, Instant) -> Void
  ) async throws(BluetoothError) -> Subscription {
    try await subscribe(place, { sink($0, $1) }, onEnd: { _ in })
  }

  private func fill<Value: GATTValue>(
    _ feed: ValueFeed<Received<Value>>, _ place: Place
  ) async throws(BluetoothError) -> Subscription {
    var undecodable = 0
    return try await subscribe(place) { bytes, time in
      do throws(DecodeError) {
        feed.send(Received(value: try Value(parsing: bytes), time: time, undecodable: undecodable))
        undecodable = 0
      } catch {
        undecodable += 1
      }
    } onEnd: { [weak self] error in
      feed.finish(self?.error(error) ?? BluetoothError(error))
    }
  }

  private nonisolated func during<Result>(
    _ subscription: Subscription, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await body()
      await end(subscription)
      return result
    } catch {
      await end(subscription)
      throw error
    }
  }

  private func end(_ subscription: Subscription) {
    link.gatt.unsubscribe(subscription) { _ in }
  }

  private func subscribe(
    _ place: Place, _ sink: @escaping (RawSpan, Instant) -> Void, onEnd: @escaping (GATTError) -> Void
  ) async throws(BluetoothError) -> Subscription {
    try await repeated { () throws(GATTError) in
      try await link.gatt.subscribe(
        to: try await table.characteristic(place, link.gatt), onEnd: onEnd, sink: sink)
    }
  }

  // MARK: The link

  /// What happens to the connection. Any number of iterations get each event; none gets those from before it began.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The link is lost**: the last element says so, and why.
  public nonisolated var events: Values<ConnectionEvent> {
    Values(keepingNewest: 256) { feed throws(BluetoothError) in
      let id = try self.addListener(feed)
      return { self.listeners[id] = nil }
    }
  }

  private func addListener(_ feed: ValueFeed<ConnectionEvent>) throws(BluetoothError) -> UInt64 {
    guard link.isConnected else { throw error(.att(.closed(link.loss?.description ?? "disconnected"))) }
    defer { nextListener += 1 }
    listeners[nextListener] = feed
    return nextListener
  }

  private func tell(_ kind: ConnectionEvent.Kind, _ text: String, _ error: BluetoothError? = nil) {
    let event = ConnectionEvent(kind: kind, time: link.timers.now, description: text, error: error)
    for id in listeners.keys.sorted() { listeners[id]?.send(event) }
  }

  private func lost(_ loss: LinkLoss) {
    let error = error(.att(.closed(loss.description)))
    tell(.lost, error.description, error)
    for id in listeners.keys.sorted() { listeners[id]?.finish() }
    listeners = [:]
  }

  /// The properties of the link.
  public func status() -> ConnectionStatus {
    ConnectionStatus(
      isConnected: link.isConnected, mtu: link.mtu, interval: link.parameters?.interval.duration,
      latency: link.parameters.map { Int($0.latency) },
      supervisionTimeout: link.parameters?.supervisionTimeout.duration,
      isEncrypted: link.security.isEncrypted)
  }

  /// The strength of the device's signal in dBm; nil if it is not available.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The link is lost**: `.linkLost`.
  public func signalStrength() async throws -> Int? {
    do throws(GAPError) {
      return try await link.readRSSI().map { Int($0) }
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Ends the link, and returns when it has ended: within 5 seconds. What was written without response is sent before.
  /// Cancelling the task does not cancel this, as a device that stays connected does not advertise. Another call does
  /// nothing.
  public func disconnect() async {
    isClosed = true
    await link.disconnect()
  }

  // MARK: Errors

  /// Carries out what needs handles: once more if the device has said meanwhile that its services have changed.
  private func repeated<Result>(
    _ work: () async throws(GATTError) -> Result
  ) async throws(BluetoothError) -> Result {
    do throws(GATTError) {
      do throws(GATTError) {
        return try await work()
      } catch .servicesChanged {
        table = RemoteTable()
        return try await work()
      }
    } catch {
      // The device does not say that its services have changed.
      if case .att(.refused(let response)) = error, response.code == .invalidHandle { table = RemoteTable() }
      throw self.error(error)
    }
  }

  private func error(_ error: GATTError) -> BluetoothError {
    if isClosed, case .att(.closed) = error { return BluetoothError(.closed, "the connection was closed") }
    return BluetoothError(error)
  }
}
