import HCI
import HaloBluetoothCore

// LE Secure Connections (Core Specification Vol 3, Part H, 2.3.5.6).

extension Pairing {
  private var ownKey: P256PublicKey { setup.secrets.keyPair.publicKey }
  /// The x coordinates as the functions take them.
  private var ownX: [UInt8] { ownKey.x.reversed() }
  private var peerX: [UInt8] { peerKey.x.reversed() }

  mutating func sendPublicKey() {
    send(
      PairingPublicKey {
        $0.x = ownKey.x.reversed()
        $0.y = ownKey.y.reversed()
      })
  }

  mutating func take(publicKey pdu: PairingPublicKey) throws(PairingFailure) {
    let key = P256PublicKey(x: pdu.x.reversed(), y: pdu.y.reversed())
    // This side's own key, or its negative, proves nothing (CVE-2020-26558).
    if key.x == ownKey.x { throw .local(.dhKeyCheckFailed) }
    if key.isDebugKey, !setup.allowsDebugKeys { throw .local(.authenticationRequirements) }
    peerKey = key
    let pair = setup.secrets.keyPair
    sharedSecret = try computed { functions throws(CryptographyError) in
      try functions.library.sharedSecret(pair, with: key).reversed()
    }
    if !isInitiator { sendPublicKey() }
    ownRandom = setup.secrets.nonces[0]
    switch method {
    case .justWorks, .numericComparison:
      state = isInitiator ? .confirm(0) : .random(0)
      if !isInitiator { try sendConfirm(0) }
    case .passkeyEntry:
      state = .confirm(0)
      if obtainTemporaryKey() { try secureConnectionsAgreed() }
    case .outOfBand:
      try checkOutOfBand()
      state = .random(0)
      if isInitiator { send(PairingRandom { $0.value = ownRandom }) }
    }
  }

  /// The passkey is there; or the user agrees, and the keys can be checked.
  mutating func secureConnectionsAgreed() throws(PairingFailure) {
    guard case .confirm = state else { return try agreedOnKeys() }
    if isInitiator { try sendConfirm(0) }
  }

  // MARK: Confirm and random values

  private mutating func sendConfirm(_ round: Int) throws(PairingFailure) {
    ownRandom = setup.secrets.nonces[round]
    let (u, v, x, z) = (ownX, peerX, ownRandom, passkeyBit(round))
    ownConfirm = try computed { functions throws(CryptographyError) in try functions.f4(u, v, x, z) }
    send(PairingConfirm { $0.value = ownConfirm })
  }

  /// The bit of the passkey that a round is about, with 0x80; 0 in other methods.
  private func passkeyBit(_ round: Int) -> UInt8 {
    guard case .passkeyEntry = method, let temporaryKey else { return 0 }
    return 0x80 | temporaryKey[round / 8] >> UInt8(round % 8) & 1
  }

  mutating func confirmed(_ round: Int) throws(PairingFailure) {
    state = .random(round)
    if isInitiator { send(PairingRandom { $0.value = ownRandom }) } else { try sendConfirm(round) }
  }

  mutating func revealed(_ round: Int) throws(PairingFailure) {
    // In the methods without a passkey, the responder alone has confirmed its value.
    if method != .outOfBand, isInitiator || method != .justWorks && method != .numericComparison {
      let (u, v, x, z) = (peerX, ownX, peerRandom, passkeyBit(round))
      let confirm = try computed { functions throws(CryptographyError) in try functions.f4(u, v, x, z) }
      guard functions.library.areEqual(confirm, peerConfirm) else { throw .local(.confirmValueFailed) }
    }
    if !isInitiator { send(PairingRandom { $0.value = ownRandom }) }
    switch method {
    case .passkeyEntry where round + 1 < PairingSecrets.rounds:
      state = .confirm(round + 1)
      if isInitiator { try sendConfirm(round + 1) }
    case .numericComparison:
      state = .check
      ask(.compare(try numberToCompare()))
    case .justWorks where setup.asksAboutJustWorks:
      state = .check
      ask(.allow)
    case .justWorks, .passkeyEntry, .outOfBand:
      state = .check
      try agreedOnKeys()
    }
  }

  private func numberToCompare() throws(PairingFailure) -> UInt32 {
    let (u, v) = isInitiator ? (ownX, peerX) : (peerX, ownX)
    let (x, y) = isInitiator ? (ownRandom, peerRandom) : (peerRandom, ownRandom)
    return try computed { functions throws(CryptographyError) in try functions.g2(u, v, x, y) }
  }

  private func checkOutOfBand() throws(PairingFailure) {
    guard setup.features.outOfBand == .present else { return }
    guard let random = setup.outOfBand.peerRandom, let confirm = setup.outOfBand.peerConfirm else {
      throw .local(.oobNotAvailable)
    }
    let x = peerX
    let expected = try computed { functions throws(CryptographyError) in try functions.f4(x, x, random, 0) }
    guard functions.library.areEqual(expected, confirm) else { throw .local(.confirmValueFailed) }
  }

  // MARK: The check

  /// Computes the keys; the initiator sends its check.
  private mutating func agreedOnKeys() throws(PairingFailure) {
    let (n1, n2) = isInitiator ? (ownRandom, peerRandom) : (peerRandom, ownRandom)
    let (secret, own, peer) = (sharedSecret, setup.ownAddress, setup.peerAddress)
    let keys = try computed { functions throws(CryptographyError) in
      try functions.f5(
        secret, n1, n2, initiator: isInitiator ? own : peer, responder: isInitiator ? peer : own)
    }
    macKey = keys.macKey
    linkKey = LongTermKey(keys.longTermKey)
    if isInitiator { try sendCheck() }
  }

  private mutating func sendCheck() throws(PairingFailure) {
    let (key, n1, n2, r) = (
      macKey, ownRandom, peerRandom, checkValue(of: setup.outOfBand.peerRandom, peerIsKnown)
    )
    let (features, a1, a2) = (isInitiator ? request : response, setup.ownAddress, setup.peerAddress)
    let check = try computed { functions throws(CryptographyError) in
      try functions.f6(key, n1, n2, r, features, a1, a2)
    }
    send(PairingDHKeyCheck { $0.value = check })
  }

  mutating func take(check value: [UInt8]) throws(PairingFailure) {
    let (key, n1, n2, r) = (
      macKey, peerRandom, ownRandom, checkValue(of: setup.outOfBand.ownRandom, ownIsKnown)
    )
    let (features, a1, a2) = (isInitiator ? response : request, setup.peerAddress, setup.ownAddress)
    let expected = try computed { functions throws(CryptographyError) in
      try functions.f6(key, n1, n2, r, features, a1, a2)
    }
    guard let linkKey, functions.library.areEqual(expected, value) else { throw .local(.dhKeyCheckFailed) }
    if !isInitiator { try sendCheck() }
    encrypt(with: linkKey.value)
  }

  /// Whether this side has the out-of-band data of the peer, and the reverse.
  private var peerIsKnown: Bool { (isInitiator ? request : response).outOfBand == .present }
  private var ownIsKnown: Bool { (isInitiator ? response : request).outOfBand == .present }

  /// The passkey, or the out-of-band value of the side that has given it away; else 0.
  private func checkValue(of outOfBand: [UInt8]?, _ isKnown: Bool) -> [UInt8] {
    switch method {
    case .passkeyEntry: temporaryKey ?? []
    case .outOfBand where isKnown: outOfBand ?? []
    case .justWorks, .numericComparison, .outOfBand: [UInt8](repeating: 0, count: 16)
    }
  }
}
