import HaloBluetoothCore

/// The functions of pairing (Core Specification Vol 3, Part H, 2.2). All numbers are least significant byte first here, as on
/// the wire; what the specification joins with the most significant part first is joined in the other order.
package struct SecurityFunctions: Sendable {
  package let library: any Cryptography

  package init(_ library: any Cryptography) { self.library = library }

  /// The security function e: AES-128 (2.2.1).
  package func e(_ key: [UInt8], _ block: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try library.blockCipher(key: key.reversed()).encrypt(block.reversed()).reversed()
  }

  package func cmac(_ key: [UInt8], _ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try library.cmac(message.reversed(), key: key.reversed()).reversed()
  }

  // MARK: LE legacy pairing

  /// The confirm value of LE legacy pairing (2.2.3).
  ///
  /// - Parameters:
  ///   - k: the temporary key
  ///   - r: the random value
  ///   - request: the whole Pairing Request
  ///   - response: the whole Pairing Response
  package func c1(
    _ k: [UInt8], _ r: [UInt8], request: [UInt8], response: [UInt8], initiator: BluetoothAddress,
    responder: BluetoothAddress
  ) throws(CryptographyError) -> [UInt8] {
    let p1 = [initiator.typeBit, responder.typeBit] + request + response
    let p2 = responder.wireBytes + initiator.wireBytes + [0, 0, 0, 0]
    // The function e twice, with one key.
    let cipher = try library.blockCipher(key: k.reversed())
    let first = try cipher.encrypt(Self.xor(r, p1).reversed())
    return try cipher.encrypt(Self.xor(first, p2.reversed())).reversed()
  }

  /// The Short Term Key (2.2.4).
  package func s1(
    _ k: [UInt8], responder: [UInt8], initiator: [UInt8]
  ) throws(CryptographyError) -> [UInt8] {
    try e(k, Array(initiator.prefix(8)) + responder.prefix(8))
  }

  // MARK: LE Secure Connections

  /// The confirm value (2.2.6).
  ///
  /// - Parameters:
  ///   - u: the x coordinate of the key of the side that confirms
  ///   - v: the x coordinate of the other one
  ///   - x: the random value of the side that confirms
  ///   - z: 0, or 0x80 and a bit of the passkey
  package func f4(
    _ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ z: UInt8
  ) throws(CryptographyError) -> [UInt8] {
    try cmac(x, [z] + v + u)
  }

  private static let salt: [UInt8] = [
    0xBE, 0x83, 0x60, 0x5A, 0xDB, 0x0B, 0x37, 0x60, 0x38, 0xA5, 0xF5, 0xAA, 0x91, 0x83, 0x88, 0x6C,
  ]
  /// `btle`.
  private static let keyID: [UInt8] = [0x65, 0x6C, 0x74, 0x62]

  /// The keys of the check and of the link (2.2.7).
  ///
  /// - Parameters:
  ///   - w: the shared secret
  ///   - n1: the random value of the initiator
  ///   - n2: that of the responder
  package func f5(
    _ w: [UInt8], _ n1: [UInt8], _ n2: [UInt8], initiator: BluetoothAddress, responder: BluetoothAddress
  ) throws(CryptographyError) -> (macKey: [UInt8], longTermKey: [UInt8]) {
    let t = try cmac(Self.salt, w)
    let length: [UInt8] = [0x00, 0x01]
    let message = length + responder.typedBytes + initiator.typedBytes + n2 + n1 + Self.keyID
    return (try cmac(t, message + [0]), try cmac(t, message + [1]))
  }

  /// The check value (2.2.8).
  ///
  /// - Parameters:
  ///   - w: the key of the check
  ///   - n1: the random value of the side that is checked
  ///   - n2: that of the other one
  ///   - r: the passkey, the out-of-band value of the other side, or 0
  ///   - features: of the side that is checked
  ///   - a1: the address of that side
  ///   - a2: the address of the other one
  package func f6(
    _ w: [UInt8], _ n1: [UInt8], _ n2: [UInt8], _ r: [UInt8], _ features: PairingFeatures,
    _ a1: BluetoothAddress, _ a2: BluetoothAddress
  ) throws(CryptographyError) -> [UInt8] {
    let capability = [
      features.ioCapability.rawValue, features.outOfBand.rawValue, features.authentication.rawValue,
    ]
    return try cmac(w, a2.typedBytes + a1.typedBytes + capability + r + n2 + n1)
  }

  /// The number of six digits to compare (2.2.9).
  package func g2(
    _ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ y: [UInt8]
  ) throws(CryptographyError) -> UInt32 {
    let code = try cmac(x, y + v + u)
    return code.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } % 1_000_000
  }

  // MARK: Helpers

  private static func xor(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
    zip(first, second).map { $0 ^ $1 }
  }

  /// A key of fewer bytes than 16: the most significant ones are zero (2.3.4).
  package static func shorten(_ key: [UInt8], to size: Int) -> [UInt8] {
    key.prefix(size) + [UInt8](repeating: 0, count: max(0, key.count - size))
  }
}

extension BluetoothAddress {
  /// The six bytes, least significant first.
  package var wireBytes: [UInt8] {
    var writer = ByteWriter(capacity: 6)
    write(into: &writer)
    return writer.bytes
  }

  /// 1 for a random address, also a resolvable one; 0 for a public one. An identity has the type of the address it names.
  package var typeBit: UInt8 { kind.rawValue & 1 }

  fileprivate var typedBytes: [UInt8] { wireBytes + [typeBit] }
}
