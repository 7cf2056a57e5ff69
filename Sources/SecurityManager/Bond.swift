import HCI
import HaloBluetoothCore
import HaloGATT

/// What is kept of a pairing with a peer, so that it is made once (Core Specification Vol 3, Part H, 2.4).
///
/// All keys are 16 bytes, least significant first, as on the wire.
package struct Bond: Hashable, Sendable {
  /// The address of the peer that stays: public, or static random.
  package var peer: BluetoothAddress
  /// The address of this side that stays, at the time of the pairing.
  package var own: BluetoothAddress
  /// The peer's Identity Resolving Key; nil if its address does not change.
  package var identityResolvingKey: [UInt8]?
  /// This side's Identity Resolving Key, by which the peer knows it at a private address; nil if the peer does not have it.
  package var ownIdentityResolvingKey: [UInt8]?
  /// The key with which this side encrypts the link as the central. LE Secure Connections has one key for both roles.
  package var keyAsCentral: LongTermKey?
  /// The key that this side is asked for as the peripheral.
  package var keyAsPeripheral: LongTermKey?
  /// Whether the keys come from LE Secure Connections.
  package var isSecureConnections: Bool
  /// The peer's Connection Signature Resolving Key, and the lowest counter that is valid for its next signature.
  package var peerSigning: SigningKey?
  /// The key of this side's signatures, and the counter of the next one.
  package var ownSigning: SigningKey?
  /// What a server of this side has to know of the peer as its client; nil if it has used none.
  package var client: ClientRecord?
  /// The name of the peer; nil if unknown.
  package var name: String?

  package init(peer: BluetoothAddress, own: BluetoothAddress, isSecureConnections: Bool) {
    self.peer = peer
    self.own = own
    self.isSecureConnections = isSecureConnections
  }

  /// Whether this side may connect to the peer by this bond, and knows it in scans. One that has paired with a server of this
  /// side, while nobody has compared a number, can say that it is any other device: it is known when it connects, and has no key
  /// for the other role.
  package var isOfChosenPeer: Bool { keyAsCentral != nil }

  /// Whether it counts for links on which this side has a role.
  package func counts(for role: LERole) -> Bool { role == .peripheral || isOfChosenPeer }

  /// Whether both come from one pairing.
  fileprivate func hasKeys(of other: Bond?) -> Bool {
    keyAsCentral == other?.keyAsCentral && keyAsPeripheral == other?.keyAsPeripheral
  }

  /// A key of signatures, with a counter that never goes back.
  package struct SigningKey: Hashable, Sendable {
    package var key: [UInt8]
    package var counter: UInt32

    package init(key: [UInt8], counter: UInt32 = 0) { (self.key, self.counter) = (key, counter) }
  }

  /// The security of a link that is encrypted with the bond's keys.
  package var strength: PairingStrength {
    let keys = [keyAsCentral, keyAsPeripheral].compactMap { $0 }
    return PairingStrength(
      isAuthenticated: !keys.isEmpty && keys.allSatisfy(\.isAuthenticated),
      isSecureConnections: isSecureConnections, keySize: keys.map(\.size).min() ?? 0)
  }
}

/// How much a pairing protects.
package struct PairingStrength: Hashable, Sendable, CustomStringConvertible {
  /// Whether it was protected against a man in the middle.
  package var isAuthenticated: Bool
  package var isSecureConnections: Bool
  /// In bytes.
  package var keySize: Int

  package init(isAuthenticated: Bool, isSecureConnections: Bool, keySize: Int) {
    self.isAuthenticated = isAuthenticated
    self.isSecureConnections = isSecureConnections
    self.keySize = keySize
  }

  /// `authenticated, LE Secure Connections, key of 16 bytes`.
  package var description: String {
    "\(isAuthenticated ? "" : "not ")authenticated, LE \(isSecureConnections ? "Secure Connections" : "legacy pairing"), "
      + "key of \(keySize) bytes"
  }

  /// Whether it protects as much as another one in each respect.
  package func isAtLeast(_ other: PairingStrength) -> Bool {
    (isAuthenticated || !other.isAuthenticated) && (isSecureConnections || !other.isSecureConnections)
      && keySize >= other.keySize
  }
}

/// The bonds of this user, which outlive the program. Others of the user's programs may change them at any time.
@BluetoothActor
package protocol BondStore: AnyObject {
  /// All bonds, the newest last.
  var bonds: [Bond] { get }
  /// Reads the bonds, before links are made that may need one of them.
  ///
  /// - Throws: why they can't be known
  func check() throws(BondStoreError)
  /// Makes a change, which is seen in ``bonds`` at once.
  ///
  /// - Parameter completion: called once, at once or later: when the change is kept also if the program is killed, with the bond
  ///   that it was made to, as it was before; or with why it can't be kept
  func make(_ change: BondChange, completion: @escaping (Result<Bond?, BondStoreError>) -> Void)
  /// Waits until all is kept.
  func finish() async
}

/// A change of a store of bonds. It is made to what is stored then, which another program may have changed.
package enum BondChange: Sendable {
  /// Keeps a bond, in place of the one with the same peer and the same own address.
  ///
  /// The second bond is the one that this program knew when it agreed to the pairing. Another one, which the user has made
  /// since, stays if the new one is not of a chosen peer.
  case store(Bond, inPlaceOf: Bond? = nil)
  /// Changes a bond, if there still is one with its peer and its own address.
  case update(Bond, @Sendable (inout Bond) -> Void)

  package var peer: BluetoothAddress { bond.peer }

  private var bond: Bond {
    switch self {
    case .store(let bond, _), .update(let bond, _): bond
    }
  }

  /// Makes the change. A bond that is stored anew becomes the newest one.
  ///
  /// - Returns: the bond as it was before; nil if there was none
  @discardableResult
  package func make(in bonds: inout [Bond]) throws(BondStoreError) -> Bond? {
    let index = bonds.lastIndex { $0.peer == bond.peer && $0.own == bond.own }
    let old = index.map { bonds[$0] }
    switch self {
    case .store(let new, let known):
      if let old, old.isOfChosenPeer, !new.isOfChosenPeer, !old.hasKeys(of: known) {
        throw BondStoreError(
          "cannot store the bond with \(peer): it was paired with by another program since then")
      }
      if let index { bonds.remove(at: index) }
      bonds.append(new)
    case .update(_, let change): if let index { change(&bonds[index]) }
    }
    return old
  }
}

/// Why bonds are not known, or could not be kept or forgotten.
package struct BondStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  /// Whether what is stored is damaged, or of another version.
  package let isDamage: Bool

  package init(_ description: String, isDamage: Bool = false) {
    (self.description, self.isDamage) = (description, isDamage)
  }
}
