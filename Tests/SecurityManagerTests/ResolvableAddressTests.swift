import Glibc
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct ResolvableAddressTests {
  private let cryptography: LibcryptoCryptography
  private let resolver: AddressResolver

  init() throws {
    cryptography = try #require(LibcryptoCryptography.shared)
    resolver = AddressResolver(cryptography)
  }

  private static let ring = BluetoothAddress(0x0102_0304_0506, .public)
  private static let phone = BluetoothAddress(0xC102_0304_0506, .random)

  /// A key as the specification prints it.
  private func key(_ text: String) -> [UInt8] { hex(text).reversed() }

  private func address(_ text: String) throws -> BluetoothAddress {
    try #require(BluetoothAddress(text + "/random"))
  }

  /// Core Specification Vol 3, Part H, D.7.
  @Test func theHashOfTheSpecification() throws {
    let cipher = try cryptography.blockCipher(key: hex("ec0234a357c8ad05341010a60a397d9b"))
    #expect(try ResolvableAddress(random: 0x708194, cipher)?.hash == 0x0D_FBAA)
  }

  /// The first is that of the function ah; the others are of the unit tests of Apache NimBLE, ble_sm_sc_test.c.
  @Test(arguments: [
    ("ec0234a357c8ad05341010a60a397d9b", "70:81:94:0D:FB:AA"),
    ("ffeeddccbbaa99887766554433221100", "5A:5B:55:83:6E:1A"),
    ("0f0e0d0c0b0a09080706050403020100", "69:8C:42:F7:8E:D0"),
    ("43959515f73ba11c9628d096c99466d4", "65:12:5E:57:56:9F"),
    ("33f23c631ff3afa68d690ac485ac98b7", "4A:CD:83:5D:F3:C5"),
    ("07c77986257d43260d621cd997881279", "62:9B:B4:DF:29:B5"),
    ("9281ec9421f65175c3f071aca0276bda", "76:1E:EF:09:56:6E"),
    ("ffeeddccbbaa99887766554433221100", "74:87:A9:7D:59:6D"),
    ("0f0e0d0c0b0a09080706050403020100", "58:86:90:37:85:46"),
  ]) func resolvesWhatADeviceHasMade(_ irk: String, _ text: String) throws {
    let address = try address(text)
    #expect(resolver.identity(of: address) == nil)
    try resolver.add(key("000102030405060708090a0b0c0d0e0f"), of: Self.phone)
    #expect(resolver.identity(of: address) == nil)
    // What was unknown is looked up again with a new key.
    try resolver.add(key(irk), of: Self.ring)
    for _ in 0..<2 { #expect(resolver.identity(of: address) == Self.ring) }
    resolver.remove(Self.ring)
    #expect(resolver.identity(of: address) == nil)
  }

  @Test(arguments: [
    ("another last byte", "ec0234a357c8ad05341010a60a397d9b", "70:81:94:0D:FB:AB"),
    (
      "zeros are no key, though the hash would be right", "00000000000000000000000000000000",
      "70:81:94:E9:61:DC"
    ),
  ]) func doesNotResolve(_ what: String, _ irk: String, _ text: String) throws {
    try resolver.add(key(irk), of: Self.ring)
    let address = try address(text)
    #expect(resolver.identity(of: address) == nil, "\(what)")
  }

  /// Its hash would be right, but the most significant bits are those of a static address.
  @Test func aStaticAddressStaysWhatItIs() throws {
    try resolver.add(key("ec0234a357c8ad05341010a60a397d9b"), of: Self.ring)
    let address = try address("F0:81:94:FC:5E:6E")
    #expect(resolver.identity(of: address) == address)
    #expect(ResolvableAddress(address) == nil)
  }

  @Test func identitiesNeedNoKey() {
    let value: UInt64 = 0x7081_940D_FBAA
    #expect(
      resolver.identity(of: BluetoothAddress(value, .publicIdentity)) == BluetoothAddress(value, .public))
    #expect(
      resolver.identity(of: BluetoothAddress(value, .randomIdentity)) == BluetoothAddress(value, .random))
    #expect(resolver.identity(of: BluetoothAddress(value, .public)) == BluetoothAddress(value, .public))
    // Neither resolvable nor static, and no address at all.
    #expect(resolver.identity(of: BluetoothAddress(0x3081_940D_FBAA, .random)) == nil)
    #expect(resolver.identity(of: BluetoothAddress(0, .anonymous)) == nil)
  }

  @Test func newAddressesResolve() throws {
    let irk = key("ec0234a357c8ad05341010a60a397d9b")
    try resolver.add(irk, of: Self.ring)
    let cipher = try cryptography.blockCipher(key: irk.reversed())
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<100 {
      let bits = UInt32(truncatingIfNeeded: generator.next())
      let made = try #require(try ResolvableAddress(random: bits, cipher))
      #expect(made.random & 0x3F_FFFF == bits & 0x3F_FFFF && made.random >> 22 == 1)
      #expect(ResolvableAddress(made.address) == made)
      #expect(resolver.identity(of: made.address) == Self.ring)
    }
    for bits: UInt32 in [0, 0x3F_FFFF, 0xFFC0_0000, .max] {
      #expect(try ResolvableAddress(random: bits, cipher) == nil)
    }
  }

  @Test func keysComeFromBonds() throws {
    var bond = Bond(peer: Self.ring, own: Self.phone, isSecureConnections: true)
    let without = Bond(peer: Self.phone, own: Self.ring, isSecureConnections: true)
    bond.identityResolvingKey = key("ec0234a357c8ad05341010a60a397d9b")
    let resolver = try AddressResolver(cryptography, [without, bond])
    #expect(resolver.identity(of: try address("70:81:94:0D:FB:AA")) == Self.ring)
    bond.identityResolvingKey = [1, 2, 3]
    #expect(throws: CryptographyError.failed) { try AddressResolver(cryptography, [bond]) }
  }

  /// A bonded device between any number of others is found each time; a result that is kept costs no encryption.
  @Test func keepsTheLastResults() throws {
    let counting = CountingCryptography(cryptography)
    let resolver = AddressResolver(counting)
    try resolver.add(key("ec0234a357c8ad05341010a60a397d9b"), of: Self.ring)
    let mine = try address("70:81:94:0D:FB:AA")
    let others = (0..<UInt64(AddressResolver.limit)).map { BluetoothAddress(1 << 46 | $0, .random) }
    for _ in 0..<3 {
      #expect(resolver.identity(of: mine) == Self.ring)
      for other in others.dropLast() { #expect(resolver.identity(of: other) == nil) }
    }
    #expect(counting.count == AddressResolver.limit)
    // One more takes the place of the oldest.
    #expect(resolver.identity(of: try #require(others.last)) == nil)
    #expect(counting.count == AddressResolver.limit + 1)
    #expect(resolver.identity(of: others[1]) == nil)
    #expect(counting.count == AddressResolver.limit + 1)
    #expect(resolver.identity(of: mine) == Self.ring)
    #expect(counting.count == AddressResolver.limit + 2)
  }

  /// A crowded place: 1,000 devices with addresses that nobody here resolves, and 50 bonds. A release build takes 8 ms; the
  /// limit is for machines with much else to do.
  @Test func aCrowdIsResolvedInTime() throws {
    var generator = SeededGenerator(seed: 1)
    for number in 0..<50 {
      try resolver.add(generator.bytes(16), of: BluetoothAddress(UInt64(number), .public))
    }
    let crowd = (0..<1000).map { _ in BluetoothAddress(1 << 46 | generator.next() >> 18, .random) }
    let start = clock()
    let known = crowd.count { resolver.identity(of: $0) != nil }
    let milliseconds = (clock() - start) * 1000 / Int(CLOCKS_PER_SEC)
    #expect(known == 0)
    #expect(milliseconds < 2000)
  }
}

/// Counts the blocks that are encrypted.
private final class CountingCryptography: Cryptography {
  private let real: LibcryptoCryptography
  private let counter = LockedValue(0)

  init(_ real: LibcryptoCryptography) { self.real = real }

  var count: Int { counter.withLock { $0 } }

  func blockCipher(key: [UInt8]) throws(CryptographyError) -> any BlockCipher {
    Cipher(real: try real.blockCipher(key: key)) { self.counter.withLock { $0 += 1 } }
  }

  func cmac(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try real.cmac(message, key: key)
  }

  func makeKeyPair() throws(CryptographyError) -> P256KeyPair { try real.makeKeyPair() }

  func sharedSecret(_ own: P256KeyPair, with peer: P256PublicKey) throws(CryptographyError) -> [UInt8] {
    try real.sharedSecret(own, with: peer)
  }

  func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool { real.areEqual(first, second) }

  private struct Cipher: BlockCipher {
    let real: any BlockCipher
    let used: () -> Void

    func encrypt(_ block: [UInt8]) throws(CryptographyError) -> [UInt8] {
      used()
      return try real.encrypt(block)
    }
  }
}
