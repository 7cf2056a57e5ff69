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
  /// Why the radio does not advertise; nil if it does, or need not. It is asked again, with longer and longer pauses, of ten
  /// seconds at most.
  package private(set) var advertisingRefusal: GAPError?
  /// Called with nil when the radio advertises, the first time and after a refusal; and with each new reason when it refuses to.
  package var onAdvertising: ((GAPError?) -> Void)?
  /// Called with each link to a central, before anything that the central sends is handled.
  package var onConnection: ((GATTLink) -> Void)?

  private let adapter: any Adapter
  private let set = AdvertisingSet()
  private var advertising: Advertising?
  /// Whether the radio has begun to advertise since it was asked, and has not refused it since.
  private var isAdvertised = false

  /// - Parameters:
  ///   - adapter: the radio
  ///   - database: the attributes that each central sees
  ///   - maximumConnections: the most links to centrals
  package init(_ adapter: any Adapter, serving database: AttributeDatabase, maximumConnections: Int = 1) {
    self.adapter = adapter
    self.database = database
    self.maximumConnections = maximumConnections
    set.onResult = { [weak self] error in self?.advertisingResulted(error.map { .hci($0) }) }
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

  private func advertisingResulted(_ refusal: GAPError?) {
    let isNew = refusal == nil ? !isAdvertised : refusal != advertisingRefusal
    isAdvertised = refusal == nil
    advertisingRefusal = refusal
    if isNew, advertising != nil { onAdvertising?(refusal) }
  }

  /// Advertises no longer. The links stay.
  package func stopAdvertising() {
    advertising = nil
    advertisingRefusal = nil
    isAdvertised = false
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
