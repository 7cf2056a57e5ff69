import HCI
import HaloBluetoothCore

/// One pairing on one link, in either role (Core Specification Vol 3, Part H, 2.3 and 2.4.3): PDUs, the user's answers and
/// the events of the link come in, PDUs, questions and keys go out. It has no clock and no source of random numbers.
///
/// Each state names the PDU that it accepts. Anything else ends the pairing, and no key is given away after that.
package struct Pairing {
  /// What has to be done.
  package enum Output: Hashable, Sendable {
    /// Send a PDU.
    case send([UInt8])
    /// Ask the user.
    case ask(PairingQuestion)
    /// Encrypt the link with this key, as the central. A peripheral is asked for ``pendingKey``.
    case encrypt(LongTermKey)
    /// All keys are exchanged: only now anything may be kept.
    case finished(PairingResult)
    case failed(PairingFailure)
  }

  enum State: Hashable {
    case idle
    /// Awaits Pairing Request or Pairing Response.
    case features
    /// Awaits Pairing Public Key.
    case publicKey
    /// Awaits Pairing Confirm, in the round.
    case confirm(Int)
    /// Awaits Pairing Random, in the round.
    case random(Int)
    /// Awaits Pairing DHKey Check.
    case check
    /// Awaits that the link is encrypted.
    case encryption
    /// Awaits keys of the peer, in this order.
    case keys([SecurityManagerCode])
    case ended
  }

  let setup: PairingSetup
  let functions: SecurityFunctions
  package var role: LERole { setup.role }
  var isInitiator: Bool { setup.role == .central }
  var state = State.idle
  var outputs: [Output] = []

  // What both sides have said.
  var request = PairingFeatures()
  var response = PairingFeatures()
  package internal(set) var method = PairingMethod.justWorks
  package internal(set) var isSecureConnections = false

  // What the user has said.
  private var isAwaitingUser = false
  /// The PDU that has come while the user is asked.
  private var earlyPDU: [UInt8]?
  /// The passkey, the out-of-band key or zero; nil until the user has typed or allowed it.
  var temporaryKey: [UInt8]?

  // The exchange.
  var peerKey = P256PublicKey(x: [], y: [])
  var sharedSecret: [UInt8] = []
  var ownConfirm: [UInt8] = []
  var peerConfirm: [UInt8] = []
  var ownRandom: [UInt8] = []
  var peerRandom: [UInt8] = []
  var macKey: [UInt8] = []
  /// The key of the link that this pairing has made.
  var linkKey: LongTermKey?
  var received = ReceivedKeys()

  /// A pairing that has not begun.
  package init(_ setup: PairingSetup, _ library: any Cryptography) {
    self.setup = setup
    functions = SecurityFunctions(library)
  }

  package var isOver: Bool { state == .ended }

  /// The key that a peripheral answers with when the controller asks for it, with EDIV and Rand of zero; nil before the peer
  /// has shown that it has the same one.
  package var pendingKey: LongTermKey? { state == .encryption && !isInitiator ? linkKey : nil }

  // MARK: Input

  /// Begins: the initiator sends Pairing Request, the responder awaits it.
  package mutating func begin() -> [Output] {
    step {
      $0.state = .features
      guard $0.isInitiator else { return }
      var pdu = PairingRequest()
      pdu.features = $0.setup.features
      $0.request = pdu.features
      $0.send(pdu)
    }
  }

  /// Takes a PDU of the peer, with its code.
  package mutating func receive(_ pdu: [UInt8]) -> [Output] {
    step { this throws(PairingFailure) in try this.take(pdu) }
  }

  /// Takes the answer of the user to the last question.
  package mutating func userAnswered(_ answer: PairingAnswer) -> [Output] {
    step { this throws(PairingFailure) in
      switch answer {
      case .refuse: throw .local(this.refusalReason)
      case .accept where this.isAwaitingUser && !this.isAwaitingPasskey:
        this.isAwaitingUser = false
        try this.userHasAgreed()
      case .passkey(let number) where this.isAwaitingUser && this.isAwaitingPasskey && number < 1_000_000:
        this.isAwaitingUser = false
        this.temporaryKey = Passkey.key(number)
        try this.userHasAgreed()
      case .passkey where this.isAwaitingPasskey: throw .local(.passkeyEntryFailed)
      case .accept, .passkey: return
      }
      guard let early = this.earlyPDU, !this.isAwaitingUser else { return }
      this.earlyPDU = nil
      try this.take(early)
    }
  }

  /// The link is encrypted, or that has failed; or it is encrypted no longer, so that keys would be sent in clear.
  package mutating func encryptionChanged(isOn: Bool) -> [Output] {
    step { this throws(PairingFailure) in
      guard isOn else { throw .encryption }
      if this.state == .encryption { this.beginDistribution() }
    }
  }

  /// Nothing has come or gone for 30 seconds (3.4).
  package mutating func expire() -> [Output] { end(.timeout) }

  /// The link has ended.
  package mutating func disconnected() -> [Output] { end(.disconnected) }

  // MARK: Steps

  /// Runs a step, which may fail; what it has put out before its failure is kept.
  private mutating func step(_ body: (inout Pairing) throws(PairingFailure) -> Void) -> [Output] {
    guard state != .ended else { return [] }
    do throws(PairingFailure) {
      try body(&self)
    } catch {
      if case .local(let reason) = error { send(PairingFailed { $0.reason = reason }) }
      return end(error)
    }
    defer { outputs = [] }
    return outputs
  }

  private mutating func end(_ failure: PairingFailure) -> [Output] {
    guard state != .ended else { return [] }
    state = .ended
    forgetKeys()
    defer { outputs = [] }
    return outputs + [.failed(failure)]
  }

  mutating func finish(_ result: PairingResult) {
    state = .ended
    forgetKeys()
    outputs.append(.finished(result))
  }

  private mutating func forgetKeys() {
    (temporaryKey, linkKey, earlyPDU) = (nil, nil, nil)
    (sharedSecret, macKey) = ([], [])
    received = ReceivedKeys()
  }

  mutating func send(_ pdu: some SecurityManagerPDU) { outputs.append(.send(pdu.pdu)) }

  mutating func ask(_ question: PairingQuestion) {
    isAwaitingUser = true
    outputs.append(.ask(question))
  }

  private var isAwaitingPasskey: Bool {
    guard case .passkeyEntry(let input) = method else { return false }
    return input == .both || (input == .initiator) == isInitiator
  }

  private var refusalReason: PairingFailureReason {
    switch method {
    case .numericComparison: .numericComparisonFailed
    case .passkeyEntry: .passkeyEntryFailed
    case .justWorks, .outOfBand: .unspecifiedReason
    }
  }

  /// Calls the library. A failure of it ends the pairing.
  func computed<Value>(
    _ body: (SecurityFunctions) throws(CryptographyError) -> Value
  ) throws(PairingFailure) -> Value {
    do throws(CryptographyError) {
      return try body(functions)
    } catch {
      throw .local(error == .invalidPublicKey ? .dhKeyCheckFailed : .unspecifiedReason)
    }
  }

  // MARK: PDUs

  /// Reads a PDU; one with a wrong length has invalid parameters.
  func read<PDU: SecurityManagerPDU>(_ pdu: [UInt8], as type: PDU.Type) throws(PairingFailure)
    -> PDU
  {
    do throws(DecodeError) {
      return try PDU(pdu: pdu.span.bytes)
    } catch {
      throw .local(.invalidParameters)
    }
  }

  private mutating func take(_ pdu: [UInt8]) throws(PairingFailure) {
    let code = SecurityManagerCode(rawValue: pdu.first ?? 0)
    switch code {
    case .pairingFailed:
      let failed = try? read(pdu, as: PairingFailed.self)
      throw .peer(failed?.reason ?? .unspecifiedReason)
    // Nothing depends on how far the peer's user is. A Security Request during a pairing asks for what is under way.
    case .pairingKeypressNotification, .securityRequest: return
    // Codes that are not known are ignored (3.3).
    case _ where code.prototype == nil: return
    default: break
    }
    if isAwaitingUser {
      guard mayComeEarly(code), earlyPDU == nil else { throw .local(.unspecifiedReason) }
      return earlyPDU = pdu
    }
    switch (state, code) {
    case (.features, .pairingRequest) where !isInitiator:
      try take(request: read(pdu, as: PairingRequest.self))
    case (.features, .pairingResponse) where isInitiator:
      try take(response: read(pdu, as: PairingResponse.self))
    case (.publicKey, .pairingPublicKey): try take(publicKey: read(pdu, as: PairingPublicKey.self))
    case (.confirm(let round), .pairingConfirm):
      try take(confirm: read(pdu, as: PairingConfirm.self).value, round)
    case (.random(let round), .pairingRandom):
      try take(random: read(pdu, as: PairingRandom.self).value, round)
    case (.check, .pairingDHKeyCheck): try take(check: read(pdu, as: PairingDHKeyCheck.self).value)
    case (.keys(let codes), _): try take(key: pdu, codes)
    case (.features, .pairingRequest), (.features, .pairingResponse): throw .local(.commandNotSupported)
    default: throw .local(.unspecifiedReason)
    }
  }

  /// Whether the peer may send this while the user of this side is asked: its own user has answered before.
  private func mayComeEarly(_ code: SecurityManagerCode) -> Bool {
    switch state {
    case .confirm(0): code == .pairingConfirm && !isInitiator
    case .check: code == .pairingDHKeyCheck && !isInitiator
    default: false
    }
  }

  private mutating func take(confirm: [UInt8], _ round: Int) throws(PairingFailure) {
    // A confirm value that is sent back has not been made by the peer.
    if confirm == ownConfirm { throw .local(.confirmValueFailed) }
    peerConfirm = confirm
    if isSecureConnections { try confirmed(round) } else { try legacyConfirmed() }
  }

  private mutating func take(random: [UInt8], _ round: Int) throws(PairingFailure) {
    peerRandom = random
    if isSecureConnections { try revealed(round) } else { try legacyRevealed() }
  }

  private mutating func userHasAgreed() throws(PairingFailure) {
    if isSecureConnections { try secureConnectionsAgreed() } else { try legacyAgreed() }
  }
}
