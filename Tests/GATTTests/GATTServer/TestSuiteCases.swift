import ATT
@testable import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// The database of the cases: handles 0x0001 to 0x0017.
enum CaseDatabase {
  static let long = (0..<50).map { UInt8($0) }
  static let annex = BluetoothUUID(7 as UInt128)

  static func make() -> AttributeDatabase {
    let database = AttributeDatabase()
    database.addService(uuid("180f"))
    // 0x0003, its configuration 0x0004, its description 0x0005.
    database.addCharacteristic(
      uuid("2a19"), [.read, .write, .writeWithoutResponse, .notify, .indicate], value: [1, 2, 3],
      capacity: 20)
    database.addDescriptor(uuid("2901"), value: Array("text".utf8))
    // 0x0007, 0x0009, 0x000B, 0x000D.
    database.addCharacteristic(uuid("2a1a"), .write)
    database.addCharacteristic(uuid("2a1b"), [.read, .write], value: [9], security: .authorized)
    database.addCharacteristic(uuid("2a1c"), [.read, .write], value: [11], security: .authenticated)
    database.addCharacteristic(
      uuid("2a1d"), [.read, .write], value: [13],
      security: SecurityRequirement(needsEncryption: true, minimumKeySize: 16))
    // 0x000F, its description 0x0010.
    database.addCharacteristic(uuid("2a1e"), [.read, .write], value: long)
    database.addDescriptor(uuid("2901"), value: Array(long.prefix(30)), access: [.read, .write])
    let annex = database.addService(annex, isPrimary: false)
    database.addCharacteristic(uuid("2a1f"), .read, value: [5])
    database.addService(uuid("180a"))
    database.addInclude(HandleRange(annex, 0x0013), Self.annex)
    database.addInclude(range(0x0001, 0x0010), uuid("180f"))
    return database
  }

  /// The bytes of the long value, as digits.
  static func digits(_ places: Range<Int>) -> String { Hex.string(Array(long[places])) }
}

/// The cases of the public test suite GATT, as dialogues with the server: the identifier without the suffix, a PDU, and
/// the answer. Values are for an MTU of 23.
@Suite struct TestSuiteCases {
  private static let weak = LinkSecurity(isEncrypted: true, isPaired: true, keySize: 7)

