import GAP
import HaloBluetoothCore
import HaloGATT

/// A connection to a device.
///
/// Characteristics are named by a `CharacteristicID`: an unknown one is discovered, and again when the device indicates that
/// its services have changed. Reads and writes are made one after the other, in the order of their calls. The device has 30
/// seconds to answer each request (Core Specification Vol 3, Part F, 3.3.3).
///
/// A connection that was made with a ``Reconnection`` is kept: when its link is lost, another one is made. Reads wait for it,
/// and are made again; so are writes that were not sent yet. Iterations over values go on, and the next element has the time in
/// which nothing could be received.
///
/// The link ends with ``disconnect()``, or when nothing uses the connection any more; iterators keep it.
@BluetoothActor
public final class Connection {
  /// The address of the device, as it was when it was connected to first.
  public nonisolated let peer: BluetoothAddress

  let core: ConnectionCore
  private let values = ValueListeners()
  private var listeners = Feeds<ConnectionEvent>()
  private var openers: [(CurrentLink) async throws(StackError) -> Void] = []
  private var endHandlers: [(BluetoothError) -> Void] = []
  private var link: GATTLink { core.live.link }

  init(_ core: ConnectionCore) {
    self.core = core
    peer = core.live.link.peer
    core.onChange = { [weak self] change in self?.changed(change) }
    core.onOpen = { [weak self] live throws(StackError) in try await self?.open(live) }
  }

  // MARK: Services

  /// All services of the device, and their characteristics.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The link is lost**: `.linkLost`.
  public func services() async throws -> [RemoteService] {
    try await core.perform(repeats: { true }) { live throws(StackError) in
      try await live.table.services(live.gatt)
    }
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
    let bytes = try await core.perform(repeats: { true }) { live throws(StackError) in
      try await live.gatt.read(try await live.characteristic(Place(id)))
    }
    do throws(DecodeError) {
      return try Value(parsing: bytes.span.bytes)
    } catch {
      throw BluetoothError(.peerMisbehaved, "the value of \(id) can't be read: \(error)")
    }
  }

  /// Writes a value, and returns when the device has confirmed it. A long one is written in parts, which take effect together.
  ///
  /// - **Cancelled**: `.cancelled`; ``BluetoothError/mayHaveTakenEffect`` shows whether it was sent.
  /// - **The link is lost**: `.linkLost`, with the same flag. A value is never sent twice.
  /// - **Misuse**: `.invalidValue` for more than 512 bytes.
  public func write<Value>(_ value: Value, to id: CharacteristicID<Value>) async throws {
    try await write(value.encoded) { live throws(StackError) in try await live.characteristic(Place(id)) }
  }

