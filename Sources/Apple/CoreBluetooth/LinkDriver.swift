internal import ATT
import Foundation
internal import GAP
internal import GATTClient
internal import HaloGATT
internal import HaloDevices
package import HaloRaw

/// The loop's half of one link to a peripheral. Attributes are valid on the link on which they were discovered.
@BluetoothActor
package final class LinkDriver {
  /// Why an operation fails when there is no link any more.
  static let unlinked = GATTError.att(.closed("disconnected"))

  /// The link; nil before it and after it.
  private(set) var connection: GATTLink?
  /// Its client.
  var client: GATTClient? { connection?.gatt }
  /// The links of the radio.
  private weak var links: SharedLinks?

  private struct Notifying {
    var subscription: Subscription?
    var isBusy = false
    var waiting: [() -> Void] = []
  }

  /// By the handle of the value.
  private var notifying: [AttributeHandle: Notifying] = [:]

  /// What the queue's half gets.
  struct Handlers {
    /// Called when the link counts as one of the radio, before anything else: the program may ask for it at once.
    var established: () -> Void
    var servicesChanged: (HandleRange) -> Void
    var mtu: (Int) -> Void
    var name: (String) -> Void
  }

  package nonisolated init() {}

  /// Takes over a link. The MTU is exchanged first, and Service Changed subscribed to, as on Apple's systems.
  ///
  /// - Parameters:
  ///   - links: those of the radio, which other managers may use
  ///   - isNamed: whether the name of the peripheral is known; otherwise it is read
  func attach(_ connection: GATTLink, of links: SharedLinks?, isNamed: Bool, _ handlers: Handlers) {
    self.connection = connection
    self.links = links
    let client = connection.gatt
    links?.join(connection, user: self) { [weak self] range in
      self?.endNotifications(in: range)
      handlers.servicesChanged(range)
    }
    handlers.established()
    client.exchangeMTU { result in
      if case .success(let mtu) = result { handlers.mtu(mtu) }
    }
    client.watchServiceChanges()
    guard !isNamed else { return }
    _ = client.run({ ReadByUUID(GATTUUID.deviceName, limit: 1) }) { result in
      guard case .success(let values) = result, let value = values.first?.value, !value.isEmpty else {
        return
      }
      handlers.name(String(printable: value))
    }
  }

  /// - Parameter unsubscribes: whether the link stays, for other managers
  func detach(unsubscribes: Bool = false) {
    let client = self.client
    let left = notifying
    connection = nil
    notifying = [:]
    guard unsubscribes else { return }
    for case let subscription? in left.values.map(\.subscription) {
      client?.unsubscribe(subscription) { _ in }
    }
  }

  func discoverServices(
    _ uuids: [BluetoothUUID]?, over client: GATTClient,
    completion: @escaping (Result<[Service], GATTError>) -> Void
  ) {
    let peer = connection?.peer
    _ = client.discoverServices(uuids) { [links] result in
      if let peer, case .success(let services) = result {
        links?.connected.add(services.map(\.uuid), of: peer)
      }
      completion(result)
    }
  }

  // MARK: Notifications

  /// Begins or ends notifications, after the previous request for the same value.
  func setNotify(
    _ isWanted: Bool, _ characteristic: Characteristic, sink: @escaping (RawSpan, Instant) -> Void,
    completion: @escaping (Result<Void, GATTError>) -> Void
  ) {
    guard let client else { return completion(.failure(Self.unlinked)) }
    let handle = characteristic.valueHandle
    let state = notifying[handle] ?? Notifying()
    guard !state.isBusy else {
      notifying[handle]?.waiting.append { [weak self] in
        guard let self else { return completion(.failure(.cancelled)) }
        setNotify(isWanted, characteristic, sink: sink, completion: completion)
      }
      return
    }
    guard isWanted != (state.subscription != nil) else { return completion(.success(())) }
    notifying[handle] = state
    notifying[handle]?.isBusy = true
    if let subscription = state.subscription {
      client.unsubscribe(subscription) { [weak self] result in
        completion(result)
        self?.settle(handle, nil)
      }
    } else {
      _ = client.subscribe(to: characteristic, sink: sink) { [weak self] result in
        completion(result.map { _ in })
        guard let self, self.client === client else {
          // Left in between; the link may stay.
          if case .success(let subscription) = result { client.unsubscribe(subscription) { _ in } }
          return
        }
        settle(handle, try? result.get())
      }
    }
  }

  private func settle(_ handle: AttributeHandle, _ subscription: Subscription?) {
    guard let waiting = notifying[handle]?.waiting else { return }
    notifying[handle] = subscription.map { Notifying(subscription: $0) }
    for action in waiting { action() }
  }

  /// A characteristic that is discovered again is subscribed to again by the program.
  private func endNotifications(in range: HandleRange) {
    for (handle, state) in notifying where range.contains(handle) {
      if let subscription = state.subscription { client?.unsubscribe(subscription) { _ in } }
      if !state.isBusy { notifying[handle] = nil }
    }
  }

  // MARK: Writes

  /// How long a write without response waits for room. A link that takes nothing for this long is about to be lost.
  private static let roomTime = Duration.seconds(60)

  func write(
    _ value: [UInt8], to characteristic: Characteristic,
    completion: @escaping (Result<Void, GATTError>) -> Void
  ) {
    guard let client else { return completion(.failure(Self.unlinked)) }
    _ = client.write(value, to: characteristic, completion: completion)
  }

  func writeWithoutResponse(
    _ value: [UInt8], to characteristic: Characteristic, completion: @escaping () -> Void
  ) {
    guard let client else { return completion() }
    client.postWithoutResponse(value, to: characteristic, within: Self.roomTime) { _ in completion() }
  }
}