  private static let answers: [(id: String, request: String, response: String)] = [
    ("SR/GAD/BV-01", "10 0100 ffff 0028", "1106 0100 1000 0f18 1400 1600 0a18"),
    ("SR/GAD/BV-01, end", "10 1500 ffff 0028", "0110 1500 0a"),
    ("SR/GAD/BV-01, secondary", "10 0100 ffff 0128", "1114 1100 1300 07000000000000000000000000000000"),
    ("SR/GAD/BV-01, no group", "10 0100 ffff 0328", "0110 0100 10"),
    ("SR/GAD/BV-02", "06 0100 ffff 0028 0a18", "07 1400 1600"),
    ("SR/GAD/BV-02, none", "06 0100 ffff 0028 0d18", "0106 0100 0a"),
    ("SR/GAD/BV-03", "08 1400 1600 0228", "0906 1500 1100 1300"),
    ("SR/GAD/BV-03, 16 bits", "08 1600 1600 0228", "0908 1600 0100 1000 0f18"),
    ("SR/GAD/BV-03, end", "08 0100 1000 0228", "0108 0100 0a"),
    ("SR/GAD/BV-04", "08 0100 0600 0328", "0907 0200 3e 0300 192a 0600 08 0700 1a2a"),
    ("SR/GAD/BV-06", "04 0400 0500", "0501 0400 0229 0500 0129"),
    ("SR/GAD/BV-06, end", "04 1700 ffff", "0104 1700 0a"),
    ("SR/GAR/BV-01", "0a 0300", "0b 010203"),
    ("SR/GAR/BI-01 to 05", "0a 0700", "010a 0700 02"),
    ("SR/GAR/BI-01 to 05", "0a ff00", "010a ff00 01"),
    ("SR/GAR/BI-01 to 05", "0a 0000", "010a 0000 01"),
    ("SR/GAR/BI-01 to 05", "0a 0900", "010a 0900 08"),
    ("SR/GAR/BI-01 to 05", "0a 0b00", "010a 0b00 05"),
    ("SR/GAR/BV-03", "08 0100 ffff 192a", "0905 0300 010203"),
    ("SR/GAR/BI-06 to 11", "08 0100 ffff 1a2a", "0108 0700 02"),
    ("SR/GAR/BI-06 to 11", "08 0100 ffff ff2a", "0108 0100 0a"),
    ("SR/GAR/BI-06 to 11", "08 0000 ffff 192a", "0108 0000 01"),
    ("SR/GAR/BI-06 to 11", "08 0500 0400 192a", "0108 0500 01"),
    ("SR/GAR/BI-06 to 11", "08 0100 ffff 1b2a", "0108 0900 08"),
    ("SR/GAR/BI-06 to 11", "08 0100 ffff 1c2a", "0108 0b00 05"),
    ("SR/GAR/BV-04", "0c 0f00 1600", "0d" + CaseDatabase.digits(22..<44)),
    ("SR/GAR/BV-04, rest", "0c 0f00 2c00", "0d" + CaseDatabase.digits(44..<50)),
    ("SR/GAR/BV-04, nothing left", "0c 0f00 3200", "0d"),
    ("SR/GAR/BV-04, not long", "0c 0300 0000", "0d010203"),
    ("SR/GAR/BI-12 to 17", "0c 0700 0000", "010c 0700 02"),
    ("SR/GAR/BI-12 to 17", "0c 0f00 3300", "010c 0f00 07"),
    ("SR/GAR/BI-12 to 17", "0c ff00 0000", "010c ff00 01"),
    ("SR/GAR/BI-12 to 17", "0c 0900 0000", "010c 0900 08"),
    ("SR/GAR/BI-12 to 17", "0c 0b00 0000", "010c 0b00 05"),
    ("SR/GAR/BV-05", "0e 0300 0f00", "0f 010203" + CaseDatabase.digits(0..<19)),
    ("SR/GAR/BI-45", "0e 0300 0300", "0f 010203 010203"),
    ("SR/GAR/BI-18 to 22", "0e 0300 0700", "010e 0700 02"),
    ("SR/GAR/BI-18 to 22", "0e ff00 0700", "010e ff00 01"),
    ("SR/GAR/BI-18 to 22", "0e 0300 0900", "010e 0900 08"),
    ("SR/GAR/BI-18 to 22", "0e 0b00 0900", "010e 0b00 05"),
    ("SR/GAR/BV-06", "0a 0500", "0b 74657874"),
    ("SR/GAR/BV-07", "0c 1000 1600", "0d" + CaseDatabase.digits(22..<30)),
    ("SR/GAR/BV-08", "0c 1000 1e00", "0d"),
    ("SR/GAR/BV-09", "20 0300 0f00", "21 0300 010203 3200" + CaseDatabase.digits(0..<15)),
    ("SR/GAR/BV-09, repeated", "20 0300 0300", "21 0300 010203 0300 010203"),
    ("SR/GAR/BI-36 to 44", "20 0300 0700", "0120 0700 02"),
    ("SR/GAR/BI-36 to 44", "20 0300 ff00", "0120 ff00 01"),
    ("SR/GAR/BI-36 to 44", "20 0300 0900", "0120 0900 08"),
    ("SR/GAR/BI-36 to 44", "20 0300 0b00", "0120 0b00 05"),
    ("SR/GAW/BI-02 to 06", "12 ff00 01", "0112 ff00 01"),
    ("SR/GAW/BI-02 to 06", "12 0500 01", "0112 0500 03"),
    ("SR/GAW/BI-02 to 06", "12 0900 01", "0112 0900 08"),
    ("SR/GAW/BI-02 to 06", "12 0b00 01", "0112 0b00 05"),
    ("SR/GAW/BI-07 to 13", "16 ff00 0000 01", "0116 ff00 01"),
    ("SR/GAW/BI-07 to 13", "16 0500 0000 01", "0116 0500 03"),
    ("SR/GAW/BI-07 to 13", "16 0900 0000 01", "0116 0900 08"),
    ("SR/GAW/BI-07 to 13", "16 0b00 0000 01", "0116 0b00 05"),
    ("SR/GAW/BV-11", "18 01", "19"),
    ("SR/GAW/BI-32", "12 0300 000000000000000000000000000000000000000000", "0112 0300 0d"),
    ("SR/UNS/BI-01", "3f 01", "013f 0000 06"),
    ("SR/UNS/BI-02", "7f 01", ""),
  ]

  @Test(arguments: answers) func oneAnswer(_ name: String, _ request: String, _ answer: String) {
    #expect(ServerDialogue(CaseDatabase.make()).ask(request) == answer.filter { $0 != " " }, "\(name)")
  }

