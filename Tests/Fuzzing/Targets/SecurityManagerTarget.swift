import HCI
import HaloBluetoothCore
import HaloSecurityManager

extension FuzzTarget {
  /// A pairing in one of its roles: PDUs of an honest peer, damaged or made up, the answers of a user, the events of the link and
  /// time come in any order.
  static let securityManager = FuzzTarget("smp", largestInput: 2048) { bytes in
    var input = FuzzInput(bytes)
    var run = FuzzedPairing(&input)
    run.begin()
    // What is left over when a pairing has ended shows that it stays ended.
    var steps = 0
    while !input.isEmpty, steps < 400 {
      run.step(&input)
      steps += 1
    }
    run.finish()
  }
}

/// A pairing and its honest peer. No key may be given out, and nothing may be stored, unless the pairing has taken what the
/// peer has sent, as it was sent.
private struct FuzzedPairing {
  private var pairing: Pairing
  private var peer: Pairing
  private let setup: PairingSetup
  /// What the peer has sent, and has not arrived.
  private var waiting: [[UInt8]] = []
  /// What both sides show, and right users type.
  private static let passkey: UInt32 = 123_456

  private var isForged = false
  private var isEncrypted = false
  private var hasAnswered = false
  private var hasShown = false
  private var ends = 0
  private var sent = 0
  private var key: LongTermKey?

  init(_ input: inout FuzzInput) {
    let library = MixedCryptography()
    let role: LERole = input.byte() & 1 == 0 ? .central : .peripheral
    setup = Self.setup(role, &input)
    pairing = Pairing(setup, library)
    peer = Pairing(Self.setup(role == .central ? .peripheral : .central, &input), library)
  }

  private static func setup(_ role: LERole, _ input: inout FuzzInput) -> PairingSetup {
    let index: UInt8 = role == .central ? 1 : 2
    func value(_ number: UInt8) -> [UInt8] { [index, number] + [UInt8](repeating: 0x5A, count: 14) }
    var features = PairingFeatures()
    features.ioCapability.rawValue = input.byte() % 5
    features.authentication.rawValue = input.byte() & 0x0D
    features.initiatorKeys.rawValue = input.byte() & 7
    features.responderKeys.rawValue = input.byte() & 7
    let flags = input.byte()
    features.maximumKeySize = flags & 1 == 0 ? 16 : 7
    let x = [index] + [UInt8](repeating: 3, count: 31)
    var setup = PairingSetup(
      role: role, ownAddress: BluetoothAddress(UInt64(index), .public),
      peerAddress: BluetoothAddress(UInt64(3 - index), .public), features: features,
      secrets: PairingSecrets(
        keyPair: P256KeyPair(privateKey: x, publicKey: P256PublicKey(x: x, y: x)),
        nonces: (0..<UInt8(PairingSecrets.rounds)).map { value($0) }, passkey: passkey,
        longTermKey: LongTermKey(value(90), random: 5, diversifier: 6), identityResolvingKey: value(91),
        identity: BluetoothAddress(UInt64(index), .public), signatureResolvingKey: value(92)))
    setup.minimumKeySize = flags & 2 == 0 ? 7 : 16
    setup.asksAboutJustWorks = flags & 4 != 0
    setup.requiresAuthentication = flags & 8 != 0
    if flags & 16 != 0 {
      setup.features.outOfBand = .present
      setup.outOfBand.temporaryKey = value(93)
    }
    return setup
  }

  mutating func begin() {
    takeOfPeer(peer.begin())
    take(pairing.begin())
  }

  mutating func step(_ input: inout FuzzInput) {
    switch input.byte() % 16 {
    case 0...6: if !waiting.isEmpty { receive(waiting.removeFirst(), isHonest: true) }
    case 7:
      guard var pdu = waiting.first else { return }
      let place = Int(input.byte()) % pdu.count
      pdu[place] ^= input.byte()
      receive(pdu, isHonest: pdu == waiting.removeFirst())
    case 8:
      let pdu = input.piece()
      let isHonest = pdu == waiting.first
      if isHonest { waiting.removeFirst() }
      receive(pdu, isHonest: isHonest)
    case 9: answer(.accept)
    case 10: answer(.passkey(Self.passkey))
    case 11: answer(.passkey(UInt32(input.byte()) << 16 | UInt32(input.byte())))
    case 12: answer(.refuse)
    case 13:
      let isOn = input.byte() & 1 == 1
      // A controller reports that the link is encrypted if both hosts have given it the same key.
      if isOn, key == nil { return }
      isEncrypted = isOn
      take(pairing.encryptionChanged(isOn: isOn))
      takeOfPeer(peer.encryptionChanged(isOn: isOn))
    case 14 where input.byte() & 7 == 0: take(pairing.expire())
    case 15 where input.byte() & 7 == 0: take(pairing.disconnected())
    default: break
    }
  }

