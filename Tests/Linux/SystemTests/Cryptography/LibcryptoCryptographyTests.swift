import HaloBluetoothCore
import HaloSystem
import TestSupport
import Testing

@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct LibcryptoCryptographyTests {
  private let cryptography: LibcryptoCryptography

  init() throws { cryptography = try #require(LibcryptoCryptography.shared) }

  // MARK: AES

  /// FIPS 197, C.1.
  @Test func encryptsTheBlockOfTheStandard() throws {
    let cipher = try cryptography.blockCipher(key: hex("000102030405060708090a0b0c0d0e0f"))
    // One that keeps its key gives the same each time.
    for _ in 0..<3 {
      let encrypted = try cipher.encrypt(hex("00112233445566778899aabbccddeeff"))
      #expect(encrypted == hex("69c4e0d86a7b0430d8cdb78070b4c55a"))
    }
  }

  @Test func refusesKeysAndBlocksOfOtherLengths() throws {
    for count in [0, 1, 15, 17, 32] {
      let bytes = [UInt8](repeating: 1, count: count)
      #expect(throws: CryptographyError.failed) { try cryptography.blockCipher(key: bytes) }
      #expect(throws: CryptographyError.failed) { try cryptography.cmac([1], key: bytes) }
      let cipher = try cryptography.blockCipher(key: hex("000102030405060708090a0b0c0d0e0f"))
      #expect(throws: CryptographyError.failed) { try cipher.encrypt(bytes) }
    }
  }

  /// RFC 4493, 4: the same key, and messages of 0, 16, 40 and 64 bytes.
  @Test(arguments: [
    (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
    (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
  ]) func theCodesOfTheRFC(_ length: Int, _ code: String) throws {
    let message = hex(
      "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710")
    let found = try cryptography.cmac(
      Array(message.prefix(length)), key: hex("2b7e151628aed2a6abf7158809cf4f3c"))
    #expect(found == hex(code))
  }

  /// Core Specification Vol 3, Part G, Appendix B.
  @Test func theDatabaseHashOfTheSpecification() {
    let attributes = hex(
      "010000280018 020003280a0300002a 04000328020500012a 060000280118 07000328200800052a 09000229"
        + "0a0003280a0b00292b 0c000328020d002a2b 0e0000280818 0f000228140016000f18 10000328a21100182a 12000229"
        + "130000290000 140001280f18 15000328021600192a")
    #expect(LibcryptoCryptography.databaseHash(attributes) == hex("f1ca2d48ecf58bac8a8830bbb9fba990"))
  }

  @Test func comparesAllBytes() {
    #expect(cryptography.areEqual([1, 2, 3], [1, 2, 3]))
    #expect(cryptography.areEqual([], []))
    #expect(!cryptography.areEqual([1, 2, 3], [1, 2, 4]))
    #expect(!cryptography.areEqual([1, 2, 3], [1, 2]))
    #expect(!cryptography.areEqual([1, 2], [1, 2, 3]))
  }

  // MARK: P-256

  /// Core Specification Vol 2, Part G, 7.1.2: two sets of sample data. The first key of the first is the debug key pair of
  /// Vol 3, Part H, 2.3.5.6.1.
  @Test(arguments: [
    (
      P256KeyPair(
        "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd",
        "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6",
        "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b"),
      P256KeyPair(
        "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd",
        "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
        "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"),
      "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"
    ),
    (
      dataSet2, other2, "ab85843a2f6d883f62e5684b38e307335fe6e1945ecd19604105c6f23221eb69"
    ),
  ]) func bothSidesHaveTheSecretOfTheSpecification(
    _ first: P256KeyPair, _ second: P256KeyPair, _ secret: String
  ) throws {
    #expect(try cryptography.sharedSecret(first, with: second.publicKey) == hex(secret))
    #expect(try cryptography.sharedSecret(second, with: first.publicKey) == hex(secret))
  }

  private static let dataSet2 = P256KeyPair(
    "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663",
    "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
    "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f")
  private static let other2 = P256KeyPair(
    "529aa0670d72cd6497502ed473502b037e8803b5c60829a5a3caa219505530ba",
    "f465e43ff23d3f1b9dc7dfc04da8758184dbc966204796eccf0d6cf5e16500cc",
    "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279")

  /// Points that a peer may send to learn the private key (CVE-2018-5383), and the own key sent back (CVE-2020-26558).
  @Test(arguments: [
    ("y is 0", "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd", zeros),
    (
      "a bit of y is another one", "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
      "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4e"
    ),
    ("both are 0", zeros, zeros),
    (
      "x is the prime number of the field, so not reduced",
      "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
      "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f"
    ),
    ("x is all ones", ones, "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f"),
    (
      "y is that of another key", "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
      "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279"
    ),
    (
      "x and y are exchanged", "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
      "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd"
    ),
    ("both are all ones", ones, ones),
    ("x is too short", "2c31", "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f"),
    ("there is no y", "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd", ""),
  ]) func refusesWhatIsNoPoint(_ what: String, _ x: String, _ y: String) throws {
    let peer = P256PublicKey(x: hex(x), y: hex(y))
    // Neither of these has the x of the peer's key: the point itself is refused.
    for own in [Self.other2, try cryptography.makeKeyPair()] {
      #expect(throws: CryptographyError.invalidPublicKey, "\(what)") {
        try cryptography.sharedSecret(own, with: peer)
      }
    }
    // What failed is not taken for a failure of the next call.
    #expect(try cryptography.sharedSecret(Self.dataSet2, with: Self.other2.publicKey).count == 32)
  }

  @Test(arguments: [
    "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
    "6e6aede6c767204232ad1dbf71bc78e02fdeef6fe842c12b1507bc88bc8ea2b0",
  ]) func refusesTheOwnKeyAndItsNegative(_ y: String) {
    let peer = P256PublicKey(x: Self.dataSet2.publicKey.x, y: hex(y))
    #expect(throws: CryptographyError.invalidPublicKey) {
      try cryptography.sharedSecret(Self.dataSet2, with: peer)
    }
    // Both are points: another device may have them.
    #expect(throws: Never.self) { try cryptography.sharedSecret(Self.other2, with: peer) }
  }

  @Test func newKeysDifferAndAgree() throws {
    let pairs = try (0..<8).map { _ in try cryptography.makeKeyPair() }
    #expect(Set(pairs.map(\.privateKey)).count == pairs.count)
    for pair in pairs {
      #expect([pair.privateKey, pair.publicKey.x, pair.publicKey.y].allSatisfy { $0.count == 32 })
      #expect(
        try cryptography.sharedSecret(pair, with: Self.dataSet2.publicKey)
          == cryptography.sharedSecret(Self.dataSet2, with: pair.publicKey))
    }
  }

  @Test func aPrivateKeyOfAnotherLengthIsNoFaultOfThePeer() {
    var own = Self.dataSet2
    own.privateKey.removeLast()
    #expect(throws: CryptographyError.failed) {
      try cryptography.sharedSecret(own, with: Self.other2.publicKey)
    }
  }
}

private let zeros = String(repeating: "0", count: 64)
private let ones = String(repeating: "f", count: 64)

extension P256KeyPair {
  fileprivate init(_ privateKey: String, _ x: String, _ y: String) {
    self.init(privateKey: hex(privateKey), publicKey: P256PublicKey(x: hex(x), y: hex(y)))
  }
}
