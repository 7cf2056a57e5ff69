import HaloBluetoothCore

// Signed data (Core Specification Vol 3, Part H, 2.4.5). Version 6.3 of the specification has removed them; devices of the
// versions before have them.

extension SecurityFunctions {
  /// The message authentication code of signed data: the most significant 8 bytes of the CMAC.
  ///
  /// - Parameters:
  ///   - message: the whole PDU up to its signature, in the order of the wire
  ///   - counter: the counter, which is signed with it
  ///   - key: the Connection Signature Resolving Key of the side that signs
  package func signature(
    of message: [UInt8], _ counter: UInt32, key: [UInt8]
  ) throws(CryptographyError) -> UInt64 {
    let code = try cmac(key, message + Self.bytes(counter)).suffix(8)
    return code.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether a signature is that of a message. The time that this takes does not tell where a wrong one differs.
  package func isSignature(
    _ code: UInt64, of message: [UInt8], _ counter: UInt32, key: [UInt8]
  ) throws(CryptographyError) -> Bool {
    let right = try signature(of: message, counter, key: key)
    return library.areEqual(Self.bytes(right), Self.bytes(code))
  }

  /// The bytes of a number, least significant first.
  private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

extension Bond.SigningKey {
  /// The counter behind the last one that is used: a key that has come to it signs nothing any more.
  package static let end = UInt32.max
  /// How many counters are taken at once: the file of the bonds is written once for as many signatures.
  package static let step: UInt32 = 100

  /// Takes the next counters, so that no other signature gets one of them. Fewer are left at the end.
  ///
  /// - Returns: the counters; none if all have been used
  package mutating func reserve() -> Range<UInt32> {
    let first = counter
    counter = first > Self.end - Self.step ? Self.end : first + Self.step
    return first..<counter
  }

  /// Whether the peer may use a counter: it has not used it, nor a later one. If so, it may not use it again.
  package mutating func accept(_ received: UInt32) -> Bool {
    guard received >= counter, received < Self.end else { return false }
    counter = received + 1
    return true
  }
}
