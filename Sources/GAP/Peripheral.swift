import HCI
import HaloBluetoothCore
import HaloGATT

/// The peripheral role: advertises, and serves attributes to the centrals that connect (Core Specification Vol 3, Part C,
/// 2.2.2).
///
/// A ``Central`` may use the same adapter. The adapter is started once: by the central, or with ``Adapter/start()``.
@BluetoothActor
package final class Peripheral {
  /// The attributes that each central sees.
  package let database: AttributeDatabase
  /// The most links to centrals. Nothing is advertised while there are as many.
  package let maximumConnections: Int
  /// The links to centrals, the oldest first.
  package private(set) var connections: [GATTLink] = []
  /// The state of the advertisement as reported by the radio.
  package let status: AdvertisingStatus
  /// Called with each link to a central, before anything that the central sends is handled.
  package var onConnection: ((GATTLink) -> Void)?
  /// Which centrals are kept. It counts for links that are made afterwards.
  package var admission = LinkAdmission()
  /// Called when the link to a central is ended by the ``admission``, with the reason.
  package var onRefusal: ((BluetoothAddress, LinkAdmission.Refusal) -> Void)?

  /// When each link is looked at next: whether it is idle.
  private var looks: [ObjectIdentifier: Timers.Token] = [:]
  /// The links to centrals that may not connect, until they have ended.
  private var refused: [GATTLink] = []
  private let adapter: any Adapter
  private let set = AdvertisingSet()
  private var advertising: Advertising?

  /// - Parameters:
  ///   - adapter: the radio
  ///   - database: the attributes that each central sees
  ///   - maximumConnections: the most links to centrals
  ///   - status: that of the same advertisement with an earlier adapter
  package init(
    _ adapter: any Adapter, serving database: AttributeDatabase, maximumConnections: Int = 1,
    status: AdvertisingStatus = AdvertisingStatus()
  ) {
    self.adapter = adapter
    self.database = database
    self.maximumConnections = maximumConnections
    self.status = status
    set.onResult = { [weak self] error in
      guard let self, self.advertising != nil else { return }
      status.set(error)
    }
    adapter.onAccepted = { [weak self] link in
      guard let self else { return link.disconnect() }
      accept(link)
    }
  }

  /// Advertises until ``stopAdvertising()``, except while there are ``maximumConnections``.
  ///
  /// - Throws: if this radio does not advertise for programs
  package func startAdvertising(_ advertising: Advertising) throws(StackError) {
    let last = self.advertising
    self.advertising = advertising
    do throws(StackError) {
      try adapter.setAdvertising(isFull ? nil : advertising, in: set)
    } catch {
      self.advertising = last
      throw error
    }
  }

  /// Waits until the radio advertises, or need not, as there are ``maximumConnections``.
  ///
  /// - Throws: as ``AdvertisingStatus/untilOn(within:in:)``
  package func untilAdvertising(within limit: Duration?) async throws(StackError) {
    if !isFull { try await status.untilOn(within: limit, in: adapter.timers) }
  }

  /// Advertises no longer. The links stay.
  package func stopAdvertising() {
    advertising = nil
    status.clear()
    advertise()
  }

  /// Advertises no longer, and ends all links; each within a few seconds. Cancelling the task does not cancel this,
  /// as a central would keep its link.
  package func stop() async {
    stopAdvertising()
    for connection in connections + refused { await connection.disconnect() }
  }

  /// Whether the radio knows bonded devices at their private addresses.
  package var resolvesAddresses: Bool { adapter.security?.resolvesAddresses == true }

  private var isFull: Bool { connections.count >= maximumConnections }

  private func advertise() {
    // An adapter that advertises for programs throws nothing.
    try? adapter.setAdvertising(isFull ? nil : advertising, in: set)
  }

  private func accept(_ link: any ATTLink) {
    guard !isFull else { return link.disconnect() }
    let connection = GATTLink(
      link, timers: adapter.timers, peer: adapter.security?.bonded(.peripheral).identity(of: link.peer))
    guard admission.admits(connection.peer) else { return refuse(connection) }
    connection.serve(database)
    connections.append(connection)
    let id = ObjectIdentifier(connection)
    connection.whenDisconnected { [weak self, weak connection] _ in
      guard let self else { return }
      connections.removeAll { $0 === connection }
      adapter.timers.cancel(looks.removeValue(forKey: id))
      advertise()
    }
    advertise()
    if let limit = admission.idleLimit { look(at: connection, limit, since: adapter.timers.current) }
    onConnection?(connection)
  }

  private func refuse(_ connection: GATTLink) {
    refused.append(connection)
    connection.whenDisconnected { [weak self, weak connection] _ in
      self?.refused.removeAll { $0 === connection }
      self?.advertise()
    }
    connection.end()
    advertise()
    onRefusal?(connection.peer, .notAllowed)
  }

  /// Ends a link if it is idle, and looks at it again later if not.
  ///
  /// - Parameter begin: when it was made
  private func look(at connection: GATTLink, _ limit: Duration, since begin: Instant) {
    let next = LinkAdmission.nextLook(
      within: limit, afterActivity: max(connection.lastReceived ?? begin, begin),
      isSubscribed: connection.server?.hasSubscriptions ?? false, at: adapter.timers.current)
    guard let next else {
      onRefusal?(connection.peer, .idle(limit))
      return connection.end()
    }
    looks[ObjectIdentifier(connection)] = adapter.timers.schedule(at: next) { [weak self, weak connection] in
      guard let self, let connection, connection.isConnected else { return }
      look(at: connection, limit, since: begin)
    }
  }
}

/// The centrals that a peripheral admits and keeps: silent ones would take all links permanently.
package struct LinkAdmission: Hashable, Sendable {
  /// Why the link to a central is ended.
  package enum Refusal: Hashable, Sendable {
    /// It is not among those that may connect.
    case notAllowed
    /// It has sent nothing for this time, and wants no values.
    case idle(Duration)
  }

  /// The addresses of the centrals that may connect; nil for all. It does not count whether an address is random. A central
  /// that uses a resolvable private address has another one each quarter of an hour, and is only known to whom it is bonded with.
  package var allowed: [BluetoothAddress]?
  /// The longest time in which a central sends no ATT PDU; nil for no limit. The limit does not apply to a central that has
  /// subscribed to a value. A subscription to Service Changed does not count, as most centrals have it.
  package var idleLimit: Duration?

  package init(allowed: [BluetoothAddress]? = nil, idleLimit: Duration? = nil) {
    self.allowed = allowed
    self.idleLimit = idleLimit
  }

  fileprivate func admits(_ central: BluetoothAddress) -> Bool {
    allowed?.contains { $0.value == central.value } ?? true
  }

  /// When a link has to be looked at again.
  ///
  /// - Parameters:
  ///   - limit: the ``idleLimit``
  ///   - activity: when the central has last sent an ATT PDU, or has connected
  ///   - isSubscribed: whether it wants values
  ///   - now: the time
  /// - Returns: nil if the link is idle and has to be ended
  fileprivate static func nextLook(
    within limit: Duration, afterActivity activity: Instant, isSubscribed: Bool, at now: Instant
  ) -> Instant? {
    if now - activity < limit { return activity + limit }
    return isSubscribed ? now + limit : nil
  }
}
