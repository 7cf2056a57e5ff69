import ATT
import BluetoothCore
import GATTClient

/// The links of a radio whose programs do not know of each other. A controller has one link to a device: those that connect to
/// the same one share it, and it ends when the last of them leaves.
@BluetoothActor
package final class SharedLinks {
  private struct Entry {
    let client: GATTClient
    var users: [(id: ObjectIdentifier, servicesChanged: (HandleRange) -> Void)] = []
  }

  private var entries: [BluetoothAddress: Entry] = [:]
  private var waiting: [(id: ObjectIdentifier, address: BluetoothAddress, take: (GATTClient) -> Void)] = []

  /// The devices that are connected.
  package nonisolated let connected = ConnectedServices()

  nonisolated init() {}

  /// The client of the link to a peripheral; nil if there is none.
  package func client(of address: BluetoothAddress) -> GATTClient? {
    entries[address].flatMap { $0.client.isConnected ? $0.client : nil }
  }

  /// Takes part in a link, the first time or of another user.
  ///
  /// - Parameter servicesChanged: as ``GATTClient/onServicesChanged``, which belongs to all users
  package func join(
    _ client: GATTClient, user: AnyObject, servicesChanged: @escaping (HandleRange) -> Void
  ) {
    let address = client.peer
    let id = ObjectIdentifier(user)
    waiting.removeAll { $0.id == id && $0.address == address }
    if entries[address]?.client !== client {
      entries[address] = Entry(client: client)
      connected.connected(address)
      client.onServicesChanged = { [weak self] range in
        for user in self?.entries[address]?.users ?? [] { user.servicesChanged(range) }
      }
      client.whenDisconnected { [weak self, weak client] _ in
        if self?.entries[address]?.client === client { self?.remove(address) }
      }
    }
    entries[address]?.users.append((id, servicesChanged))
    let takers = waiting.filter { $0.address == address }
    waiting.removeAll { $0.address == address }
    for taker in takers { taker.take(client) }
  }

  /// Waits for a link that another user establishes; the device does not advertise then. Nothing is called after ``leave``.
  package func whenLinked(to address: BluetoothAddress, user: AnyObject, take: @escaping (GATTClient) -> Void)
  {
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
    entry.client.end()
    return false
  }

  private func remove(_ address: BluetoothAddress) {
    entries[address] = nil
    connected.ended(address)
  }
}
