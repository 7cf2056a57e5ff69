import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

@testable import HaloDissection

/// Encrypted packets of the air: the sample data of the Core Specification (Vol 6, Part C, 1), and packets of a capture that
/// mikeryan/crackle has as its test 02, whose key is known.
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct AirDecryptionTests {
  /// A connection whose packets have directions.
  private final class Connection {
    let dissector: Dissector
    private var number = 0
    private let address: UInt32 = 0x5065_5BDA

    init(_ keys: [[UInt8]], library: (any Cryptography)? = LibcryptoCryptography.shared) {
      dissector = Dissector(secrets: DissectionSecrets(library: library, longTermKeys: keys))
      _ = packet(
        "0522 010000000000 020000000000 da5b6550 123456 02 0300 1800 0000 4800 ffffffff1f a7",
        AccessAddress.advertising.rawValue, AirCRC.advertising, .advertising)
    }

    func central(_ pdu: String) -> DissectedPacket { packet(pdu, address, 0x563412, .fromCentral) }
    func peripheral(_ pdu: String) -> DissectedPacket { packet(pdu, address, 0x563412, .fromPeripheral) }

    private func packet(
      _ pdu: String, _ address: UInt32, _ initial: UInt32, _ role: AirReception.Role
    ) -> DissectedPacket {
      let pdu = hex(pdu.dense)
      var writer = ByteWriter()
      writer.write(address)
      writer.write(pdu)
      writer.writeUInt24(AirCRC.value(of: pdu.span.bytes, initial: initial))
      var reception = AirReception(.linkLayer)
      reception.role = role
      number += 1
      return dissector.dissect(
        writer.span,
        CaptureRecordInfo(
          number: number, microseconds: Int64(number) * 1000, content: .air(reception),
          originalLength: writer.count))
    }

    /// The exchange of the specification's sample data.
    func beginSample() {
      _ = central("0317 03 9078563412efcdab 7424 1302f1e0dfcebdac 24abdcba")
      _ = peripheral("070d 04 7968574635241302 bebaafde")
      #expect(peripheral("0b01 05").security.texts(.protection) == ["encrypted from the next packet on"])
    }

    /// The exchange of crackle's capture.
    func beginCrackle() {
      _ = central("0317 03 0000000000000000 0000 a97763420175027d 0af0716c")
      _ = peripheral("070d 04 1ce942b569282c10 f4cf59cd")
      _ = peripheral("0b01 05")
    }
  }

  private static let sampleKey: [UInt8] = hex("4c68384139f574d836bcf34e9dfb01bf").reversed()
  private static let crackleKey: [UInt8] = hex("7f62c053f104a5bbe68b1d896a2ed49c").reversed()
  /// LL_START_ENC_RSP of the peripheral, number 0.
  private static let first = "0705 5dda30af9a"
  /// The central's numbers 1 and 2: the same request.
  private static let second = "0e0f 7118215ebe5761a4e59e079b37fe1e"
  private static let third = "0e0f c083c929376c15a38f2a4c16d728f8"
  /// The peripheral's number 3.
  private static let fourth = "0a1d c096d431e348c0b7387f3ea4c0033fda0829493c907295e2f96859e006"

  @Test func sampleDataOfTheSpecification() throws {
    let library = try #require(LibcryptoCryptography.shared)
    let cipher = try LinkCipher(
      SecurityFunctions(library), key: Self.sampleKey, diversifier: hex("1302f1e0dfcebdac7968574635241302"),
      vector: hex("24abdcbabebaafde"))
    func plain(_ pdu: String, _ counter: UInt64, isFromCentral: Bool) throws -> String? {
      let bytes = hex(pdu.dense)
      return try cipher.decrypt(
        Array(bytes[2...]), header: bytes[0], counter: counter, isFromCentral: isFromCentral
      ).map { Hex.string($0) }
    }
    #expect(try plain("0f05 9fcda7f448", 0, isFromCentral: true) == "06")
    #expect(try plain("0705 a34c13a415", 0, isFromCentral: false) == "06")
    #expect(
      try plain(
        "0e1f 7a70d66415226df26b17839a060405596bd6564f796b5b9ce6ff32f75a6d33", 1, isFromCentral: true)
        == "1700636465666768696a6b6c6d6e6f707131323334353637383930")
    #expect(try plain("0f05 9fcda7f448", 1, isFromCentral: true) == nil)
    #expect(try plain("0f05 9fcda7f448", 0, isFromCentral: false) == nil)
    // NESN, SN and MD may change; LLID may not.
    #expect(try plain("1305 9fcda7f448", 0, isFromCentral: true) == "06")
    #expect(try plain("0e05 9fcda7f448", 0, isFromCentral: true) == nil)
  }

  @Test func givenKeyDecrypts() {
    let air = Connection([Self.sampleKey])
    air.beginSample()
    let start = air.central("0f05 9fcda7f448")
    #expect(start.air?.opcode == .startEncryptionResponse && start.air?.notes.contains(.decrypted) == true)
    #expect(start.security == [SecurityNote(.protection, "decrypted with the given key")])
    let other = air.peripheral("0705 a34c13a415")
    #expect(other.air?.opcode == .startEncryptionResponse && other.security == [])
  }

  /// The sniffer has missed the central's number 0, and the peripheral's 1 and 2.
  @Test func missedPacketsAreCounted() {
    let air = Connection([Self.crackleKey])
    air.beginCrackle()
    #expect(air.peripheral(Self.first).air?.opcode == .startEncryptionResponse)
    let request = air.central(Self.second)
    #expect(request.att?.opcode == .readByTypeRequest && request.summary.contains("Device Name"))
    #expect(air.peripheral(Self.fourth).att?.opcode == .readByTypeResponse)
  }

  /// Nordic DevZone 113465, crackle 53: a packet that is sent again has its number again, and its MIC is right
  /// (apache/mynewt-nimble 1378, bluetoe 70 and 116).
  @Test func repeatedPacketIsDecryptedAgain() {
    let air = Connection([Self.crackleKey])
    air.beginCrackle()
    _ = air.peripheral(Self.first)
    _ = air.central(Self.second)
    let again = air.central(Self.second)
    #expect(again.air?.notes.contains(.retransmission) == true && again.security == [])
    #expect(again.air?.notes.contains(.decrypted) == true)
    #expect(air.central(Self.third.replacing("0e0f", with: "060f")).att?.opcode == .readByTypeRequest)
  }

  /// crackle 31: a key that does not fit is said, once, and nothing is made up.
  @Test func wrongKeyIsSaid() {
    let air = Connection([Self.sampleKey])
    air.beginCrackle()
    let start = air.peripheral(Self.first)
    #expect(start.air?.notes.contains(.encrypted) == true)
    #expect(start.security == [SecurityNote(.protection, "encrypted, and none of the known keys fits")])
    #expect(air.central(Self.second).security == [])
  }

  @Test func keyInTheOtherOrderIsSaid() {
    let air = Connection([Self.crackleKey.reversed()])
    air.beginCrackle()
    #expect(
      air.peripheral(Self.first).security.texts(.protection)
        == ["decrypted with the given key, in the other byte order"])
  }

  @Test func unknownKeyIsSaid() {
    let air = Connection([])
    air.beginCrackle()
    #expect(
      air.peripheral(Self.first).security.texts(.protection).first?.hasPrefix("encrypted, and no key") == true
    )
    #expect(air.central(Self.second).security == [])
  }

  @Test func damagedPacketIsSaid() {
    let air = Connection([Self.crackleKey])
    air.beginCrackle()
    _ = air.peripheral(Self.first)
    let damaged = air.central(Self.second.replacing("fe1e", with: "fe1f"))
    #expect(damaged.security.texts(.fault).count == 1 && damaged.air?.notes.contains(.encrypted) == true)
    #expect(air.central(Self.third.replacing("0e0f", with: "060f")).att?.opcode == .readByTypeRequest)
  }

  /// crackle 31 and 32: without both halves of the session key, no key helps.
  @Test func missingExchangeIsSaid() {
    let air = Connection([Self.crackleKey])
    _ = air.peripheral("070d 04 1ce942b569282c10 f4cf59cd")
    _ = air.peripheral("0b01 05")
    #expect(
      air.peripheral(Self.first).security.texts(.protection).first?.contains("lacks LL_ENC_REQ") == true)
  }

  @Test func withoutLibraryNothingIsSaid() {
    let air = Connection([Self.crackleKey], library: nil)
    air.beginCrackle()
    let start = air.peripheral(Self.first)
    #expect(start.security == [] && start.air?.notes.contains(.encrypted) == true)
  }
}
