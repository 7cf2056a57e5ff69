import ATT
import GAP
import HCI
import HaloBluetoothCore

/// The links of a radio, in both roles. A controller has one link to a device, whichever side has made it: all users of the
/// device share the link, and one that this side has made ends when the last of them leaves.
@BluetoothActor
package final class SharedLinks {
  /// The events of a link that its user gets until it leaves.
  package struct Handlers {
    /// As for `GATTClient.whenServicesChanged(_:)`.
    package var servicesChanged: (HandleRange) -> Void = { _ in }
    /// As for `GATTLink.whenChanged(_:)`.
    package var changed: (LinkEvent) -> Void = { _ in }
    /// The link has ended; the user need not leave it.
    package var lost: (LinkLoss) -> Void = { _ in }

    package init() {}
  }

  private struct Entry {
    let link: GATTLink
    /// Whether the device has made the link. The device ends it, then.
    var isAccepted: Bool
    var users: [(id: ObjectIdentifier, handlers: Handlers)] = []
  }

  /// Who waits for a link to a device that another user makes.
  private struct Waiting {
    let id: ObjectIdentifier
    let peer: PeerIdentity
    let take: (GATTLink) -> Void
  }

  private var entries: [PeerIdentity: Entry] = [:]
  private var waiting: [Waiting] = []

  /// Gets each link that this side makes, and that its server is to serve, before anything that the device sends is handled.
  package var onMade: ((GATTLink) -> Void)?
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
      self?.tell(link) { $0.servicesChanged(range) }
    }
    link.whenChanged { [weak self, weak link] event in self?.tell(link) { $0.changed(event) } }
    link.whenDisconnected { [weak self, weak link] loss in
      guard let self, let users = entries[peer]?.users, entries[peer]?.link === link else { return }
      remove(peer)
      for user in users { user.handlers.lost(loss) }
    }
    if !isAccepted { onMade?(link) }
    let takers = waiting.filter { $0.peer == peer }
    waiting.removeAll { $0.peer == peer }
    for taker in takers { taker.take(link) }
  }

  private func tell(_ link: GATTLink?, _ body: (Handlers) -> Void) {
    guard let link, let entry = entries[link.identity], entry.link === link else { return }
    for user in entry.users { body(user.handlers) }
  }

  /// The links that this side has made.
  package var made: [GATTLink] {
    entries.values.filter { !$0.isAccepted }.map(\.link).sorted { $0.peer.value < $1.peer.value }
  }

  /// Takes part in a link, the first time or of another user, or with other handlers.
  package func join(_ link: GATTLink, user: AnyObject, _ handlers: Handlers = Handlers()) {
    let id = ObjectIdentifier(user)
    let peer = link.identity
    waiting.removeAll { $0.id == id && $0.peer == peer }
    add(link, isAccepted: false)
    guard let entry = entries[peer], entry.link === link else { return link.whenDisconnected(handlers.lost) }
    if entry.users.isEmpty { connected.connected(peer) }
    entries[peer]?.users.removeAll { $0.id == id }
    entries[peer]?.users.append((id, handlers))
  }

  /// Waits for a link that another user or the device makes; the device does not advertise then. Nothing is called after
  /// `leave`.
  package func whenLinked(to peer: PeerIdentity, user: AnyObject, take: @escaping (GATTLink) -> Void) {
    waiting.append(Waiting(id: ObjectIdentifier(user), peer: peer, take: take))
  }

  /// Waits until there is a link to a device, or one can be made, as the device advertises. It has no deadline, as the device
  /// may come at any time: see `Central.untilHeard(_:eagerUntil:)`.
  package func untilReachable(
    _ peer: PeerIdentity, over central: Central, eagerUntil eagerEnd: Instant, user: AnyObject
  ) async throws(StackError) {
    try await awaitCallback(unless: link(to: peer) != nil) {
      (done: @escaping (Result<Void, StackError>) -> Void) in
      var search: Task<Void, Never>?
      let end = OneShot { (result: Result<Void, StackError>) in
        self.stopWaiting(user, peer)
        done(result)
        search?.cancel()
      }
      whenLinked(to: peer, user: user) { _ in end(.success(())) }
      search = BluetoothActor.run {
        do throws(StackError) {
          try await central.untilHeard(peer, eagerUntil: eagerEnd)
          end(.success(()))
        } catch {
          end(.failure(error))
        }
      }
      return { end(.failure(.cancelled)) }
    }
  }

  /// Gives the link that there is, or makes one; it is also taken when another user or the device makes it meanwhile. The user
  /// has joined it then.
  ///
  /// - Parameters:
  ///   - request: the device, the link's parameters and the deadline
  ///   - central: makes it
  ///   - user: who joins it
  /// - Throws: why there is none, after the request's deadline at the latest
  package func connect(
    _ request: ConnectionRequest, over central: Central, user: AnyObject
  ) async throws(StackError) -> GATTLink {
    try await awaitCallback { (done: @escaping (Result<GATTLink, StackError>) -> Void) in
      var cancel: (() -> Void)?
      let end = OneShot { (result: Result<GATTLink, StackError>) in
        self.stopWaiting(user, request.identity)
        // Before the task goes on: another user may leave the link meanwhile.
        if case .success(let link) = result { self.join(link, user: user) }
        done(result)
        cancel.take()?()
      }
      let take = { (link: GATTLink) in
        link.encrypt(for: request) { result in end(result.map { link }) }
      }
      if let link = link(to: request.identity) {
        take(link)
        return { end(.failure(.cancelled)) }
      }
      whenLinked(to: request.identity, user: user, take: take)
      let stop = central.connect(request) { result in
        cancel = nil
        if case .success(let link) = result, !end.isPending { return link.end() }
        end(result)
      }
      if end.isPending { cancel = stop } else { stop() }
      return { end(.failure(.cancelled)) }
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
    // A user that comes now gets a link of its own, not one that is about to end.
    remove(peer)
    entry.link.end()
    return false
  }

  private func remove(_ peer: PeerIdentity) {
    entries[peer] = nil
    connected.ended(peer)
  }
}
