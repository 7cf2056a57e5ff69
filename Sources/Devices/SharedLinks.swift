import ATT
import GAP
import GATTClient
import HCI
import HaloBluetoothCore

/// The links of a radio, in both roles. A controller has one link to a device, whichever side has made it: all who use the
/// device share the link, and one that this side has made ends when the last of them leaves.
@BluetoothActor
package final class SharedLinks {
  private struct Entry {
    let link: GATTLink
    /// Whether the device has made it. It is the device that ends it, then.
    var isAccepted: Bool
    var users: [(id: ObjectIdentifier, servicesChanged: (HandleRange) -> Void)] = []
  }

  /// Who waits for a link to a device that another user makes.
  private struct Waiting {
    let id: ObjectIdentifier
    let peer: PeerIdentity
    let take: (GATTLink) -> Void
  }

  private var entries: [PeerIdentity: Entry] = [:]
  private var waiting: [Waiting] = []

  /// The devices whose services are used.
  package nonisolated let connected = ConnectedServices()

  nonisolated init() {}

  /// The link to a device; nil if there is none.
  package func link(to peer: PeerIdentity) -> GATTLink? {
    entries[peer].flatMap { $0.link.isConnected ? $0.link : nil }
  }

  /// The devices with a link.
  package var peers: [PeerIdentity] { entries.keys.sorted { $0.address.value < $1.address.value } }

  /// A device has connected to this side.
  package func accepted(_ link: GATTLink) { add(link, isAccepted: true) }

  private func add(_ link: GATTLink, isAccepted: Bool) {
    let peer = link.identity
    guard entries[peer]?.link !== link, link.isConnected else { return }
    entries[peer] = Entry(link: link, isAccepted: isAccepted)
    link.gatt.whenServicesChanged { [weak self, weak link] range in
      guard let self, let entry = entries[peer], entry.link === link else { return }
      for user in entry.users { user.servicesChanged(range) }
    }
    link.whenDisconnected { [weak self, weak link] _ in
      if self?.entries[peer]?.link === link { self?.remove(peer) }
    }
    let takers = waiting.filter { $0.peer == peer }
    waiting.removeAll { $0.peer == peer }
    for taker in takers { taker.take(link) }
  }

  /// Takes part in a link, the first time or of another user.
  ///
  /// - Parameter servicesChanged: as for ``GATTClient/whenServicesChanged(_:)``
  package func join(
    _ link: GATTLink, user: AnyObject, servicesChanged: @escaping (HandleRange) -> Void = { _ in }
  ) {
    let id = ObjectIdentifier(user)
    waiting.removeAll { $0.id == id && $0.peer == link.identity }
    add(link, isAccepted: false)
    guard let entry = entries[link.identity], entry.link === link else { return }
    if entry.users.isEmpty { connected.connected(link.identity) }
    entries[link.identity]?.users.append((id, servicesChanged))
  }

  /// Waits for a link that another user or the device makes; the device does not advertise then. Nothing is called after
  /// ``leave``.
  package func whenLinked(to peer: PeerIdentity, user: AnyObject, take: @escaping (GATTLink) -> Void) {
    waiting.append(Waiting(id: ObjectIdentifier(user), peer: peer, take: take))
  }

  /// Waits until there is a link to a device, or one can be made, as the device advertises. It has no deadline, as the device
  /// may come at any time: see ``Central/untilHeard(_:eagerUntil:)``.
  package func untilReachable(
    _ peer: PeerIdentity, over central: Central, eagerUntil eagerEnd: Instant, user: AnyObject
  ) async throws(GAPError) {
    guard link(to: peer) == nil else { return }
    try await awaitCallback { (done: @escaping (Result<Void, GAPError>) -> Void) in
      var search: Task<Void, Never>?
      let end = OneShot { (result: Result<Void, GAPError>) in
        self.stopWaiting(user, peer)
        done(result)
        search?.cancel()
      }
      whenLinked(to: peer, user: user) { _ in end(.success(())) }
      search = BluetoothActor.run {
        do throws(GAPError) {
          try await central.untilHeard(peer, eagerUntil: eagerEnd)
          end(.success(()))
        } catch {
          end(.failure(error))
        }
      }
      return { end(.failure(.hci(.cancelled))) }
    }
  }

  /// Gives the link that there is, or makes one; it is also taken when another user or the device makes it meanwhile.
  ///
  /// - Parameters:
  ///   - request: the device, the link's parameters and the deadline
  ///   - central: makes it
  ///   - user: who has to ``join`` it
  ///   - prepare: called with a new link before anything that the device sends is handled
  /// - Throws: why there is none, after the request's deadline at the latest
  package func connect(
    _ request: ConnectionRequest, over central: Central, user: AnyObject,
    prepare: @escaping (GATTLink) -> Void = { _ in }
  ) async throws(GAPError) -> GATTLink {
    if let link = link(to: request.identity) { return link }
    return try await awaitCallback { (done: @escaping (Result<GATTLink, GAPError>) -> Void) in
      var cancel: (() -> Void)?
      let end = OneShot { (result: Result<GATTLink, GAPError>) in
        self.stopWaiting(user, request.identity)
        done(result)
        cancel.take()?()
      }
      whenLinked(to: request.identity, user: user) { end(.success($0)) }
      let stop = central.connect(request) { result in
        cancel = nil
        guard case .success(let link) = result else {
          end(result)
          return
        }
        guard end.isPending else { return link.end() }
        prepare(link)
        self.add(link, isAccepted: false)
        end(result)
      }
      if end.isPending { cancel = stop } else { stop() }
      return { end(.failure(.hci(.cancelled))) }
    }
  }

  private func stopWaiting(_ user: AnyObject, _ peer: PeerIdentity) {
    let id = ObjectIdentifier(user)
    waiting.removeAll { $0.id == id && $0.peer == peer }
  }

  /// Leaves a link, or stops waiting for it. A link that this side has made ends with the last user.
  ///
  /// - Returns: whether it stays, for others or for the device
  @discardableResult
  package func leave(_ peer: PeerIdentity, user: AnyObject) -> Bool {
    stopWaiting(user, peer)
    let id = ObjectIdentifier(user)
    entries[peer]?.users.removeAll { $0.id == id }
    guard let entry = entries[peer] else { return false }
    guard entry.users.isEmpty, !entry.isAccepted else { return true }
    // Who comes now gets a link of its own, not one that is about to end.
    remove(peer)
    entry.link.end()
    return false
  }

  private func remove(_ peer: PeerIdentity) {
    entries[peer] = nil
    connected.ended(peer)
  }
}
