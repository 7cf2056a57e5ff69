import HCI
import HaloBluetoothCore

/// All that a pairing is given at its beginning. Random values are handed in, so that a pairing can be repeated.
package struct PairingSetup: Sendable {
  /// The role of this side: the central initiates.
  package var role: LERole
  /// The address of this side on the link, as it is on the air.
  package var ownAddress: BluetoothAddress
  /// The address of the peer on the link, as it is on the air.
  package var peerAddress: BluetoothAddress
  /// What this side can do and wants. As a responder, it agrees to no more than the peer asks for.
  package var features: PairingFeatures
  /// The shortest key to agree to, in bytes.
  package var minimumKeySize = 16
  /// Whether Just Works is refused.
  package var requiresAuthentication = false
  /// Whether LE legacy pairing is refused.
  package var requiresSecureConnections = false
  package var allowsDebugKeys = false
  /// Whether the user is asked about Just Works.
  package var asksAboutJustWorks = false
  package var secrets: PairingSecrets
  package var outOfBand = OutOfBandData()

  package init(
    role: LERole, ownAddress: BluetoothAddress, peerAddress: BluetoothAddress, features: PairingFeatures,
    secrets: PairingSecrets
  ) {
    self.role = role
    self.ownAddress = ownAddress
    self.peerAddress = peerAddress
    self.features = features
    self.secrets = secrets
  }
}

/// The random values and keys of this side. All are 16 bytes, least significant first, unless it says otherwise.
package struct PairingSecrets: Sendable {
  /// The key pair of LE Secure Connections: a new one for each pairing.
  package var keyPair: P256KeyPair
  /// The random value of each round of the passkey; the first one is that of the other methods.
  package var nonces: [[UInt8]]
  /// The passkey to show: 0 to 999,999.
  package var passkey: UInt32
  /// The key to distribute in LE legacy pairing.
  package var longTermKey: LongTermKey
  /// This side's Identity Resolving Key and its identity.
  package var identityResolvingKey: [UInt8]
  package var identity: BluetoothAddress
  package var signatureResolvingKey: [UInt8]

  package init(
    keyPair: P256KeyPair, nonces: [[UInt8]], passkey: UInt32, longTermKey: LongTermKey,
    identityResolvingKey: [UInt8], identity: BluetoothAddress, signatureResolvingKey: [UInt8]
  ) {
    self.keyPair = keyPair
    self.nonces = nonces
    self.passkey = passkey
    self.longTermKey = longTermKey
    self.identityResolvingKey = identityResolvingKey
    self.identity = identity
    self.signatureResolvingKey = signatureResolvingKey
  }

  /// How many rounds the passkey has: one for each bit.
  package static let rounds = 20
}

/// What the two sides have of each other by another way than this link (2.3.5.6.4). Values are 16 bytes, least significant
/// first.
package struct OutOfBandData: Hashable, Sendable {
  /// The temporary key of LE legacy pairing.
  package var temporaryKey: [UInt8]?
  /// The random value that this side has given away with its confirm value.
  package var ownRandom: [UInt8]?
  package var peerRandom: [UInt8]?
  package var peerConfirm: [UInt8]?

  package init() {}

  /// What a tag on the peer says: its confirm and random value, or a temporary key.
  ///
  /// - Parameter bytes: AD structures (Supplement to the Core Specification, Part A, 1.6 and 1.8), as in an NFC record of
  ///   type `application/vnd.bluetooth.le.oob`; nil if they have neither
  package init?(tag bytes: [UInt8]) {
    for case .unknown(let type, let value) in AdvertisingData(bytes).structures where value.count == 16 {
      switch type {
      case .temporaryKey: temporaryKey = value
      case .secureConnectionsConfirm: peerConfirm = value
      case .secureConnectionsRandom: peerRandom = value
      default: break
      }
    }
    guard isOfPeer else { return nil }
  }

  /// Whether it shows that a peer is the right one.
  var isOfPeer: Bool { temporaryKey != nil || peerConfirm != nil && peerRandom != nil }
}

/// What a pairing has agreed on.
package struct PairingResult: Hashable, Sendable {
  package var method: PairingMethod
  package var strength: PairingStrength
  /// Whether both sides keep the keys.
  package var isBonding: Bool
  /// Whether a side has used the debug key of the specification: anybody can read the link.
  package var usesDebugKey: Bool
  package var keyAsCentral: LongTermKey?
  package var keyAsPeripheral: LongTermKey?
  package var peerIdentity: BluetoothAddress?
  package var peerIdentityResolvingKey: [UInt8]?
  /// This side's Identity Resolving Key, if it was distributed.
  package var ownIdentityResolvingKey: [UInt8]?
  package var peerSignatureResolvingKey: [UInt8]?
  /// The key of this side's signatures, if it was distributed.
  package var ownSignatureResolvingKey: [UInt8]?
}

/// Why a pairing has ended without a result.
package enum PairingFailure: Error, Hashable, Sendable {
  /// The peer has ended it with Pairing Failed.
  case peer(PairingFailureReason)
  /// This side has ended it with Pairing Failed.
  case local(PairingFailureReason)
  /// The link could not be encrypted with the key.
  case encryption
  /// Nothing has come for 30 seconds.
  case timeout
  /// The link has ended.
  case disconnected
}
