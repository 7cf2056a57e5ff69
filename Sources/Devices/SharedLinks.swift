import ATT
import GAP
import GATTClient
import HaloBluetoothCore

/// The links of a radio whose programs do not know of each other. A controller has one link to a device: those that connect to
/// the same one share it, and it ends when the last of them leaves.
@BluetoothActor
package final class SharedLinks {
  private struct Entry {
    let connection: GATTLink
    var users: [(id: ObjectIdentifier, servicesChanged: (HandleRange) -> Void)] = []
  }

  private var entries: [BluetoothAddress: Entry] = [:]
  private var waiting: [(id: ObjectIdentifier, address: BluetoothAddress, take: (GATTLink) -> Void)] = []

  /// The devices that are connected.
  package nonisolated let connected = ConnectedServices()

  nonisolated init() {}

  /// The connection to a peripheral; nil if there is none.
  package func connection(of address: BluetoothAddress) -> GATTLink? {
    entries[address].flatMap { $0.connection.isConnected ? $0.connection : nil }
  }

  /// Takes part in a link, the first time or of another user.
  ///
  /// - Parameter servicesChanged: as for ``GATTClient/whenServicesChanged(_:)``
  package func join(
    _ connection: GATTLink, user: AnyObject, servicesChanged: @escaping (HandleRange) -> Void
  ) {
    let address = connection.peer
    let id = ObjectIdentifier(user)
    waiting.removeAll { $0.id == id && $0.address == address }
    if entries[address]?.connection !== connection {
      entries[address] = Entry(connection: connection)
      connected.connected(address)
      connection.gatt.whenServicesChanged { [weak self] range in
        for user in self?.entries[address]?.users ?? [] { user.servicesChanged(range) }
      }
      connection.whenDisconnected { [weak self, weak connection] _ in
        if self?.entries[address]?.connection === connection { self?.remove(address) }
      }
    }
    entries[address]?.users.append((id, servicesChanged))
    let takers = waiting.filter { $0.address == address }
    waiting.removeAll { $0.address == address }
    for taker in takers { taker.take(connection) }
  }

  /// Waits for a link that another user establishes; the device does not advertise then. Nothing is called after ``leave``.
  package func whenLinked(to address: BluetoothAddress, user: AnyObject, take: @escaping (GATTLink) -> Void) {
    waiting.append((ObjectIdentifier(user), address, take))
  }

  /// Leaves a link, or stops waiting for it. The link ends with the last user.
  ///
  /// - Returns: whether others stay
  @discardableResult
  package func leave(_ address: BluetoothAddress, user: AnyObject) -> Bool {
    let id = ObjectIdentifier(user)
    waiting.removeAll { $0.id == id && $0.address == address }
    entries[address]?.users.removeAll { $0.id == id }
    guard let entry = entries[address] else { return false }
    guard entry.users.isEmpty else { return true }
    // Who comes now gets a link of its own, not one that is about to end.
    remove(address)
    entry.connection.end()
    return false
  }

  private func remove(_ address: BluetoothAddress) {
    entries[address] = nil
    connected.ended(address)
  }
}
