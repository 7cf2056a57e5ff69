import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

private func wire(_ text: String) -> [UInt8] { hex(text).reversed() }

/// The sample data of the specification (Core Specification Vol 3, Part H, 2.2 and appendix D), most significant byte first
/// there.
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct SecurityFunctionsTests {
  private let functions: SecurityFunctions
  private let n1: [UInt8] = wire("d5cb8454d177733effffb2ec712baeab")
  private let n2: [UInt8] = wire("a6e8e7cc25a75f6e216583f7ff3dc4cf")
  private let u: [UInt8] = wire("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
  private let v: [UInt8] = wire("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
  private let a1 = BluetoothAddress("56:12:37:37:BF:CE/public") ?? .zero
  private let a2 = BluetoothAddress("A7:13:70:2D:CF:C1/public") ?? .zero

  init() throws { functions = SecurityFunctions(try #require(LibcryptoCryptography.shared)) }

  @Test func computesE() throws {
    let block = try functions.e(
      wire("000102030405060708090a0b0c0d0e0f"), wire("00112233445566778899aabbccddeeff"))
    #expect(block == wire("69c4e0d86a7b0430d8cdb78070b4c55a"))
  }

  @Test func computesC1() throws {
    let value = try functions.c1(
      [UInt8](repeating: 0, count: 16), wire("5783d52156ad6f0e6388274ec6702ee0"),
      request: wire("07071000000101"), response: wire("05000800000302"),
      initiator: BluetoothAddress(0xA1A2_A3A4_A5A6, .random),
      responder: BluetoothAddress(0xB1B2_B3B4_B5B6, .public))
    #expect(value == wire("1e1e3fef878988ead2a74dc5bef13b86"))
  }

  @Test func computesS1() throws {
    let key = try functions.s1(
      [UInt8](repeating: 0, count: 16), responder: wire("000f0e0d0c0b0a091122334455667788"),
      initiator: wire("010203040506070899aabbccddeeff00"))
    #expect(key == wire("9a1fe1f0e8b0f49b5b4216ae796da062"))
  }

  @Test func computesF4() throws {
    #expect(try functions.f4(u, v, n1, 0) == wire("f2c916f107a9bd1cf1eda1bea974872d"))
  }

  @Test func computesF5() throws {
    let secret = wire("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    let keys = try functions.f5(secret, n1, n2, initiator: a1, responder: a2)
    #expect(keys.macKey == wire("2965f176a1084a02fd3f6a20ce636e20"))
    #expect(keys.longTermKey == wire("6986791169d7cd23980522b594750a38"))
  }

  @Test func computesF6() throws {
    let features = PairingFeatures {
      $0.ioCapability = .keyboardOnly
      $0.outOfBand = .present
      $0.authentication = .bonding
    }
    let check = try functions.f6(
      wire("2965f176a1084a02fd3f6a20ce636e20"), n1, n2, wire("12a3343bb453bb5408da42d20c2d0fc8"), features,
      a1, a2)
    #expect(check == wire("e3c473989cd0e8c5d26c0b09da958f61"))
  }

  @Test func computesG2() throws {
    #expect(try functions.g2(u, v, n1, n2) == 938_554)
  }

  /// The most significant octets become zero (2.3.4).
  @Test func shortensKey() {
    let key = SecurityFunctions.shorten(wire("6986791169d7cd23980522b594750a38"), to: 7)
    #expect(key == wire("0000000000000000000522b594750a38"))
  }
}
