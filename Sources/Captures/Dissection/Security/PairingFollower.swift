import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// Follows the pairing of a link, PDU by PDU, and says what each of them means (Core Specification Vol 3, Part H, 2.3). It
/// believes nothing: a PDU that does not fit is passed over.
struct PairingFollower {
  /// What is known besides the PDU.
  struct Context {
    var knowledge: SecurityKnowledge
    /// The addresses that the host, or the central on the air, may have on the link.
    var own: [BluetoothAddress]
    var peers: [BluetoothAddress]
    /// Whether these are the addresses that were used, as on the air.
    var knowsAddresses: Bool
    /// The packet's number.
    var number: Int
    var protection: ProtectionFollower.Protection
  }

  /// What one side has sent.
  struct Side {
    /// The whole PDU, and its fields.
    var pdu: [UInt8] = []
    var features = PairingFeatures()
    /// Least significant byte first.
    var publicKey: PairingPublicKey?
    var confirm: [UInt8] = []
    var random: [UInt8] = []
    var hasChecked = false
  }

  var initiator = Side()
  var responder = Side()
  /// The packet with the request; nil if no pairing is seen.
  var beginning: Int?
  private var requestIsSent = true
  /// Nil before the response.
  var method: PairingMethod?
  var isSecureConnections = false
  /// The key of LE legacy pairing, or what the rounds have shown of the passkey of Secure Connections.
  var passkey: UInt32?
  var round = 0
  /// Whether all passkeys were tried: once for each pairing.
  var hasTried = false
  /// The one of Secure Connections, if a private key is known.
  var sharedSecret: [UInt8]?
  private var distributedKey: [UInt8]?

  var keySize: Int {
    Int(min(initiator.features.maximumKeySize, responder.features.maximumKeySize))
  }

  /// What the key of this pairing is called; nil if there is no pairing, or if it is not so far.
  var keyInUse: String? {
    guard let beginning, let method, !initiator.random.isEmpty, !responder.random.isEmpty else { return nil }
    let key = isSecureConnections ? "the key" : "the short-term key"
    return "\(key) of the pairing at packet \(beginning) (\(Self.summary(method, isSecureConnections)))"
  }

  /// What has to precede encryption, and was not seen.
  var missingCheck: String? {
    guard beginning != nil, method != nil else { return nil }
    if isSecureConnections {
      return initiator.hasChecked && responder.hasChecked ? nil : "both sides have sent their DHKey Check"
    }
    return initiator.random.isEmpty || responder.random.isEmpty ? "both random values are there" : nil
  }

  static func summary(_ method: PairingMethod, _ isSecureConnections: Bool) -> String {
    let kind = isSecureConnections ? "LE Secure Connections" : "LE legacy pairing"
    return "\(kind), \(method), \(method.isAuthenticated ? "authenticated" : "not authenticated")"
  }

  static func shortKey(_ size: Int) -> SecurityNote {
    SecurityNote(.weakness, "a key of only \(size) bytes, which can be guessed more easily than one of 16")
  }

  mutating func take(_ pdu: [UInt8], isSent: Bool, _ context: Context) -> [SecurityNote] {
    guard let code = pdu.first.map(SecurityManagerCode.init) else { return [] }
    if code == .pairingRequest { return begin(pdu, isSent: isSent, context) }
    guard beginning != nil else { return [] }
    let isInitiator = isSent == requestIsSent
    switch code {
    case .pairingResponse where !isInitiator: return choose(pdu)
    case .pairingPublicKey:
      guard let key = read(pdu, as: PairingPublicKey.self) else { return [] }
      return take(key, isInitiator: isInitiator, context)
    case .pairingConfirm:
      guard let value = read(pdu, as: PairingConfirm.self)?.value else { return [] }
      return take(confirm: value, isInitiator: isInitiator)
    case .pairingRandom:
      guard let value = read(pdu, as: PairingRandom.self)?.value else { return [] }
      change(isInitiator) { $0.random = value }
      return isSecureConnections
        ? revealed(isInitiator: isInitiator, context) : revealedLegacy(isInitiator: isInitiator, context)
    case .pairingDHKeyCheck:
      guard let value = read(pdu, as: PairingDHKeyCheck.self)?.value else { return [] }
      change(isInitiator) { $0.hasChecked = true }
      return check(value, isInitiator: isInitiator, context)
    case .pairingFailed:
      self = PairingFollower()
      return [SecurityNote(.progress, "the pairing has ended; no key is kept")]
    case .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
      .signingInformation:
      return take(key: pdu, code, isSent: isSent, context)
    default: return []
    }
  }

