import HCI
import HaloBluetoothCore

// The third phase: the keys that both sides give each other, over the encrypted link (Core Specification Vol 3, Part H,
// 2.4.3 and 3.6.1). The responder is the first.

/// The keys that the peer has sent so far.
struct ReceivedKeys: Hashable {
  var longTermKey: [UInt8]?
  var random: UInt64 = 0
  var diversifier: UInt16 = 0
  var identityResolvingKey: [UInt8]?
  var identity: BluetoothAddress?
  var signatureResolvingKey: [UInt8]?
}

extension Pairing {
  private var ownKeys: KeyDistribution { isInitiator ? response.initiatorKeys : response.responderKeys }
  private var peerKeys: KeyDistribution { isInitiator ? response.responderKeys : response.initiatorKeys }

  /// The PDUs of a side, in their order.
  private func codes(of keys: KeyDistribution) -> [SecurityManagerCode] {
    var codes: [SecurityManagerCode] = []
    // In LE Secure Connections, both sides have the key already.
    if keys.contains(.encryption), !isSecureConnections {
      codes += [.encryptionInformation, .centralIdentification]
    }
    if keys.contains(.identity) { codes += [.identityInformation, .identityAddressInformation] }
    if keys.contains(.signing) { codes.append(.signingInformation) }
    return codes
  }

  /// The link is encrypted.
  mutating func beginDistribution() {
    if !isInitiator { distribute() }
    expect(codes(of: peerKeys))
  }

  private mutating func expect(_ codes: [SecurityManagerCode]) {
    state = .keys(codes)
    guard codes.isEmpty else { return }
    if isInitiator { distribute() }
    finish(result())
  }

  private mutating func distribute() {
    let secrets = setup.secrets
    for code in codes(of: ownKeys) {
      switch code {
      case .encryptionInformation: send(EncryptionInformation { $0.longTermKey = ownLongTermKey.value })
      case .centralIdentification:
        send(
          CentralIdentification {
            $0.diversifier = secrets.longTermKey.diversifier
            $0.random = secrets.longTermKey.random
          })
      case .identityInformation:
        send(IdentityInformation { $0.identityResolvingKey = secrets.identityResolvingKey })
      case .identityAddressInformation: send(IdentityAddressInformation { $0.address = secrets.identity })
      default: send(SigningInformation { $0.signatureResolvingKey = secrets.signatureResolvingKey })
      }
    }
  }

  mutating func take(key pdu: [UInt8], _ codes: [SecurityManagerCode]) throws(PairingFailure) {
    guard let code = codes.first, pdu.first == code.rawValue else { throw .local(.unspecifiedReason) }
    switch code {
    case .encryptionInformation:
      received.longTermKey = try read(pdu, as: EncryptionInformation.self).longTermKey
    case .centralIdentification:
      let name = try read(pdu, as: CentralIdentification.self)
      (received.random, received.diversifier) = (name.random, name.diversifier)
    case .identityInformation:
      received.identityResolvingKey = try read(pdu, as: IdentityInformation.self).identityResolvingKey
    case .identityAddressInformation:
      received.identity = try read(pdu, as: IdentityAddressInformation.self).address
    default: received.signatureResolvingKey = try read(pdu, as: SigningInformation.self).signatureResolvingKey
    }
    expect(Array(codes.dropFirst()))
  }

  /// The key that this side distributes in LE legacy pairing, as long as was agreed on.
  private var ownLongTermKey: LongTermKey {
    var key = setup.secrets.longTermKey
    key.value = SecurityFunctions.shorten(key.value, to: keySize)
    (key.size, key.isAuthenticated) = (keySize, method.isAuthenticated)
    return key
  }

  private func result() -> PairingResult {
    var result = PairingResult(
      method: method,
      strength: PairingStrength(
        isAuthenticated: method.isAuthenticated, isSecureConnections: isSecureConnections, keySize: keySize),
      isBonding: request.authentication.wantsBonding && response.authentication.wantsBonding,
      usesDebugKey: isSecureConnections && (peerKey.isDebugKey || setup.secrets.keyPair.publicKey.isDebugKey))
    if isSecureConnections {
      (result.keyAsCentral, result.keyAsPeripheral) = (linkKey, linkKey)
    } else {
      let peers = received.longTermKey.map {
        LongTermKey(
          SecurityFunctions.shorten($0, to: keySize), random: received.random,
          diversifier: received.diversifier, isAuthenticated: method.isAuthenticated, size: keySize)
      }
      let own = ownKeys.contains(.encryption) ? ownLongTermKey : nil
      // A link is encrypted with the key that its peripheral has distributed.
      (result.keyAsCentral, result.keyAsPeripheral) = (peers, own)
    }
    (result.peerIdentity, result.peerIdentityResolvingKey) = identity()
    result.peerSignatureResolvingKey = received.signatureResolvingKey
    if ownKeys.contains(.identity) { result.ownIdentityResolvingKey = setup.secrets.identityResolvingKey }
    if ownKeys.contains(.signing) { result.ownSignatureResolvingKey = setup.secrets.signatureResolvingKey }
    return result
  }

  /// The identity of the peer, and the key that resolves its addresses. Neither is believed if it can't be right: a peer
  /// that uses an address that stays has no other one.
  private func identity() -> (BluetoothAddress?, [UInt8]?) {
    guard let identity = received.identity, let key = received.identityResolvingKey, identity.isIdentity,
      key.contains(where: { $0 != 0 }), !identity.isSameDevice(as: setup.secrets.identity),
      !setup.peerAddress.isIdentity || setup.peerAddress.isSameDevice(as: identity)
    else { return (nil, nil) }
    return (identity, key)
  }
}

extension BluetoothAddress {
  /// Whether it is an address that stays: a public one, or a static random one (Vol 6, Part B, 1.3).
  package var isIdentity: Bool {
    switch kind {
    case .public, .publicIdentity: value != 0 && value != 0xFFFF_FFFF_FFFF
    // The random part is neither all 0 nor all 1.
    case .random, .randomIdentity: value >> 46 == 3 && value != 0xFFFF_FFFF_FFFF && value != 0xC000_0000_0000
    default: false
    }
  }

  /// Whether both are the same address of the same type, as a controller may have resolved one of them.
  package func isSameDevice(as other: BluetoothAddress) -> Bool {
    value == other.value && typeBit == other.typeBit
  }
}