  private mutating func answer(_ answer: PairingAnswer) {
    if answer != .refuse { hasAnswered = true }
    take(pairing.userAnswered(answer))
  }

  /// What the fields of the first PDUs say is covered by the check, but for the keys and their length; PDUs of some codes say
  /// nothing.
  private mutating func receive(_ pdu: [UInt8], isHonest: Bool) {
    let code = pdu.first ?? 0
    let isIdle = code == 0 || code == 0x0B || code >= 0x0E
    if !isHonest, !isIdle, code > 0x02 { isForged = true }
    take(pairing.receive(pdu))
  }

  private mutating func take(_ outputs: [Pairing.Output]) {
    precondition(ends == 0 || outputs.isEmpty, "nothing comes after the end")
    precondition(outputs.count <= 32)
    for output in outputs {
      precondition(ends == 0, "nothing comes after the end")
      switch output {
      case .send(let pdu):
        sent += 1
        let isKey = (0x06...0x0A).contains(pdu[0])
        precondition(!isKey || isEncrypted, "keys go over an encrypted link only")
        takeOfPeer(peer.receive(pdu))
      case .encrypt(let key):
        checkKey(key)
        self.key = key
      case .ask(let question): hasShown = hasShown || question == .showPasskey(Self.passkey)
      case .finished(let result):
        ends += 1
        precondition(isEncrypted, "no pairing ends well in clear")
        let isTyped = hasAnswered || hasShown || result.method == .outOfBand
        precondition(!result.strength.isAuthenticated || isTyped, "nobody was asked")
        precondition(result.strength.keySize >= setup.minimumKeySize)
      case .failed: ends += 1
      }
    }
    precondition(sent <= 60, "a pairing has an end")
    precondition(!pairing.isOver || pairing.pendingKey == nil)
    if let pending = pairing.pendingKey, pending != key {
      checkKey(pending)
      key = pending
    }
  }

  private func checkKey(_ key: LongTermKey) {
    precondition(!isForged, "a key after a PDU that the peer has not sent")
    precondition(key.value.count == 16 && (setup.minimumKeySize...16).contains(key.size))
  }

  /// The user of the peer is right.
  private mutating func takeOfPeer(_ outputs: [Pairing.Output]) {
    for output in outputs {
      switch output {
      case .send(let pdu): waiting.append(pdu)
      case .ask(.enterPasskey): takeOfPeer(peer.userAnswered(.passkey(Self.passkey)))
      case .ask: takeOfPeer(peer.userAnswered(.accept))
      case .encrypt, .finished, .failed: break
      }
    }
  }

  mutating func finish() {
    take(pairing.expire())
    precondition(ends == 1, "each pairing has one end")
  }
}

/// Functions that are as fast as fuzzing wants them: what goes in decides what comes out, and nothing else of cryptography.
private struct MixedCryptography: Cryptography {
  private struct Cipher: BlockCipher {
    let key: [UInt8]
    func encrypt(_ block: [UInt8]) -> [UInt8] { MixedCryptography.mix(key, block) }
  }

  func blockCipher(key: [UInt8]) -> any BlockCipher { Cipher(key: key) }

  func cmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] { Self.mix(key, message) }

  func makeKeyPair() throws(CryptographyError) -> P256KeyPair { throw .failed }

  func sharedSecret(_ own: P256KeyPair, with peer: P256PublicKey) throws(CryptographyError) -> [UInt8] {
    // The points of this curve have two equal coordinates.
    guard peer.x == peer.y, peer.x != own.publicKey.x else { throw .invalidPublicKey }
    return zip(own.publicKey.x, peer.x).map { $0 ^ $1 }
  }

  func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool { first == second }

  private static func mix(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var state: (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9)
    for byte in key + [UInt8(truncatingIfNeeded: key.count)] + message {
      state.0 = (state.0 ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
      state.1 = (state.1 ^ state.0 >> 29) &* 0x94D0_49BB_1331_11EB &+ UInt64(byte)
    }
    return (0..<8).map { UInt8(truncatingIfNeeded: state.0 >> (8 * $0)) }
      + (0..<8).map { UInt8(truncatingIfNeeded: state.1 >> (8 * $0)) }
  }
}
