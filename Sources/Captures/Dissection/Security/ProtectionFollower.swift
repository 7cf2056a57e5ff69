import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// The security of a link, as far as the capture has shown it.
final class ProtectionFollower {
  /// Whether the link is encrypted.
  enum Protection {
    /// The capture begins in the middle of the link.
    case unknown
    case clear, encrypted
  }

  let knowledge: SecurityKnowledge
  /// The addresses that this side, or the central on the air, may have on the link.
  private let own: OwnAddresses
  private let peers: [BluetoothAddress]
  private(set) var protection: Protection
  private var pairing = PairingFollower()
  /// What the link will be encrypted with.
  private var pending: String?
  /// Whether the controller has asked for a key with a name.
  private var asksForNamedKey = false

  /// - Parameter peers: the addresses that the peer may have on the link
  init(
    _ knowledge: SecurityKnowledge, own: OwnAddresses, peers: [BluetoothAddress], protection: Protection
  ) {
    self.knowledge = knowledge
    self.own = own
    self.peers = peers
    self.protection = protection
  }

  /// Handles a PDU of the Security Manager.
  func take(_ packet: inout DissectedPacket, isSent: Bool) {
    guard let smp = packet.smp else { return }
    let pdu = Array(packet.source[smp.range.clamped(to: 0..<packet.source.count)])
    // On the air, each packet shows whether it was encrypted.
    if let air = packet.air { protection = air.notes.contains(.decrypted) ? .encrypted : .clear }
    packet.security += pairing.take(
      pdu, isSent: isSent,
      PairingFollower.Context(
        knowledge: knowledge, own: own.all, peers: peers, knowsAddresses: packet.air != nil,
        number: packet.info.number, protection: protection))
  }

  /// Handles a Signed Write Command.
  func takeSigned(_ packet: inout DissectedPacket, isSent: Bool) {
    guard let att = packet.att else { return }
    let bytes = packet.source
    if protection == .encrypted {
      packet.security.append(
        SecurityNote(.fault, "a signed write over an encrypted link, where a server ignores it"))
    }
    if let note = knowledge.check(
      signed: bytes.span.bytes.extracting(att.range), by: isSent ? own.all : peers, number: packet.info.number
    ) {
      packet.security.append(note)
    }
  }

  /// The controller asks for the key with these numbers.
  func request(random: UInt64, diversifier: UInt16) { asksForNamedKey = random != 0 || diversifier != 0 }

  /// A host has given its controller a key: LE Enable Encryption, or the answer to a request.
  ///
  /// - Parameter isNamed: whether EDIV or Rand, which name a key of LE legacy pairing, are not 0; nil for an answer
  func use(key: [UInt8], isNamed: Bool?) -> [SecurityNote] {
    let isNamed = isNamed ?? asksForNamedKey
    var notes: [SecurityNote] = []
    if !key.contains(where: { $0 != 0 }) {
      notes.append(SecurityNote(.attack, "a key of zeros, which everybody knows"))
    }
    if !isNamed, let missing = pairing.missingCheck {
      notes.append(SecurityNote(.fault, "the link is encrypted before \(missing)"))
    }
    if !isNamed, let new = pairing.keyInUse {
      pending = new
      knowledge.add(key: key, from: new)
    } else if let origin = knowledge.origin(of: key) {
      pending = origin
    } else {
      pending = "a key of a pairing that is not in the capture"
      knowledge.add(key: key, from: "a key that the host has given its controller")
    }
    return notes
  }

  /// The controller says that encryption is on or off, or has a new key.
  ///
  /// - Parameter keySize: in bytes, if it says that
  func encryption(_ isOn: Bool, keySize: UInt8?) -> [SecurityNote] {
    defer { pending = nil }
    guard isOn else {
      let wasOn = protection == .encrypted
      protection = .clear
      return wasOn ? [SecurityNote(.fault, "encryption ends, and the link goes on in clear")] : []
    }
    protection = .encrypted
    var notes = [SecurityNote(.protection, "from here on encrypted with \(pending ?? "an unknown key")")]
    if let keySize, (7..<16).contains(keySize) { notes.append(PairingFollower.shortKey(Int(keySize))) }
    return notes
  }
}