  /// A key that is too short: 0C, of each procedure.
  @Test(arguments: [
    ("SR/GAR/BI-05", "0a 0d00", "010a"), ("SR/GAR/BI-11", "08 0100 ffff 1d2a", "0108"),
    ("SR/GAR/BI-17", "0c 0d00 0000", "010c"), ("SR/GAR/BI-22", "0e 0300 0d00", "010e"),
    ("SR/GAR/BI-44", "20 0300 0d00", "0120"), ("SR/GAW/BI-06", "12 0d00 01", "0112"),
    ("SR/GAW/BI-13", "16 0d00 0000 01", "0116"),
  ])
  func theKeyIsTooShort(_ name: String, _ request: String, _ answer: String) {
    let dialogue = ServerDialogue(CaseDatabase.make(), security: Self.weak)
    #expect(dialogue.ask(request) == answer + "0d000c", "\(name)")
    dialogue.server.security.keySize = 16
    #expect(!dialogue.ask(request).hasPrefix("01"), "\(name)")
  }

  /// A client with a key that has not encrypted the link is told to do that, one without that it has to pair.
  @Test func securityErrorDependsOnPairing() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    #expect(dialogue.ask("0a 0d00") == "010a0d0005")
    dialogue.server.security.isPaired = true
    #expect(dialogue.ask("0a 0d00") == "010a0d000f")
  }

  @Test("SR/GAC/BV-01") func theSmallerMTUIsUsed() {
    let dialogue = ServerDialogue(CaseDatabase.make(), mtu: 100)
    #expect(dialogue.ask("02 2800") == "036400")
    #expect(dialogue.ask("0a 0f00") == "0b" + CaseDatabase.digits(0..<39))
  }

  @Test("SR/GAW/BV-01, BV-02, BI-36 to 40") func commandsWriteWithoutAnAnswer() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    #expect(dialogue.ask("52 0300 aa") == "" && dialogue.ask("0a 0300") == "0baa")
    // Too long, without the property, without the security.
    let long = Hex.string(Array(repeating: UInt8(0), count: 21))
    for command in ["52 0300 " + long, "52 0700 01", "52 0900 01", "52 ff00 01"] {
      #expect(dialogue.ask(command) == "")
    }
    // Without a key nothing is signed.
    #expect(dialogue.ask("d2 0300 bb 00000000 1122334455667788") == "")
    #expect(dialogue.ask("0a 0300") == "0baa" && dialogue.takeEvents() == [.written(3, [0xAA])])
  }

  @Test("SR/GAW/BV-03, BV-08") func requestsWrite() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    #expect(dialogue.ask("12 0300 0405") == "13" && dialogue.ask("0a 0300") == "0b0405")
    #expect(dialogue.ask("12 1000 61") == "13" && dialogue.ask("0a 1000") == "0b61")
    #expect(dialogue.takeEvents() == [.written(3, [4, 5]), .written(0x10, [0x61])])
  }

  @Test("SR/GAW/BV-05, BV-09") func longWritesAreEchoed() {
    for handle in ["0f00", "1000"] {
      let dialogue = ServerDialogue(CaseDatabase.make())
      #expect(dialogue.ask("16 \(handle) 0000 aabb") == "17\(handle)0000aabb")
      #expect(dialogue.ask("16 \(handle) 0200 cc") == "17\(handle)0200cc")
      // Nothing is written before it is executed.
      #expect(dialogue.ask("0a \(handle)") == "0b" + CaseDatabase.digits(0..<22))
      #expect(dialogue.ask("18 01") == "19" && dialogue.ask("0a \(handle)") == "0baabbcc")
    }
  }

  @Test("SR/GAW/BV-06, BV-07, BV-10") func severalValuesAreWrittenReliably() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    for part in ["16 0300 0000 01", "16 0f00 0000 02", "16 0300 0100 03"] { _ = dialogue.ask(part) }
    #expect(dialogue.ask("18 01") == "19")
    #expect(dialogue.ask("0a 0300") == "0b0103" && dialogue.ask("0a 0f00") == "0b02")
    #expect(dialogue.takeEvents() == [.written(3, [1, 3]), .written(15, [2])])
    _ = dialogue.ask("16 0300 0000 ff")
    #expect(dialogue.ask("18 00") == "19" && dialogue.ask("18 01") == "19")
    #expect(dialogue.ask("0a 0300") == "0b0103" && dialogue.takeEvents() == [])
  }

  @Test("SR/GAW/BI-09, BI-33") func aQueueIsExecutedAsAWhole() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    for part in ["16 0300 0000 aa", "16 0f00 3300 bb"] { _ = dialogue.ask(part) }
    // The handle is that of the value that can't be written.
    #expect(dialogue.ask("18 01") == "01180f0007" && dialogue.ask("0a 0300") == "0b010203")
    _ = dialogue.ask("16 0f00 0000 aa")
    _ = dialogue.ask("16 0300 0000 000000000000000000000000000000000000")
    _ = dialogue.ask("16 0300 1200 000000")
    #expect(dialogue.ask("18 01") == "011803000d")
    #expect(dialogue.ask("0a 0f00") == "0b" + CaseDatabase.digits(0..<22))
  }

  @Test("SR/GAW/BI-41") func anAttributeOfTheQueueIsGone() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    _ = dialogue.ask("16 0300 0000 aa")
    dialogue.database.removeService(at: 1)
    #expect(dialogue.ask("18 01") == "0118030012" && dialogue.ask("18 01") == "19")
  }

  @Test("SR/GAN/BV-01") func notifiesOnlySubscribedClient() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    #expect(dialogue.server.notify([1], of: 3) == .notSubscribed && dialogue.takeSent() == "")
    #expect(dialogue.ask("12 0400 0100") == "13" && dialogue.takeEvents() == [.configured(3, .notify)])
    #expect(dialogue.server.notify(CaseDatabase.long, of: 3) == .sent)
    #expect(dialogue.takeSent() == "1b0300" + CaseDatabase.digits(0..<20))
    #expect(dialogue.server.indicate([1], of: 3) == .notSubscribed)
    #expect(dialogue.ask("12 0400 0000") == "13" && dialogue.server.notify([1], of: 3) == .notSubscribed)
    #expect(dialogue.server.notify([1], of: 0x0F) == .notSubscribed && dialogue.takeSent() == "")
  }

  @Test("SR/GAI/BV-01") func oneIndicationWaitsForItsConfirmation() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    #expect(dialogue.ask("12 0400 0200") == "13")
    #expect(dialogue.server.indicate([1], of: 3) == .sent && dialogue.server.indicate([2], of: 3) == .queued)
    #expect(dialogue.takeSent() == "1d030001")
    // Requests are answered meanwhile.
    #expect(dialogue.ask("0a 0300") == "0b010203" && dialogue.ask("1e") == "1d030002")
    #expect(dialogue.ask("1e") == "" && dialogue.ask("1e") == "")
    #expect(
      dialogue.takeEvents() == [
        .configured(3, .indicate), .confirmed(3), .confirmed(3), .unexpectedConfirmation,
      ])
  }

  @Test("SR/GAT/BV-01") func unconfirmedIndicationEndsBearer() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    _ = dialogue.ask("12 0400 0200")
    var ends: [StackError] = []
    dialogue.unlinked.bearer.onTimeout = { ends.append($0) }
    dialogue.server.indicate([1], of: 3)
    dialogue.server.indicate([2], of: 3)
    dialogue.timers.advance(by: .seconds(30))
    #expect(dialogue.takeSent() == "1d030001" && ends == [.timedOut(.handleValueIndication)])
    #expect(dialogue.ask("1e") == "" && dialogue.ask("0a 0300") == "" && dialogue.takeSent() == "")
  }

  @Test("SR/GAS/BV-01") func indicatesServiceChangedToSubscribedClient() {
    let dialogue = ServerDialogue { database in
      database.addService(GATTUUID.genericAttribute)
      database.addCharacteristic(GATTUUID.serviceChanged, .indicate)
    }
    let other = dialogue.otherClient()
    _ = dialogue.ask("12 0400 0200")
    dialogue.database.update { database in
      database.addService(uuid("180f"))
      database.addCharacteristic(uuid("2a19"), .read)
    }
    #expect(dialogue.takeSent() == "1d030005000700" && other.takeSent() == "")
    // What changes before the confirmation is indicated as one range.
    dialogue.database.addService(uuid("180f"), at: 0x20)
    dialogue.database.removeService(at: 5)
    #expect(dialogue.takeSent() == "" && dialogue.ask("1e") == "1d030005002000")
    #expect(dialogue.ask("1e") == "")
  }

  @Test("SR/GPM/BV-01 to 06, SR/GAN/BV-03") func aConfigurationIsThatOfAClient() {
    let dialogue = ServerDialogue(CaseDatabase.make())
    let other = dialogue.otherClient()
    #expect(dialogue.ask("12 0400 0100") == "13")
    #expect(dialogue.ask("0a 0400") == "0b0100" && other.ask("0a 0400") == "0b0000")
    #expect(
      dialogue.ask("08 0100 ffff 0229") == "090404000100" && other.ask("0e 0400 0300") == "0f0000010203")
    #expect(other.server.notify([1], of: 3) == .notSubscribed)
    #expect(other.ask("12 0400 0400") == "01120400fd" && other.ask("12 0400 01") == "011204000d")
    // Prepared like any other value.
    #expect(other.ask("16 0400 0000 0200") == "17040000000200" && other.ask("18 01") == "19")
    #expect(other.server.configuration(of: 3) == .indicate && dialogue.server.configuration(of: 3) == .notify)
    // Without a bond it ends with the link.
    dialogue.unlinked.bearer.close("gone")
    #expect(dialogue.otherClient().ask("0a 0400") == "0b0000")
  }
}
