import ATT
import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// What a dissector may use to check pairings and to decrypt packets of the air.
package struct DissectionSecrets {
  /// Nil checks nothing, and decrypts nothing.
  package var library: (any Cryptography)?
  /// Long-term keys, each 16 bytes, the least significant first.
  package var longTermKeys: [[UInt8]]
  package var bonds: [Bond]
  /// Whether all passkeys of LE legacy pairing are tried.
  package var triesPasskeys: Bool

  package init(
    library: (any Cryptography)? = nil, longTermKeys: [[UInt8]] = [], bonds: [Bond] = [],
    triesPasskeys: Bool = false
  ) {
    self.library = library
    self.longTermKeys = longTermKeys
    self.bonds = bonds
    self.triesPasskeys = triesPasskeys
  }
}

/// The keys and pairings of a capture so far, of all its links. All of it is bounded: the oldest is forgotten.
final class SecurityKnowledge {
  static let keyCapacity = 64
  static let pairingCapacity = 64
  static let bondCapacity = 256

  /// A key that a link can be encrypted with.
  struct Key {
    /// 16 bytes, the least significant first.
    var value: [UInt8]
    /// Where it is from: `the key of the pairing at packet 58`.
    var origin: String
    /// Whether a user has typed it.
    var isGiven = false
  }

  /// The key of a device's signatures.
  private struct SigningKey {
    /// 16 bytes, the least significant first.
    let value: [UInt8]
    /// The addresses that the device may have on its links.
    let signers: [BluetoothAddress]
    /// Where it is from: `the pairing at packet 58`.
    let origin: String
    /// The highest counter that was used, and the packet.
    var last: (counter: UInt32, packet: Int)?
  }

  let functions: SecurityFunctions?
  let triesPasskeys: Bool
  /// The newest last. Those that the user has given are never forgotten.
  private(set) var keys: [Key] = []
  private let given: Int
  /// Counts the keys that were added.
  private(set) var version = 0
  /// The public keys of earlier pairings, and the packets of their requests.
  private var publicKeys: [(x: [UInt8], pairing: Int)] = []
  /// The passkeys of earlier pairings.
  private var passkeys: [(value: UInt32, pairing: Int)] = []
  private var bonded: [BluetoothAddress] = []
  private var signingKeys: [SigningKey] = []

  init(_ secrets: DissectionSecrets) {
    functions = secrets.library.map(SecurityFunctions.init)
    triesPasskeys = secrets.triesPasskeys
    keys = secrets.longTermKeys.filter { $0.count == 16 }.enumerated().map { index, value in
      Key(
        value: value, origin: secrets.longTermKeys.count == 1 ? "the given key" : "given key \(index + 1)",
        isGiven: true)
    }
    for bond in secrets.bonds {
      for key in [bond.keyAsCentral, bond.keyAsPeripheral] {
        guard let value = key?.value, value.count == 16, !keys.contains(where: { $0.value == value }) else {
          continue
        }
        keys.append(Key(value: value, origin: "the key of the bond with \(bond.peer)"))
      }
    }
    given = keys.count
    bonded = secrets.bonds.suffix(Self.bondCapacity).map(\.peer)
    for bond in secrets.bonds {
      let origin = "the bond with \(bond.peer)"
      if let key = bond.peerSigning?.key { add(signingKey: key, of: [bond.peer], from: origin) }
      if let key = bond.ownSigning?.key { add(signingKey: key, of: [bond.own], from: origin) }
    }
  }

  func add(key value: [UInt8], from origin: String) {
    guard value.count == 16, !keys.contains(where: { $0.value == value }) else { return }
    if keys.count - given >= Self.keyCapacity { keys.remove(at: given) }
    keys.append(Key(value: value, origin: origin))
    version += 1
  }

  func origin(of key: [UInt8]) -> String? { keys.first { $0.value == key }?.origin }

  /// Adds the x coordinate of a public key.
  ///
  /// - Returns: the packet of an earlier pairing with the same one
  func addPublicKey(_ x: [UInt8], pairing: Int) -> Int? {
    if let known = publicKeys.first(where: { $0.x == x }) {
      return known.pairing == pairing ? nil : known.pairing
    }
    if publicKeys.count >= Self.pairingCapacity { publicKeys.removeFirst() }
    publicKeys.append((x, pairing))
    return nil
  }

  /// The same for a passkey. Two of a million random ones are equal seldom enough.
  func addPasskey(_ value: UInt32, pairing: Int) -> Int? {
    if let known = passkeys.first(where: { $0.value == value }) { return known.pairing }
    if passkeys.count >= Self.pairingCapacity { passkeys.removeFirst() }
    passkeys.append((value, pairing))
    return nil
  }

  func addBond(with peer: BluetoothAddress) {
    guard !hasBond(with: peer) else { return }
    if bonded.count >= Self.bondCapacity { bonded.removeFirst() }
    bonded.append(peer)
  }

  func hasBond(with peer: BluetoothAddress) -> Bool { bonded.contains { $0.isSameDevice(as: peer) } }
}

// MARK: - Signed writes (Core Specification Vol 3, Part H, 2.4.5)

extension SecurityKnowledge {
  func add(signingKey value: [UInt8], of signers: [BluetoothAddress], from origin: String) {
    guard value.count == 16, !signingKeys.contains(where: { $0.value == value }) else { return }
    if signingKeys.count >= Self.bondCapacity { signingKeys.removeFirst() }
    signingKeys.append(SigningKey(value: value, signers: signers, origin: origin))
  }

  /// Looks for the key that has made a signature. Whose it is does not matter: addresses change.
  ///
  /// - Parameters:
  ///   - pdu: a Signed Write Command
  ///   - signers: the addresses that its sender may have on the link
  ///   - number: the packet's
  func check(signed pdu: RawSpan, by signers: [BluetoothAddress], number: Int) -> SecurityNote? {
    guard let functions, let command = try? ATTSignedWriteCommand(pdu: pdu) else { return nil }
    let (message, signature) = (command.message, command.signature)
    let place = signingKeys.firstIndex { key in
      (try? functions.isSignature(signature.code, of: message, signature.counter, key: key.value)) == true
    }
    guard let place else {
      let isKnown = signingKeys.contains { key in
        key.signers.contains { known in signers.contains { $0.isSameDevice(as: known) } }
      }
      return isKnown
        ? SecurityNote(.attack, "its signature is wrong: it is of none of the keys of this device") : nil
    }
    let key = signingKeys[place]
    if let last = key.last, signature.counter <= last.counter {
      return SecurityNote(
        .attack,
        "its counter was used: packet \(last.packet) has \(last.counter); it was recorded and sent again")
    }
    signingKeys[place].last = (signature.counter, number)
    return SecurityNote(.check, "its signature is right (CSRK of \(key.origin))")
  }
}

/// The addresses that an adapter may use on a link: those that the capture shows. Bounded: the oldest is forgotten.
final class OwnAddresses {
  static let capacity = 16
  private(set) var all: [BluetoothAddress] = []

  init(_ addresses: [BluetoothAddress] = []) { all = addresses }

  func add(_ address: BluetoothAddress) {
    guard address.value != 0, !all.contains(address) else { return }
    if all.count >= Self.capacity { all.removeFirst() }
    all.append(address)
  }
}
