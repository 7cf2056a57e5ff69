import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Advertising reports (Core Specification Vol 4, Part E, 7.7.65; AD structures: Vol 3, Part C, 11).
@BluetoothActor
@Suite(.onTheLoop) struct AdvertisingTests {
  private final class Heard {
    var devices: [Advertisement] = []
  }

  /// What is heard of packets; a good report behind them is heard in any case.
  private func heard(_ packets: [String]) async throws -> [Advertisement] {
    let stage = Stage()
    try await stage.central.start()
    let heard = Heard()
    let scan = stage.central.scan { heard.devices.append($0) }
    for packet in packets { stage.radio.deliver(hex(packet)) }
    stage.radio.deliver(hex("04 3e 0f 02 01 00 01 ffffffffffc0 03 020106 c4"))
    await stage.sleep(.seconds(1))
    #expect(heard.devices.last?.address.value == 0xC0FF_FFFF_FFFF)
    scan.cancel()
    try await stage.checkHealth()
    return heard.devices.dropLast()
  }

  /// More reports claimed than given, lengths past the end: what is whole counts, the rest is dropped.
  @Test(
    arguments: [
      ("04 3e 0f 02 05 00 01 0102030405c0 03 020106 c4", 1),
      ("04 3e 0f 02 01 00 01 0102030405c0 ff 020106 c4", 0),
      ("04 3e 0f 02 ff 00 01 0102030405c0 03 020106 c4", 1), ("04 3e 0b 02 01 00 01 0102030405c0 03", 0),
      ("04 3e 02 02 00", 0), ("04 3e 02 02 ff", 0), ("04 3e 0f 02 01 09 01 0102030405c0 03 020106 c4", 0),
      ("04 3e 0f 0d 01 13 00 01 0102030405c0 01 00 ff 7f c4", 0),
    ] as [(String, Int)]) func reportsThatAreClaimedAndNotGivenAreDropped(_ packet: String, _ count: Int)
    async throws
  {
    #expect(try await heard([packet]).count == count)
  }

  /// Legacy reports of more than 31 bytes, which some controllers give.
  @Test func longLegacyDataIsRead() async throws {
    let data = "28 09" + String(repeating: "41", count: 39)
    let devices = try await heard(["04 3e 35 02 01 00 01 0102030405c0 29" + data + "c4"])
    #expect(devices.first?.localName == String(repeating: "A", count: 39))
  }

  /// Extended reports in pieces that never end: bounded, and others are heard.
  @Test func piecesThatNeverEndAreBounded() async throws {
    var packets: [String] = []
    for piece in 0..<2000 {
      let address = Hex.string([UInt8(piece % 100), 0, 0, 0, 0, 0xC0])
      // Event type 0x20: incomplete, more to come.
      packets.append(
        "04 3e 7e 0d 01 2000 01" + address + "01 01 00 7f c4 0000 00 000000000000 64"
          + String(repeating: "00", count: 100))
    }
    #expect(try await heard(packets).isEmpty)
  }

  /// AD structures: zero length, past the end, odd lists, no payload, two names, names that are not text.
  @Test(
    arguments: [
      ("00", nil), ("00 09 41", nil), ("05 09 41", nil), ("ff 09 41", nil), ("01 09", ""),
      ("04 03 0d 18 0f", nil),
      ("03 09 41 42 03 09 43 44", "AB"), ("03 08 41 42 03 09 43 44", "CD"), ("05 09 1b5b324a", nil),
      ("03 09 ff fe", nil),
      ("02 ff 4c", nil), ("02 16 0d", nil), ("02 01", nil), ("01", nil), ("02 0a 7f", nil), ("", nil),
    ] as [(String, String?)]) func structuresThatAreDamagedCostThemselvesOnly(_ data: String, _ name: String?)
    async throws
  {
    let bytes = hex(data)
    let packet = hex("02 01 00 01 0102030405c0") + [UInt8(bytes.count)] + bytes + [0xC4]
    let devices = try await heard([Hex.string([4, 0x3E, UInt8(packet.count)] + packet)])
    let device = try #require(devices.first)
    if let name { #expect((device.localName ?? "") == name) }
    // Nothing that a terminal would obey.
    #expect(device.localName?.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ?? true)
  }

  @Test func aSignalStrengthOf127IsNotKnown() async throws {
    let devices = try await heard(["04 3e 0f 02 01 00 01 0102030405c0 03 020106 7f"])
    #expect(devices.first?.rssi == nil)
    #expect(devices.count == 1)
  }

  /// An address of unknown type is heard, not connectable, and never connected to as another type.
  @Test(arguments: [0x04, 0x7F, 0xFE, 0xFF] as [UInt8]) func addressesOfUnknownTypeAreNotConnectedTo(
    _ kind: UInt8
  ) async throws {
    let devices = try await heard([
      "04 3e 0f 02 01 00" + Hex.string([kind]) + "0102030405c0 03 020106 c4"
    ])
    let device = try #require(devices.first)
    #expect(device.address.kind.rawValue == kind)
    #expect(!device.isConnectable)
    let stage = Stage(Peer(1, kind: .init(rawValue: kind)))
    try await stage.central.start()
    let error = await failure { () async throws(StackError) in try await stage.connect() }
    #expect(error == .unknownAddressType(stage.peer.address))
    #expect(!stage.radio.commands.contains(LECreateConnection.opcode))
    try await stage.checkHealth()
  }

  /// Identity addresses are of a known type (Vol 4, Part E, 7.7.65.2).
  @Test(arguments: [0x00, 0x01, 0x02, 0x03] as [UInt8]) func addressesOfKnownTypesAre(_ kind: UInt8)
    async throws
  {
    let devices = try await heard([
      "04 3e 0f 02 01 00" + Hex.string([kind]) + "0102030405c0 03 020106 c4"
    ])
    #expect(devices.first?.isConnectable == true)
  }
}
