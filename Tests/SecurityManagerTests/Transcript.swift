import Foundation
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport

/// A whole pairing of Tests/Vectors/pairings.txt.
struct Transcript: CustomStringConvertible {
  enum Step: Hashable {
    case initiator([UInt8])
    case responder([UInt8])
    case encrypt
  }

  let description: String
  /// The value of each fact, as text.
  let facts: [String: String]
  let steps: [Step]

  static let all: [Transcript] = {
    let file = URL(filePath: #filePath).appending(path: "../../Vectors/pairings.txt").standardized
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
    return text.components(separatedBy: "\n\n").compactMap { Transcript($0) }
  }()

  private init?(_ text: String) {
    var (facts, steps) = ([String: String](), [Step]())
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch parts[0] {
      case "i": steps.append(.initiator(Hex.bytes(parts[1]) ?? []))
      case "r": steps.append(.responder(Hex.bytes(parts[1]) ?? []))
      case "encrypt": steps.append(.encrypt)
      default: facts[parts[0]] = parts.count > 1 ? parts[1] : ""
      }
    }
    guard let name = facts["name"] else { return nil }
    description = name
    self.facts = facts
    self.steps = steps
  }

  func bytes(_ fact: String) -> [UInt8]? { facts[fact].flatMap { Hex.bytes($0) } }
  var passkey: UInt32? { facts["passkey"].flatMap { UInt32($0) } }
  /// The key of the link, as on the wire.
  var key: [UInt8]? { bytes("ltk") ?? bytes("stk") }
  var isSecureConnections: Bool { facts["stk"] == nil }

  /// The roles in which it can be repeated: those whose secrets are known.
  var roles: [LERole] {
    let both: [(LERole, String)] = [(.central, "initiator"), (.peripheral, "responder")]
    return both.filter { !isSecureConnections || facts["private-key-\($0.1)"] != nil }.map(\.0)
  }

  /// The PDUs that a side sends.
  func pdus(of role: LERole) -> [[UInt8]] {
    steps.compactMap {
      switch $0 {
      case .initiator(let pdu): role == .central ? pdu : nil
      case .responder(let pdu): role == .central ? nil : pdu
      case .encrypt: nil
      }
    }
  }

  /// What a side is given, so that it sends what it has sent.
  func setup(_ role: LERole) -> PairingSetup {
    let (own, other) = role == .central ? ("initiator", "responder") : ("responder", "initiator")
    let pdus = pdus(of: role)
    func value(_ code: UInt8) -> [UInt8]? { pdus.first { $0[0] == code }.map { Array($0.dropFirst()) } }
    var features = PairingFeatures()
    let first = pdus[0]
    if let pdu = try? PairingRequest(pdu: first.span.bytes) { features = pdu.features }
    if let pdu = try? PairingResponse(pdu: first.span.bytes) { features = pdu.features }
    let key = value(0x0C) ?? [UInt8](repeating: 1, count: 64)
    let name = value(0x07) ?? [UInt8](repeating: 0, count: 10)
    let identity = pdus.first { $0[0] == 0x09 }.flatMap {
      try? IdentityAddressInformation(pdu: $0.span.bytes)
    }
    let secrets = PairingSecrets(
      keyPair: P256KeyPair(
        privateKey: bytes("private-key-\(own)") ?? [],
        publicKey: P256PublicKey(x: key[0..<32].reversed(), y: key[32..<64].reversed())),
      nonces: pdus.filter { $0[0] == 0x04 }.map { Array($0.dropFirst()) } + [
        [UInt8](repeating: 7, count: 16)
      ],
      passkey: passkey ?? 0,
      longTermKey: LongTermKey(
        value(0x06) ?? [UInt8](repeating: 3, count: 16), random: Self.number(name[2..<10]),
        diversifier: UInt16(Self.number(name[0..<2]))),
      identityResolvingKey: value(0x08) ?? [], identity: identity?.address ?? .zero,
      signatureResolvingKey: value(0x0A) ?? [])
    var setup = PairingSetup(
      role: role, ownAddress: BluetoothAddress(facts[own] ?? "") ?? .zero,
      peerAddress: BluetoothAddress(facts[other] ?? "") ?? .zero, features: features, secrets: secrets)
    setup.minimumKeySize = 7
    setup.outOfBand.temporaryKey = bytes("tk")
    setup.outOfBand.ownRandom = bytes("\(own)-r")
    if features.outOfBand == .present {
      (setup.outOfBand.peerRandom, setup.outOfBand.peerConfirm) = (bytes("\(other)-r"), bytes("\(other)-c"))
    }
    return setup
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A pairing, with a user that answers as the transcript says, and a link that encrypts.
struct PairingRun {
  var pairing: Pairing
  let passkey: UInt32
  /// The user's answers are withheld.
  var isUserSilent = false
  private(set) var sent: [[UInt8]] = []
  private(set) var questions: [PairingQuestion] = []
  private(set) var encryptions: [LongTermKey] = []
  private(set) var results: [PairingResult] = []
  private(set) var failures: [PairingFailure] = []

  init(_ setup: PairingSetup, passkey: UInt32 = 0, library: any Cryptography) {
    pairing = Pairing(setup, library)
    self.passkey = passkey
  }

  var ends: Int { results.count + failures.count }

  mutating func take(_ outputs: [Pairing.Output]) {
    for output in outputs {
      switch output {
      case .send(let pdu): sent.append(pdu)
      case .encrypt(let key): encryptions.append(key)
      case .finished(let result): results.append(result)
      case .failed(let failure): failures.append(failure)
      case .ask(let question):
        questions.append(question)
        if !isUserSilent { answer(question) }
      }
    }
  }

  mutating func answer(_ question: PairingQuestion) {
    switch question {
    case .allow, .compare: take(pairing.userAnswered(.accept))
    case .enterPasskey: take(pairing.userAnswered(.passkey(passkey)))
    case .showPasskey: break
    }
  }

  mutating func receive(_ pdu: [UInt8]) { take(pairing.receive(pdu)) }

  /// The key with which the link would be encrypted now, by either role.
  var key: LongTermKey? { encryptions.last ?? pairing.pendingKey }
}
