/// The functions that the Security Manager takes from a library of cryptography (Core Specification Vol 3, Part H, 2.2). All
/// numbers are most significant byte first here, as libraries and standards have them.
package protocol Cryptography: Sendable {
  /// AES-128 with one key. It may keep what it has computed from the key.
  func blockCipher(key: [UInt8]) throws(CryptographyError) -> any BlockCipher
  /// AES-CMAC (RFC 4493): 16 bytes for a message of any length and a key of 16.
  func cmac(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8]
  /// A new key pair of P-256, from the library's own source of random numbers.
  func makeKeyPair() throws(CryptographyError) -> P256KeyPair
  /// The x coordinate of the shared point, 32 bytes.
  ///
  /// - Throws: `.invalidPublicKey` if the peer's key is no point of the curve, or has the x coordinate of the own one: a peer
  ///   that sends the key back that it has received would pass for one that has the private key (CVE-2020-26558)
  func sharedSecret(_ own: P256KeyPair, with peer: P256PublicKey) throws(CryptographyError) -> [UInt8]
  /// Whether both are equal, in a time that does not depend on where they differ.
  func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool
}

/// A block cipher with its key: 16 bytes in, 16 bytes out.
package protocol BlockCipher {
  func encrypt(_ block: [UInt8]) throws(CryptographyError) -> [UInt8]
}

/// A public key of P-256. The coordinates are 32 bytes each, most significant first.
package struct P256PublicKey: Hashable, Sendable {
  package var x: [UInt8]
  package var y: [UInt8]

  package init(x: [UInt8], y: [UInt8]) { (self.x, self.y) = (x, y) }
}

/// A key pair of P-256.
package struct P256KeyPair: Hashable, Sendable {
  /// 32 bytes, most significant first.
  package var privateKey: [UInt8]
  package var publicKey: P256PublicKey

  package init(privateKey: [UInt8], publicKey: P256PublicKey) {
    (self.privateKey, self.publicKey) = (privateKey, publicKey)
  }
}

/// Why a library of cryptography has computed nothing.
package enum CryptographyError: Error, Hashable, Sendable {
  /// The library refused the call, or has no memory.
  case failed
  /// The key of the peer is no point of the curve, or the own one.
  case invalidPublicKey
}