  // MARK: Phase 1

  private mutating func begin(_ pdu: [UInt8], isSent: Bool, _ context: Context) -> [SecurityNote] {
    self = PairingFollower()
    guard let request = read(pdu, as: PairingRequest.self) else { return [] }
    (beginning, requestIsSent) = (context.number, isSent)
    (initiator.pdu, initiator.features) = (pdu, request.features)
    switch context.protection {
    case .encrypted: return [SecurityNote(.progress, "pairs anew over the encrypted link")]
    case .clear where context.peers.contains(where: context.knowledge.hasBond):
      return [
        SecurityNote(
          .attack,
          "pairs anew in clear, though there is a bond with this device: another one may have its address")
      ]
    case .clear, .unknown: return []
    }
  }

  private mutating func choose(_ pdu: [UInt8]) -> [SecurityNote] {
    guard let response = read(pdu, as: PairingResponse.self) else { return [] }
    (responder.pdu, responder.features) = (pdu, response.features)
    let chosen = PairingMethod.chosen(initiator.features, responder.features)
    (method, isSecureConnections) = (chosen.method, chosen.isSecureConnections)
    if chosen.method == .justWorks, !isSecureConnections { passkey = 0 }
    var notes = [
      SecurityNote(.method, "\(Self.summary(chosen.method, isSecureConnections)): \(reason(chosen.method))")
    ]
    if !(7...16).contains(keySize) {
      notes.append(SecurityNote(.fault, "a key has 7 to 16 bytes, not \(keySize)"))
    } else if keySize < 16 {
      notes.append(Self.shortKey(keySize))
    }
    return notes
  }

  private func reason(_ method: PairingMethod) -> String {
    let sides = [initiator.features, responder.features]
    let capabilities =
      "the initiator has \(sides[0].ioCapability), the responder has \(sides[1].ioCapability)"
    switch method {
    case .outOfBand:
      return isSecureConnections ? "a side has out-of-band data" : "both sides have out-of-band data"
    case .justWorks where !sides.contains(where: { $0.authentication.contains(.mitm) }):
      return "neither side wants MITM protection"
    case .justWorks, .numericComparison: return capabilities
    case .passkeyEntry(.initiator): return capabilities + "; the initiator's user types it"
    case .passkeyEntry(.responder): return capabilities + "; the responder's user types it"
    case .passkeyEntry(.both): return capabilities + "; both users type it"
    }
  }

  // MARK: Keys (3.6)

  private mutating func take(
    key pdu: [UInt8], _ code: SecurityManagerCode, isSent: Bool, _ context: Context
  ) -> [SecurityNote] {
    if let key = read(pdu, as: SigningInformation.self)?.signatureResolvingKey, let beginning {
      context.knowledge.add(
        signingKey: key, of: isSent ? context.own : context.peers, from: "the pairing at packet \(beginning)")
    }
    if let key = read(pdu, as: EncryptionInformation.self)?.longTermKey {
      distributedKey = key
    } else if read(pdu, as: CentralIdentification.self) != nil, let key = distributedKey, let beginning,
      let method
    {
      distributedKey = nil
      context.knowledge.add(
        key: SecurityFunctions.shorten(key, to: min(16, keySize)),
        from: "the key of the pairing at packet \(beginning) (\(Self.summary(method, isSecureConnections)))")
    }
    let wantsBond = [initiator, responder].allSatisfy { $0.features.authentication.wantsBonding }
    if wantsBond, context.protection == .encrypted, let peer = context.peers.first {
      context.knowledge.addBond(with: peer)
    }
    guard context.protection == .clear, code.isKey else { return [] }
    return [SecurityNote(.fault, "a key is sent in clear: whoever receives the packet has it")]
  }

  // MARK: Helpers

  func side(_ isInitiator: Bool) -> Side { isInitiator ? initiator : responder }

  mutating func change(_ isInitiator: Bool, _ body: (inout Side) -> Void) {
    if isInitiator { body(&initiator) } else { body(&responder) }
  }

  /// The addresses that the initiator and the responder may have.
  func addresses(_ context: Context) -> (initiator: [BluetoothAddress], responder: [BluetoothAddress]) {
    requestIsSent ? (context.own, context.peers) : (context.peers, context.own)
  }

  private func read<PDU: SecurityManagerPDU>(_ pdu: [UInt8], as type: PDU.Type) -> PDU? {
    try? PDU(pdu: pdu.span.bytes)
  }
}
