internal import ATT
import Foundation
internal import GAP
internal import HaloGATT
internal import HCI
package import HaloBluetoothCore
internal import HaloDevices

/// The loop's half of one connection to a peripheral: from the request for it to the end of its link. Attributes are valid on
/// the link on which they were discovered.
@BluetoothActor
package final class PeripheralLink: LinkUser {
  /// Why an operation fails when there is no link any more.
  static let unlinked = StackError.closed("disconnected")
  /// The end of a link that neither the program nor the peripheral has asked for.
  private static let gaveUp: any Error & Sendable = CBError(
    .connectionTimeout, "the connection was ended, as the peripheral did not answer in time")

  /// The events for the queue's half.
  struct Handlers {
    /// Called when the link counts as one of the radio, before anything else: the program may ask for it at once.
    var established: () -> Void
    var servicesChanged: (HandleRange) -> Void
    var mtu: (Int) -> Void
    var name: (String) -> Void
    /// Called once, after which nothing is called.
    var ended: (ManagedConnection.Ending) -> Void
  }

  /// The target of a connection.
  struct Target {
    var peer: PeerIdentity
    var radio: ManagedAdapter
    var central: Central
    /// How long to wait before it is looked for.
    var delay: Duration
    /// Whether the name of the peripheral is known; otherwise it is read.
    var isNamed: Bool
  }

  /// The link; nil before it and after it.
  private(set) var connection: GATTLink?
  /// Its client.
  var client: GATTClient? { connection?.gatt }
  private var notifications: Notifications?

  private var target: Target?
  private var handlers: Handlers?
  private var task: Task<Void, Never>?
  private var eagerEnd = Instant.zero
  /// Whether the program has asked for its end.
  private var isCancelled = false

  package nonisolated init() {}

  // MARK: The connection over time

  /// Connects when the peripheral advertises, however long that takes, or takes the link that there is.
  func begin(_ target: Target, _ handlers: Handlers) {
    self.target = target
    self.handlers = handlers
    task = BluetoothActor.run { await self.run(target) }
  }

  private func run(_ target: Target) async {
    let timers = target.central.timers
    if target.delay > .zero { await timers.sleep(for: target.delay) }
    eagerEnd = timers.current + Central.eagerTime
    // A connection does not time out, as on Apple's systems.
    let budget = ReconnectPolicy.Budget(first: .forever, later: .zero, longestPause: .seconds(2))
    let managed = ManagedLink<PeripheralLink>(to: nil, canSearch: true, budget, .first, timers: timers)
    do throws(StackError) {
      try await managed.ask(for: self) { () throws(StackError) in }
      guard let loss = try? await managed.link?.disconnection() else { return }
      finish(ending(after: loss))
    } catch {
      guard !Task.isCancelled else { return }
      var byAdapter = target.radio.state != .poweredOn
      if error.isOfSystem { byAdapter = true }
      finish(.failed(delegateError(error), byAdapter: byAdapter))
    }
  }

  private func ending(after loss: LinkLoss) -> ManagedConnection.Ending {
    switch (loss, delegateError(loss)) {
    case (.remote, let error?): .endedByPeripheral(error)
    // The next link would end in the same way.
    case (.pairingRefused, let error?): .ended(error)
    case (.adapter, let error?): .endedByAdapter(error)
    default: .ended(isCancelled ? nil : Self.gaveUp)
    }
  }

  private func finish(_ ending: ManagedConnection.Ending) {
    let handlers = handlers.take()
    connection = nil
    notifications = nil
    handlers?.ended(ending)
  }

  /// Ends the link, or gives up to make one. The end of a link is reported when it has ended.
  func end() {
    isCancelled = true
    // Others use the link.
    if leave() || connection == nil { giveUp() }
  }

  /// The adapter can't be used: an attempt without a link is given up.
  func powerOff() {
    guard connection == nil else { return }
    leave()
    giveUp()
  }

  /// Ends without a report.
  func shutDown() {
    handlers = nil
    if leave() { notifications?.end() }
    task?.cancel()
    finish(.givenUp)
  }

  private func giveUp() {
    notifications?.end()
    task?.cancel()
    finish(.givenUp)
  }

  /// - Returns: whether the link stays, for other managers or for the peripheral
  @discardableResult
  private func leave() -> Bool {
    guard let target else { return false }
    return target.radio.links.leave(target.peer, user: self)
  }

  func discoverServices(
    _ uuids: [BluetoothUUID]?, over client: GATTClient,
    completion: @escaping (Result<[Service], StackError>) -> Void
  ) {
    let target = self.target
    _ = client.discoverServices(uuids) { result in
      if let target, case .success(let services) = result {
        target.radio.links.connected.add(services.map(\.uuid), of: target.peer)
      }
      completion(result)
    }
  }

  // MARK: Values

  /// Begins or ends notifications, after the previous request for the same value.
  func setNotify(
    _ isWanted: Bool, _ characteristic: Characteristic, sink: @escaping (RawSpan, Instant) -> Void,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    guard let notifications else { return completion(.failure(Self.unlinked)) }
    notifications.set(isWanted, characteristic, sink: sink, completion: completion)
  }

  /// How long a write without response waits for room. A link that takes nothing for this long is about to be lost.
  private static let roomTime = Duration.seconds(60)

  func write(
    _ value: [UInt8], to characteristic: Characteristic,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    guard let client else { return completion(.failure(Self.unlinked)) }
    _ = client.write(value, to: characteristic, completion: completion)
  }

  func writeWithoutResponse(
    _ value: [UInt8], to characteristic: Characteristic, completion: @escaping () -> Void
  ) {
    guard let client else { return completion() }
    client.postWithoutResponse(
      value, to: characteristic, characteristic.commandForm, within: Self.roomTime
    ) { _ in completion() }
  }

  /// How long the peripheral may take to connect once it has been heard.
  private static let attemptTime = Duration.seconds(10)

  func find(within time: Duration) async throws(StackError) -> BluetoothAddress {
    guard let target else { throw .cancelled }
    try await target.radio.links.untilReachable(
      target.peer, over: target.central, eagerUntil: eagerEnd, user: self)
    return target.peer.address
  }

  func connect(to address: BluetoothAddress, within time: Duration) async throws(StackError) -> GATTLink {
    guard let target else { throw .cancelled }
    let links = target.radio.links
    let request = ConnectionRequest(peer: address, deadline: min(time, Self.attemptTime))
    let link: GATTLink
    do throws(StackError) {
      link = try await links.connect(request, over: target.central, user: self)
    } catch {
      var error = error
      // The program gets the error that the controller has no room for another link.
      if error.code == .connectionFailed, error.fault == .refusal { error.fault = .final }
      throw error
    }
    guard !Task.isCancelled else {
      leave()
      throw .cancelled
    }
    connection = link
    notifications = Notifications(link.gatt)
    var handlers = SharedLinks.Handlers()
    handlers.servicesChanged = { [weak self] range in
      self?.notifications?.end(in: range)
      self?.handlers?.servicesChanged(range)
    }
    links.join(link, user: self, handlers)
    links.connected.add(target.central.lastHeard(of: target.peer)?.serviceUUIDs ?? [], of: target.peer)
    return link
  }

  /// The link is reported to the program here: its first request comes after those that make the link usable.
  func open(_ link: GATTLink) async throws(StackError) {
    handlers?.established()
    link.gatt.exchangeMTU { [weak self] result in
      if case .success(let mtu) = result { self?.handlers?.mtu(mtu) }
    }
    guard target?.isNamed == false else { return }
    _ = link.gatt.run({ ReadByUUID(GATTUUID.deviceName, limit: 1) }) { [weak self] result in
      guard case .success(let values) = result, let value = values.first?.value, !value.isEmpty else {
        return
      }
      self?.handlers?.name(String(printable: value))
    }
  }

  /// The manager gives it up when the state of the adapter demands it.
  func recoverAdapter(within time: Duration) async throws(StackError) {
    try await target?.radio.untilUsable(within: time)
  }

  func release(_ link: GATTLink) async {}

  func failed(
    _ failure: StackError, in phase: ReconnectPolicy.Phase, hasFlowed: Bool,
    next: ReconnectPolicy.Action
  ) -> StackError {
    if next == .giveUp { leave() }
    return failure
  }
}

// MARK: The steps of a link
