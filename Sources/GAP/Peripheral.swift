import GATTServer
import HCI
import HaloBluetoothCore

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
  /// What the radio says of the advertisement.
  package let status: AdvertisingStatus
  /// Called with each link to a central, before anything that the central sends is handled.
  package var onConnection: ((GATTLink) -> Void)?

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
      status.set(error.map { .hci($0) })
    }
    adapter.onAccepted = { [weak self] link in
      guard let self else { return link.disconnect() }
      accept(link)
    }
  }

  /// Advertises until ``stopAdvertising()``, except while there are ``maximumConnections``.
  ///
  /// - Throws: if this radio does not advertise for programs
  package func startAdvertising(_ advertising: Advertising) throws(GAPError) {
    let last = self.advertising
    self.advertising = advertising
    do throws(HCIError) {
      try adapter.setAdvertising(isFull ? nil : advertising, in: set)
    } catch {
      self.advertising = last
      throw .hci(error)
    }
  }

  /// Waits until the radio advertises, or need not, as there are ``maximumConnections``.
  ///
  /// - Throws: as ``AdvertisingStatus/untilOn(within:in:)``
  package func untilAdvertising(within limit: Duration?) async throws(GAPError) {
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
    for connection in connections { await connection.disconnect() }
  }

  private var isFull: Bool { connections.count >= maximumConnections }

  private func advertise() {
    // An adapter that advertises for programs throws nothing.
    try? adapter.setAdvertising(isFull ? nil : advertising, in: set)
  }

  private func accept(_ link: any ATTLink) {
    guard !isFull else { return link.disconnect() }
    let connection = GATTLink(link, timers: adapter.timers)
    connection.serve(database)
    connections.append(connection)
    connection.whenDisconnected { [weak self, weak connection] _ in
      self?.connections.removeAll { $0 === connection }
      self?.advertise()
    }
    advertise()
    onConnection?(connection)
  }
}
