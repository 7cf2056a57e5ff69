import HCI
import HaloBluetoothCore

// LE legacy pairing (Core Specification Vol 3, Part H, 2.3.5.5). A passkey of it can be found by who listens.

extension Pairing {
  mutating func beginLegacy() throws(PairingFailure) {
    state = .confirm(0)
    ownRandom = setup.secrets.nonces[0]
    guard obtainTemporaryKey() else { return }
    if method == .justWorks, setup.asksAboutJustWorks { return ask(.allow) }
    try legacyAgreed()
  }

  /// The temporary key is there, and the user agrees.
  mutating func legacyAgreed() throws(PairingFailure) {
    if isInitiator { try sendLegacyConfirm() }
  }

  private mutating func sendLegacyConfirm() throws(PairingFailure) {
    ownConfirm = try legacyConfirm(of: ownRandom)
    send(PairingConfirm { $0.value = ownConfirm })
  }

  private func legacyConfirm(of random: [UInt8]) throws(PairingFailure) -> [UInt8] {
    let key = temporaryKey ?? []
    return try computed { functions throws(CryptographyError) in
      try functions.c1(
        key, random, request: PairingRequest { $0.features = request }.pdu,
        response: PairingResponse { $0.features = response }.pdu,
        initiator: isInitiator ? setup.ownAddress : setup.peerAddress,
        responder: isInitiator ? setup.peerAddress : setup.ownAddress)
    }
  }

  mutating func legacyConfirmed() throws(PairingFailure) {
    state = .random(0)
    if isInitiator { send(PairingRandom { $0.value = ownRandom }) } else { try sendLegacyConfirm() }
  }

  mutating func legacyRevealed() throws(PairingFailure) {
    let confirm = try legacyConfirm(of: peerRandom)
    guard functions.library.areEqual(confirm, peerConfirm) else { throw .local(.confirmValueFailed) }
    let key = temporaryKey ?? []
    let (initiator, responder) = isInitiator ? (ownRandom, peerRandom) : (peerRandom, ownRandom)
    let shortTermKey = try computed { functions throws(CryptographyError) in
      try functions.s1(key, responder: responder, initiator: initiator)
    }
    if !isInitiator { send(PairingRandom { $0.value = ownRandom }) }
    encrypt(with: shortTermKey)
  }

  /// Both sides have shown that they have the same key.
  mutating func encrypt(with key: [UInt8]) {
    let key = LongTermKey(
      SecurityFunctions.shorten(key, to: keySize), isAuthenticated: method.isAuthenticated, size: keySize)
    linkKey = key
    state = .encryption
    if isInitiator { outputs.append(.encrypt(key)) }
  }
}
