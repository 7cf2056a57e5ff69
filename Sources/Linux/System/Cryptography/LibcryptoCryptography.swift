import HaloBluetoothCore

/// The functions of cryptography by libcrypto, which is loaded when it is first needed: it does not delay the start of a
/// program, and where it is not installed, only the functions that depend on it are missing.
package final class LibcryptoCryptography: Cryptography {
  private let functions: Libcrypto

  /// Nil where the library is not installed, or lacks a function.
  package static let shared: LibcryptoCryptography? = {
    do throws(LibraryError) { return LibcryptoCryptography(try Libcrypto()) } catch { return nil }
  }()

  private init(_ functions: Libcrypto) { self.functions = functions }

  /// The Database Hash of attributes: their code with a key of zeros (Core Specification Vol 3, Part G, 7.3.1).
  ///
  /// - Returns: nil if libcrypto is not installed, or refuses
  package static func databaseHash(_ attributes: [UInt8]) -> [UInt8]? {
    try? shared?.cmac(attributes, key: [UInt8](repeating: 0, count: 16))
  }

  // MARK: AES

  package func blockCipher(key: [UInt8]) throws(CryptographyError) -> any BlockCipher {
    try LibcryptoCipher(functions, key: key)
  }

  package func cmac(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard let context = functions.newCode(functions.cmac) else { throw functions.failure() }
    defer { functions.freeCode(context) }
    let cipher = LibcryptoParameters(functions, [("cipher", .text("AES-128-CBC"))])
    var code = [UInt8](repeating: 0, count: 16)
    var length = 0
    guard cipher.pass(to: { functions.beginCode(context, key, key.count, $0) }),
      functions.updateCode(context, message, message.count) == 1,
      functions.endCode(context, &code, &length, code.count) == 1, length == code.count
    else { throw functions.failure() }
    return code
  }

  package func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && functions.compare(first, second, first.count) == 0
  }

  // MARK: P-256

  package func makeKeyPair() throws(CryptographyError) -> P256KeyPair {
    guard let context = functions.newKeyContext(nil, "EC", nil) else { throw functions.failure() }
    defer { functions.freeKeyContext(context) }
    var made: OpaquePointer?
    guard functions.beginGenerating(context) == 1, functions.setGroup(context, "P-256") == 1,
      functions.generate(context, &made) == 1, let key = made
    else { throw functions.failure() }
    defer { functions.freeKey(key) }
    // The coordinates, and not the point as bytes: before OpenSSL 3.0.8, that is always compressed.
    let room = LibcryptoParameters.Value.number([UInt8](repeating: 0, count: Self.length))
    let numbers = LibcryptoParameters(functions, [("priv", room), ("qx", room), ("qy", room)])
    guard numbers.pass(to: { functions.readParameters(key, $0) }) else { throw functions.failure() }
    return P256KeyPair(
      privateKey: numbers.number(at: 0),
      publicKey: P256PublicKey(x: numbers.number(at: 1), y: numbers.number(at: 2)))
  }

  package func sharedSecret(
    _ own: P256KeyPair, with peer: P256PublicKey
  ) throws(CryptographyError) -> [UInt8] {
    guard peer.x != own.publicKey.x else { throw .invalidPublicKey }
    let peerKey = try key(peer, private: nil, orThrow: .invalidPublicKey)
    defer { functions.freeKey(peerKey) }
    let ownKey = try key(own.publicKey, private: own.privateKey, orThrow: .failed)
    defer { functions.freeKey(ownKey) }
    guard let context = functions.newContextOfKey(nil, ownKey, nil) else { throw functions.failure() }
    defer { functions.freeKeyContext(context) }
    var secret = [UInt8](repeating: 0, count: Self.length)
    var length = secret.count
    guard functions.beginDeriving(context) == 1, functions.setPeer(context, peerKey, 1) == 1,
      functions.derive(context, &secret, &length) == 1, length == secret.count
    else { throw functions.failure() }
    return secret
  }

  /// A key of the library, of a point that it has checked. The caller frees it.
  private func key(
    _ point: P256PublicKey, private number: [UInt8]?, orThrow error: CryptographyError
  ) throws(CryptographyError) -> OpaquePointer {
    guard point.x.count == Self.length, point.y.count == Self.length,
      number.map({ $0.count == Self.length }) ?? true
    else { throw error }
    guard let maker = functions.newKeyContext(nil, "EC", nil) else { throw functions.failure() }
    defer { functions.freeKeyContext(maker) }
    var values: [(name: String, value: LibcryptoParameters.Value)] = [
      ("group", .text("P-256")), ("pub", .bytes([Self.uncompressed] + point.x + point.y)),
    ]
    if let number { values.append(("priv", .number(number))) }
    let parameters = LibcryptoParameters(functions, values)
    let parts = number == nil ? Self.publicKey : Self.keyPair
    var made: OpaquePointer?
    guard functions.beginFromData(maker) == 1,
      parameters.pass(to: { functions.fromData(maker, &made, parts, $0) }), let key = made
    else { throw functions.failure(error) }
    guard let context = functions.newContextOfKey(nil, key, nil) else {
      functions.freeKey(key)
      throw functions.failure()
    }
    defer { functions.freeKeyContext(context) }
    guard functions.checkPublicKey(context) == 1 else {
      functions.freeKey(key)
      throw functions.failure(error)
    }
    return key
  }

  /// The bytes of a coordinate, of a private key, and of a shared secret.
  private static let length = 32
  /// The first byte of a point with both coordinates (SEC 1, 2.3.3).
  private static let uncompressed: UInt8 = 4
  // EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR of openssl/evp.h.
  private static let publicKey: Int32 = 0x86
  private static let keyPair: Int32 = 0x87
}

/// AES-128 with one key, whose round keys the library keeps, and overwrites at the end.
private final class LibcryptoCipher: BlockCipher {
  private let functions: Libcrypto
  private let context: OpaquePointer

  init(_ functions: Libcrypto, key: [UInt8]) throws(CryptographyError) {
    guard key.count == 16, let context = functions.newCipher() else { throw functions.failure() }
    guard functions.beginEncrypting(context, functions.aes, key, nil, nil) == 1,
      functions.setPadding(context, 0) == 1
    else {
      functions.freeCipher(context)
      throw functions.failure()
    }
    (self.functions, self.context) = (functions, context)
  }

  deinit { functions.freeCipher(context) }

  func encrypt(_ block: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard block.count == 16 else { throw .failed }
    var encrypted = [UInt8](repeating: 0, count: 16)
    var length: Int32 = 0
    guard functions.encrypt(context, &encrypted, &length, block, 16) == 1, length == 16 else {
      throw functions.failure()
    }
    return encrypted
  }
}
