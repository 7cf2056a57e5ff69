import Foundation
internal import HaloBluetoothCore
internal import HaloSystem

/// A central that is connected to this machine, of which a manager has one object while it is connected.
open class CBCentral: CBPeer {
  let peer: PeerIdentity
  private let length = LockedValue(20)

  init(_ peer: PeerIdentity) {
    self.peer = peer
    super.init(identifier: UUID(peer))
  }

  /// The most bytes of an update, the rest of which is cut.
  open var maximumUpdateValueLength: Int { length.withLock { $0 } }

  /// - Parameter mtu: the one of the link
  func take(mtu: Int) { length.withLock { $0 = min(mtu - 3, 512) } }
}

/// A request of a central.
open class CBATTRequest: NSObject {
  open var central: CBCentral
  open var characteristic: CBCharacteristic
  /// Where the value, or the part of it, begins.
  open var offset: Int
  /// The written value; for a read, set by the program to the value from the offset on.
  open var value: Data?

  /// Nil for a command, which has no answer. All parts of a long write have the same.
  let number: Int?

  init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?, number: Int?) {
    self.central = central
    self.characteristic = characteristic
    self.offset = offset
    self.value = value
    self.number = number
    super.init()
  }
}
