import Foundation
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSecurityManager
import TestSupport

@testable import HaloDissection

/// A pairing of Tests/Vectors/pairings.txt, as a capture has it.
struct RecordedPairing: CustomStringConvertible {
  enum Step: Hashable {
    case pdu([UInt8], isFromInitiator: Bool)
    case encrypt
  }

  let description: String
  let facts: [String: String]
  var steps: [Step]

  static let all: [RecordedPairing] = {
    let file = URL(filePath: #filePath).appending(path: "../../../Vectors/pairings.txt").standardized
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
    return text.components(separatedBy: "\n\n").compactMap { RecordedPairing($0) }
  }()

  static func named(_ beginning: String) -> RecordedPairing? {
    all.first { $0.description.hasPrefix(beginning) }
  }

  private init?(_ text: String) {
    var (facts, steps) = ([String: String](), [Step]())
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch parts[0] {
      case "i", "r": steps.append(.pdu(Hex.bytes(parts[1]) ?? [], isFromInitiator: parts[0] == "i"))
      case "encrypt": steps.append(.encrypt)
      default: facts[parts[0]] = parts.count > 1 ? parts[1] : ""
      }
    }
    guard let name = facts["name"] else { return nil }
    (description, self.facts, self.steps) = (name, facts, steps)
  }

  var initiator: BluetoothAddress { BluetoothAddress(facts["initiator"] ?? "") ?? .zero }
  var responder: BluetoothAddress { BluetoothAddress(facts["responder"] ?? "") ?? .zero }
  /// As on the wire.
  var key: [UInt8] { (facts["ltk"] ?? facts["stk"]).flatMap { Hex.bytes($0) } ?? [] }
  var isSecureConnections: Bool { facts["stk"] == nil }
  var isRefused: Bool { facts["refused"] != nil }

  /// Without the steps from encryption on.
  var handshake: RecordedPairing {
    var part = self
    part.steps = Array(steps.prefix { $0 != .encrypt })
    return part
  }

  /// The same with a change of the PDUs of a kind.
  func changing(_ code: UInt8, _ change: (inout [UInt8]) -> Void) -> RecordedPairing {
    var changed = self
    changed.steps = steps.map { step in
      guard case .pdu(var pdu, let isFromInitiator) = step, pdu.first == code else { return step }
      change(&pdu)
      return .pdu(pdu, isFromInitiator: isFromInitiator)
    }
    return changed
  }
}

extension RecordedPairing {
  /// A pairing between the same addresses without input and output, with another key of the initiator.
  func playedAgain(initiatorKey: P256KeyPair, _ library: any Cryptography) throws -> RecordedPairing {
    func side(_ role: LERole, _ own: BluetoothAddress, _ peer: BluetoothAddress, _ key: P256KeyPair)
      -> Pairing
    {
      var features = PairingFeatures()
      features.authentication = .secureConnections
      let secrets = PairingSecrets(
        keyPair: key, nonces: [[UInt8](repeating: role == .central ? 1 : 2, count: 16)], passkey: 0,
        longTermKey: LongTermKey([]), identityResolvingKey: [], identity: own, signatureResolvingKey: [])
      var setup = PairingSetup(
        role: role, ownAddress: own, peerAddress: peer, features: features, secrets: secrets)
      setup.allowsDebugKeys = true
      return Pairing(setup, library)
    }
    var sides = [
      side(.central, initiator, responder, initiatorKey),
      side(.peripheral, responder, initiator, try library.makeKeyPair()),
    ]
    var played = self
    played.steps = []
    var waiting = sides.indices.flatMap { index in sides[index].begin().map { (index, $0) } }
    while !waiting.isEmpty {
      guard case (let from, .send(let pdu)) = waiting.removeFirst() else { continue }
      played.steps.append(.pdu(pdu, isFromInitiator: from == 0))
      waiting += sides[1 - from].receive(pdu).map { (1 - from, $0) }
    }
    return played
  }
}

extension Script {
  /// A link of which this side, the central, is the initiator.
  func connect(_ pairing: RecordedPairing, role: String = "00") {
    let address = Hex.string(pairing.initiator.bytes)
    if pairing.initiator.kind == .public {
      received("040e0a 01 0910 00 \(address)")
    } else {
      sent("01052006 \(address)")
    }
    let kind = pairing.responder.kind == .public ? "00" : "01"
    received(
      "04 3e 13 01 00 4000 \(role) \(kind) \(Hex.string(pairing.responder.bytes)) 1800 0000 4800 00")
  }

  /// Plays a pairing; the host gives its controller the key.
  ///
  /// - Returns: the notes of all packets
  @discardableResult
  func play(_ pairing: RecordedPairing) -> [SecurityNote] {
    pairing.steps.flatMap { step in
      switch step {
      case .pdu(let pdu, let isFromInitiator):
        return frame(Hex.string(pdu), channel: 6, isSent: isFromInitiator).security
      case .encrypt: return encrypt(pairing.key)
      }
    }
  }

  func encrypt(_ key: [UInt8], name: String = "0000000000000000 0000") -> [SecurityNote] {
    sent("01 1920 1c 4000 \(name) \(Hex.string(key))").security + received("04 08 04 00 4000 01").security
  }
}

extension BluetoothAddress {
  /// Least significant byte first.
  fileprivate var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) } }
}

extension [SecurityNote] {
  func texts(_ kind: SecurityNote.Kind) -> [String] { filter { $0.kind == kind }.map(\.text) }
}
