import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// A table of another device that is offered again: what a rule of the specification answers is not what was recorded.
@Suite struct OfferedTableTests {
  /// Generic Attribute as a phone stack has it, with what one client has left there, and a characteristic with descriptors.
  private static let recorded: [ServerAttribute] = {
    func attribute(_ handle: UInt16, _ type: UInt16, _ value: String) -> ServerAttribute {
      ServerAttribute(
        handle: AttributeHandle(handle), type: BluetoothUUID(type), access: [.read, .write],
        value: hex(value),
        capacity: 512)
    }
    return [
      attribute(1, 0x2800, "0118"), attribute(2, 0x2803, "20 0300 052a"), attribute(3, 0x2A05, ""),
      attribute(4, 0x2902, "0200"), attribute(5, 0x2803, "0a 0600 292b"), attribute(6, 0x2B29, "07"),
      attribute(7, 0x2803, "02 0800 2a2b"), attribute(8, 0x2B2A, "000102030405060708090a0b0c0d0e0f"),
      attribute(9, 0x2803, "02 0a00 3a2b"), attribute(10, 0x2B3A, "01"),
      attribute(16, 0x2800, "1a18"), attribute(17, 0x2803, "9a 1200 6e2a"), attribute(18, 0x2A6E, "d007"),
      attribute(19, 0x2901, "61"), attribute(20, 0x2900, "0200"), attribute(21, 0x2902, "0100"),
      attribute(22, 0x2903, "0000"), attribute(23, 0x2904, "0efe2f27010000"),
      attribute(24, 0x2803, "02 1900 6f2a"), attribute(25, 0x2A6F, "10"), attribute(26, 0x2901, "62"),
      attribute(27, 0x2900, "0100"), attribute(28, 0x2905, "1700"),
    ]
  }()

  private static func hash(_ bytes: [UInt8]) -> [UInt8]? {
    [UInt8(truncatingIfNeeded: bytes.count)] + Array(repeating: 7, count: 15)
  }

  private let dialogue = ServerDialogue(AttributeDatabase(offering: recorded, hash: hash))

  /// SR/GAS/BV-03. BlueZ (cli_feat_write_cb in src/gatt-database.c) keeps what each device has set, and refuses to clear it; a
  /// value of several bytes got Invalid Attribute Value Length there (bluez/bluez 1105), and is taken here: its length may grow.
  @Test func featuresAreThoseOfEachClient() {
    let other = dialogue.otherClient()
    #expect(dialogue.ask("0a 0600") == "0b00" && dialogue.ask("12 0600 01") == "13")
    #expect(dialogue.ask("12 0600 04") == "0112060013" && dialogue.ask("12 0600 0501") == "13")
    #expect(dialogue.ask("12 0600 05") == "0112060013" && dialogue.ask("0a 0600") == "0b0501")
    #expect(other.ask("0a 0600") == "0b00")
  }

  /// The recorded hash is that of another table as soon as a line of the file is changed; a phone that knows it would use the
  /// handles of the device (apache/mynewt-nimble 1456).
  @Test func theHashIsThatOfTheTable() {
    let count = UInt8(truncatingIfNeeded: dialogue.database.hashedBytes.count)
    let hash = String(repeating: "07", count: 15) + Hex.string([count])
    #expect(dialogue.ask("08 0100 ffff 2a2b") == "09120800" + hash && dialogue.ask("0a 0800") == "0b" + hash)
    // Without AES-CMAC there is none.
    #expect(
      ServerDialogue(AttributeDatabase(offering: Self.recorded, hash: nil)).ask("0a 0800") == "010a08000e")
  }

  /// The recorded server has enhanced bearers; this one has none.
  @Test func serverFeaturesAreOurs() { #expect(dialogue.ask("0a 0a00") == "0b00") }

  @Test func serviceChangedIsIndicated() {
    #expect(dialogue.ask("0a 0300") == "010a030002" && dialogue.ask("0a 0400") == "0b0000")
    #expect(dialogue.ask("12 0400 0200") == "13")
    dialogue.database.addService(0x180F)
    #expect(dialogue.takeSent() == "1d03001d001d00")
  }

  /// Vol 3, Part G, 3.3.3. Bytes that one phone has written to a description were shown to all (nkolban/esp32-snippets 581); what
  /// tells the format of a value is no client's to change.
  @Test func descriptorsAreReadOnly() {
    for (handle, value) in [
      ("1400", "0200"), ("1700", "0efe2f27010000"), ("1a00", "62"), ("1b00", "0100"), ("1c00", "1700"),
    ] {
      #expect(
        dialogue.ask("12 \(handle) 00") == "0112\(handle)03"
          && dialogue.ask("16 \(handle) 0000 00") == "0116\(handle)03")
      #expect(dialogue.ask("0a \(handle)") == "0b" + value)
    }
  }

  /// 3.3.3.2: Writable Auxiliaries, which stand behind the description here.
  @Test func aDescriptionMayBeWritable() {
    #expect(dialogue.ask("12 1300 4141") == "13" && dialogue.otherClient().ask("0a 1300") == "0b4141")
  }

  /// 3.3.3.3 and 3.3.3.4: each client has its own configuration; that of the server is one for all.
  @Test func configurationsAreWritten() {
    let other = dialogue.otherClient()
    #expect(dialogue.ask("12 1500 0100") == "13" && other.ask("0a 1500") == "0b0000")
    #expect(dialogue.ask("12 1500 0200") == "01121500fd")
    #expect(dialogue.ask("12 1600 0100") == "13" && other.ask("0a 1600") == "0b0100")
    #expect(dialogue.ask("12 1600 010000") == "011216000d")
  }

  @Test func aValueIsUsedAsItsPropertiesSay() {
    #expect(dialogue.ask("12 1200 00") == "13" && dialogue.ask("12 1900 00") == "0112190003")
    // It was refused when the table was made: nobody knows it.
    var table = Self.recorded
    table[12].access = .write
    #expect(ServerDialogue(AttributeDatabase(offering: table, hash: nil)).ask("0a 1200") == "010a120002")
  }

  /// A replay answers as the recorded device did.
  @Test func servesRecordedTableUnchanged() {
    let dialogue = ServerDialogue(Self.recorded)
    #expect(dialogue.ask("0a 0600") == "0b07" && dialogue.ask("0a 0a00") == "0b01")
    #expect(dialogue.ask("12 1700 00") == "13" && dialogue.ask("0a 1700") == "0b00")
  }
}
