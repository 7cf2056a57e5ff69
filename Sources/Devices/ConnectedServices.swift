import HaloBluetoothCore
import HaloGATT
import Synchronization

/// The devices that a radio is connected to, and the services that are known of them, from any thread.
package final class ConnectedServices: Sendable {
  private struct Device {
    let peer: PeerIdentity
    var services: Set<BluetoothUUID>
  }

  /// Each device has these, discovered or not (Core Specification Vol 3, Part C, 12).
  private static let mandatory: Set = [GATTUUID.genericAccess, GATTUUID.genericAttribute]

  /// In the order of their connections.
  private let devices = Mutex<[Device]>([])

  init() {}

  func connected(_ peer: PeerIdentity) {
    devices.withLock { devices in
      devices.removeAll { $0.peer == peer }
      devices.append(Device(peer: peer, services: Self.mandatory))
    }
  }

  func ended(_ peer: PeerIdentity) {
    devices.withLock { $0.removeAll { $0.peer == peer } }
  }

  /// Adds services of a device, as it has advertised them or as they were discovered. They are kept while it is connected.
  package func add(_ services: some Sequence<BluetoothUUID>, of peer: PeerIdentity) {
    devices.withLock { devices in
      guard let index = devices.firstIndex(where: { $0.peer == peer }) else { return }
      devices[index].services.formUnion(services)
    }
  }

  /// The devices with at least one of the services; none for an empty list.
  package func devices(with services: some Sequence<BluetoothUUID>) -> [PeerIdentity] {
    devices.withLock { devices in
      devices.filter { !$0.services.isDisjoint(with: services) }.map(\.peer)
    }
  }
}
