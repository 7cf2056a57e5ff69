import HaloBluetoothCore
import HaloSystem
import HaloSimulation

/// A simulated medium with a name: the radios of this process that are opened on it hear each other. It exists for as long as
/// one of them is open.
@BluetoothActor
package final class SharedMedium {
  private static var mediums: [String: SharedMedium] = [:]
  /// The first address; the next radio has the next one.
  private static let firstAddress: UInt64 = 0x0200_0000_0001

  package let medium: RadioMedium
  private let name: String
  /// Nil for the time of the clock.
  private let time: VirtualTime?
  private var addresses: Set<BluetoothAddress> = []
  private var made: UInt64 = 0

  private init(_ name: String, isFast: Bool) {
    self.name = name
    time = isFast ? EpollLoop.shared.makeVirtualTime() : nil
    medium = RadioMedium(
      timers: time?.timers ?? EpollLoop.shared.timers, cryptography: LibcryptoCryptography.shared)
  }

  /// The air of a name.
  ///
  /// - Parameter isFast: whether its time is virtual; of no account for one that is there
  package static func named(_ name: String, isFast: Bool) -> SharedMedium {
    if let medium = mediums[name] { return medium }
    let medium = SharedMedium(name, isFast: isFast)
    mediums[name] = medium
    return medium
  }

  /// Another radio on the air.
  ///
  /// - Parameter address: its address; nil for the next one
  /// - Returns: the transport, and a closure to call when the radio is closed
  /// - Throws: `.cannotOpen` if another radio has the address
  package func makeTransport(
    _ address: BluetoothAddress?
  ) throws(StackError) -> (SimulatedTransport, leave: OneShot<Void>) {
    let address = address ?? freeAddress()
    guard addresses.insert(address).inserted else {
      throw .cannotOpen("virtual:air=\(name)", "another radio has the address \(address)")
    }
    var options = ControllerOptions()
    options.address = address
    options.seed = made + 1
    made += 1
    let leave = OneShot<Void> { [self] in
      addresses.remove(address)
      guard addresses.isEmpty else { return }
      Self.mediums[name] = nil
      if let time { EpollLoop.shared.end(time) }
    }
    return (SimulatedTransport(medium, options), leave)
  }

  private func freeAddress() -> BluetoothAddress {
    var number = Self.firstAddress + made
    while addresses.contains(BluetoothAddress(number, .public)) { number += 1 }
    return BluetoothAddress(number, .public)
  }
}