  func write<Attribute: AttributeReference>(
    _ bytes: [UInt8], to find: (CurrentLink) async throws(StackError) -> Attribute
  ) async throws(BluetoothError) {
    var isSent = false
    do throws(BluetoothError) {
      try await core.perform(repeats: { !isSent }) { live throws(StackError) in
        let attribute = try await find(live)
        try await awaitCallback { (done: @escaping (Result<Void, StackError>) -> Void) in
          live.gatt.write(bytes, to: attribute, onStart: { isSent = true }, completion: done)
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
  /// - **The link is lost**: `.linkLost`. ``disconnect()`` waits for values that were accepted.
  /// - **Misuse**: `.invalidValue` for more than the MTU less 3 bytes.
  ///
  /// - Throws: `.timedOut` as well, if the link had no room for 10 seconds; it was not sent
  public func writeWithoutResponse<Value>(_ value: Value, to id: CharacteristicID<Value>) async throws {
    let bytes = value.encoded
    try await core.perform(repeats: { false }) { live throws(StackError) in
      let characteristic = try await live.characteristic(Place(id))
      try await live.gatt.writeWithoutResponse(bytes, to: characteristic, within: .seconds(10))
    }
  }

  /// Writes a value without an answer, with a signature that shows the device who has written it (Core Specification Vol 3,
  /// Part G, 4.9.2): for a characteristic with `.authenticatedSignedWrites`. Over an encrypted link, which needs no signature,
  /// it is written without one. A link to a bonded device is encrypted unless ``LinkOptions/isLeftInClear`` is set.
  ///
  /// The device checks the signature with a key that both sides have agreed on when they paired, and ignores what was sent
  /// before. It does not say whether it has taken the value. What is written can be read by anybody.
  ///
  /// - **Cancelled**: `.cancelled`; it was not sent.
  /// - **The link is lost**: `.linkLost`. ``disconnect()`` waits for values that were accepted.
  /// - **Misuse**: `.notPermitted` without a bond with such a key: pair first; `.invalidValue` for more than the MTU less 15
  ///   bytes; `.notSupported` if the characteristic has not the property.
  ///
  /// - Throws: `.timedOut` as well, if the link had no room for 10 seconds; it was not sent
  public func writeSigned<Value>(_ value: Value, to id: CharacteristicID<Value>) async throws {
    let bytes = value.encoded
    try await core.perform(repeats: { false }) { live throws(StackError) in
      let characteristic = try await live.characteristic(Place(id))
      guard characteristic.properties.contains(.authenticatedSignedWrites) else {
        throw .notSupported(characteristic.uuid, "signed writes")
      }
      try await live.gatt.writeWithoutResponse(bytes, to: characteristic, .signed, within: .seconds(10))
    }
  }

  // MARK: Values of the device

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
      let listener = try await self.fill(feed, Place(id))
      return { self.end(listener) }
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
  /// - Throws: the errors of `body`; ``BluetoothError`` if the subscription fails
  public nonisolated func withValues<Value, Result>(
    of id: CharacteristicID<Value>, keepingNewest capacity: Int = 256,
    _ body: (Values<Received<Value>>) async throws -> Result
  ) async throws -> Result {
    let feed = ValueFeed<Received<Value>>(capacity: capacity) { $0.dropped = $1 }
    let listener = try await fill(feed, Place(id))
    return try await during(listener) { try await body(Values(feed)) }
  }

  /// Calls `sink` with each value that the device sends, for as long as `body` runs: the way with the least delay.
  ///
  /// The sink is called on the loop as soon as a packet is read. Nothing is copied, allocated or handed to another
  /// thread before; the bytes are valid during the call only. It must not wait.
  ///
  /// - **Cancelled**: `body` is cancelled; the subscription is ended by a task that cannot be cancelled.
  /// - **The link is lost**: no more values; `body` goes on. ``events`` reports it.
  ///
  /// - Parameters:
  ///   - id: the characteristic
  ///   - sink: gets the bytes of each value, and when its packet was received
  ///   - body: the program
  /// - Throws: the errors of `body`; ``BluetoothError`` if the subscription fails
  public nonisolated func withValues<Value, Result>(
    of id: CharacteristicID<Value>, sink: @escaping @BluetoothActor @Sendable (RawSpan, Instant) -> Void,
    _ body: () async throws -> Result
  ) async throws -> Result {
    try await during(try await begin(Place(id), sink), body)
  }

  private func begin(
    _ place: Place, _ sink: @escaping @BluetoothActor @Sendable (RawSpan, Instant) -> Void
  ) async throws(BluetoothError) -> ValueListener {
    try await values.add(place, on: core) { bytes, time, _ in
      sink(bytes, time)
    } fail: { _ in
    }
  }

  private func fill<Value: GATTValue>(
    _ feed: ValueFeed<Received<Value>>, _ place: Place
  ) async throws(BluetoothError) -> ValueListener {
    var undecodable = 0
    var gap: Duration?
    return try await values.add(place, on: core) { bytes, time, newGap in
      gap = gap ?? newGap
      do throws(DecodeError) {
        feed.send(
          Received(value: try Value(parsing: bytes), time: time, undecodable: undecodable, gap: gap.take()))
        undecodable = 0
      } catch {
        undecodable += 1
      }
    } fail: { error in
      feed.finish(error)
    }
  }

  private nonisolated func during<Result>(
    _ listener: ValueListener, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await body()
      await end(listener)
      return result
    } catch {
      await end(listener)
      throw error
    }
  }

  private func end(_ listener: ValueListener) { values.remove(listener) }

  // MARK: The link

  /// The events of the connection. Any number of iterations get each event; none gets those from before it began.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The link is lost**: the last element reports it, with the reason.
  public nonisolated var events: Values<ConnectionEvent> {
    Values(keepingNewest: 256) { feed throws(BluetoothError) in
      if let end = self.core.end { throw end }
      let id = self.listeners.add(feed)
      return { self.listeners.remove(id) }
    }
  }

  private func tell(_ kind: ConnectionEvent.Kind, _ text: String, _ error: BluetoothError? = nil) {
    listeners.send(ConnectionEvent(kind: kind, time: link.timers.now, description: text, error: error))
  }

  private func changed(_ change: ConnectionCore.Change) {
    switch change {
    case .event(let event): tell(.linkChanged, event.description)
    case .servicesChanged(let range):
      tell(.servicesChanged, "the services from handle \(range.start) to \(range.end) have changed")
    case .restored: tell(.restored, "connected again")
    case .lost(let error, isFinal: false):
      values.lost(at: link.timers.now)
      tell(.lost, error.description, error)
    case .lost(let error, isFinal: true):
      values.finish(error)
      tell(.lost, error.description, error)
      listeners.finish()
      let handlers = endHandlers
      (endHandlers, openers) = ([], [])
      for handler in handlers { handler(error) }
    }
  }

  /// Prepares a new link for the iterations that go on.
  private func open(_ live: CurrentLink) async throws(StackError) {
    for opener in openers { try await opener(live) }
    try await values.open(live)
  }

  /// Calls `handler` once, when there is no link and will be none; at once if that is so.
  func whenEnded(_ handler: @escaping (BluetoothError) -> Void) {
    if let end = core.end { handler(end) } else { endHandlers.append(handler) }
  }

  /// Calls `opener` with each new link, before others use it.
  func whenOpened(_ opener: @escaping (CurrentLink) async throws(StackError) -> Void) {
    openers.append(opener)
  }

  /// The properties of the link.
  public func status() -> ConnectionStatus {
    ConnectionStatus(
      isConnected: link.isConnected, mtu: link.mtu, interval: link.parameters?.interval.duration,
      latency: link.parameters.map { Int($0.latency) },
      supervisionTimeout: link.parameters?.supervisionTimeout.duration,
      transmitPHY: link.phys.flatMap { PHY($0.transmit) }, receivePHY: link.phys.flatMap { PHY($0.receive) },
      dataLength: link.dataLengths.map { Int($0.transmit.octets) },
      isEncrypted: link.security.isEncrypted,
      isAuthenticated: link.security.isEncrypted && link.security.isAuthenticated)
  }

  /// Requests other properties of the link, whichever side has made it. A peripheral asks its central, which may refuse.
  ///
  /// - **Cancelled**: `.cancelled`; the request may still be granted.
  /// - **The link is lost**: `.linkLost`. The next one has the options with which it was connected.
  /// - **Misuse**: `.invalidValue` for numbers that no link can have. The MTU can't be asked for again.
  ///
  /// - Parameter options: the desired properties
  /// - Returns: the properties of the link
  /// - Throws: `.refused` if the other side, or the controller, refuses, or if the link lacks a required property;
  ///   `.notSupported` by a kernel that does not let programs change it
  @discardableResult
  public func change(_ options: LinkOptions) async throws -> ConnectionStatus {
    try options.check(on: link)
    try await core.perform(repeats: { false }) { live throws(StackError) in
      try await options.apply(to: live.link)
      try await options.prove(live.link)
    }
    return status()
  }

  /// The strength of the device's signal in dBm; nil if it is not available.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The link is lost**: `.linkLost`.
  public func signalStrength() async throws -> Int? {
    do throws(StackError) {
      return try await link.readRSSI().map { Int($0) }
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Ends the link, and returns when it has ended: within 5 seconds. Values that were written without response are sent before.
  /// Cancelling the task does not cancel this, as a device that stays connected does not advertise. Another call does nothing.
  public func disconnect() async {
    await core.disconnect()
  }
}
