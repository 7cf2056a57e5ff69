import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// What clients learn of changes, and what they may do before they have learned it.
@Suite struct RobustCachingTests {
  /// The attributes of the example of the Core Specification, Vol 3, Part G, Appendix B, and what is authenticated of them.
  @Test func theHashIsOverTheDeclarations() {
    func attribute(_ handle: UInt16, _ type: UInt16, _ value: String = "") -> ServerAttribute {
      ServerAttribute(handle: AttributeHandle(handle), type: BluetoothUUID(type), value: hex(value))
    }
    let database = AttributeDatabase([
      attribute(1, 0x2800, "0018"), attribute(2, 0x2803, "0a0300002a"), attribute(3, 0x2A00, "41"),
      attribute(4, 0x2803, "020500012a"), attribute(5, 0x2A01, "0000"), attribute(6, 0x2800, "0118"),
      attribute(7, 0x2803, "200800052a"), attribute(8, 0x2A05), attribute(9, 0x2902),
      attribute(10, 0x2803, "0a0b00292b"), attribute(11, 0x2B29), attribute(12, 0x2803, "020d002a2b"),
      attribute(13, 0x2B2A), attribute(14, 0x2800, "0818"), attribute(15, 0x2802, "140016000f18"),
      attribute(16, 0x2803, "a21100182a"), attribute(17, 0x2A18), attribute(18, 0x2902),
      attribute(19, 0x2900, "0000"), attribute(20, 0x2801, "0f18"), attribute(21, 0x2803, "021600192a"),
      attribute(22, 0x2A19, "64"),
    ])
    let message =
      "010000280018 020003280a0300002a 04000328020500012a 060000280118 07000328200800052a 09000229"
      + "0a0003280a0b00292b 0c000328020d002a2b 0e0000280818 0f000228140016000f18 10000328a21100182a 12000229"
      + "130000290000 140001280f18 15000328021600192a"
    #expect(Hex.string(database.hashedBytes) == message.filter { $0 != " " })
  }

  private let dialogue = ServerDialogue { database in
    // Handles 1 to 11, and 12 to 15.
    database.addGenericAttribute { [UInt8(truncatingIfNeeded: $0.count)] + Array(repeating: 7, count: 15) }
    database.addService(0x180D)
    database.addCharacteristic(0x2A37, [.read, .write, .writeWithoutResponse, .notify], value: [1])
  }
  private var server: ServerBearer { dialogue.server }

  private func addService() {
    dialogue.database.update { database in
      database.addService(0x180F)
      database.addCharacteristic(0x2A19, .read, value: [81])
    }
  }

  private func turnOn() { #expect(dialogue.ask("12 0600 01") == "13") }

  /// SR/GAS/BV-02. bluekitchen/btstack 385: a phone used old handles, as the hash did not tell it.
  @Test func theHashChangesWithTheAttributes() throws {
    let before = dialogue.ask("08 0100 ffff 2a2b")
    // The least significant byte first.
    #expect(before.hasPrefix("0912 0800 07070707".filter { $0 != " " }))
    addService()
    let after = dialogue.ask("08 0100 ffff 2a2b")
    #expect(before != after && after.hasPrefix("09120800"))
    #expect(dialogue.ask("0a 0a00") == "0b00")
  }

  /// SR/GAS/BV-03, 04: features belong to one client, and are never turned off.
  @Test func clientSupportedFeaturesCannotBeCleared() {
    #expect(dialogue.ask("0a 0600") == "0b00")
    turnOn()
    #expect(dialogue.ask("0a 0600") == "0b01" && dialogue.otherClient().ask("0a 0600") == "0b00")
    #expect(dialogue.ask("12 0600 00") == "0112060013" && dialogue.ask("12 0600") == "011206000d")
    #expect(dialogue.ask("12 0600 05") == "13" && dialogue.ask("0a 0600") == "0b05")
  }

  /// SR/GAS/BV-05: Database Out Of Sync once; with the next request the client is aware.
  @Test func changeUnawareClientGetsDatabaseOutOfSyncOnce() {
    turnOn()
    addService()
    #expect(dialogue.ask("0a 0d00") == "010a000012")
    #expect(dialogue.ask("0a 0d00") == "0b01")
    // Each change is told.
    addService()
    #expect(dialogue.ask("12 0d00 02") == "0112000012" && dialogue.ask("12 0d00 02") == "13")
  }

  /// apache/mynewt-nimble 1456: with an old table, a phone read the value of another characteristic.
  @Test func clientWithoutRobustCachingGetsNoOutOfSyncError() {
    addService()
    #expect(dialogue.ask("0a 0d00") == "0b01")
  }

  /// SR/GAS/BV-06: commands are ignored, and nothing is sent but Service Changed.
  @Test func changeUnawareClientGetsOnlyServiceChanged() {
    turnOn()
    _ = dialogue.ask("12 0400 0200")
    _ = dialogue.ask("12 0e00 0100")
    addService()
    #expect(dialogue.takeSent() == "1d03000f001100")
    #expect(server.notify([5], of: 0x000D) == .notSubscribed)
    #expect(dialogue.ask("52 0d00 09") == "" && dialogue.database.value(of: 0x000D) == [1])
    // SR/GAS/BV-08: the confirmation makes it aware.
    #expect(dialogue.ask("1e") == "")
    #expect(server.notify([5], of: 0x000D) == .sent && dialogue.takeSent() == "1b0d0005")
    #expect(dialogue.ask("52 0d00 09") == "" && dialogue.database.value(of: 0x000D) == [9])
  }

  /// A change during the indication of another one is told, too, before the client counts as aware.
  @Test func aConfirmationIsOfItsOwnChange() {
    turnOn()
    _ = dialogue.ask("12 0400 0200")
    addService()
    addService()
    #expect(dialogue.takeSent() == "1d03000f001100")
    #expect(dialogue.ask("1e") == "1d030012001400" && dialogue.ask("0a 0d00") == "010a000012")
  }

  /// SR/GAS/BV-07: the hash is read over all handles, and in no other way; what finds attributes is answered.
  @Test(arguments: [
    ("08 0100 ffff 2a2b", true), ("08 0200 ffff 2a2b", false), ("0a 0800", false),
    ("08 0100 ffff 372a", false),
    ("08 0100 ffff 0328", true), ("08 0100 0b00 0228", true), ("10 0100 ffff 0028", true),
    ("06 0100 ffff 0028 0d18", true), ("04 0100 ffff", true), ("02 f700", true), ("0c 0d00 0000", false),
    ("0e 0d00 0600", false), ("16 0d00 0000 01", false), ("20 0d00 0600", false),
  ]) func permitsDiscoveryByChangeUnawareClient(_ request: String, _ isAnswered: Bool) {
    turnOn()
    addService()
    let answer = dialogue.ask(request)
    #expect((answer.hasPrefix("01") && answer.hasSuffix("12")) != isAnswered, "\(request): \(answer)")
  }

  /// It has read the hash: with its next request it is aware.
  @Test func readingDatabaseHashMakesClientChangeAware() {
    turnOn()
    addService()
    _ = dialogue.ask("08 0100 ffff 2a2b")
    #expect(dialogue.ask("0a 0d00") == "0b01")
  }

  /// Without a hash there is no robust caching, and Service Changed is there nevertheless, with its configuration
  /// (ARMmbed/mbed-os 13933: it had none, so that nobody could subscribe).
  @Test func withoutAHashServiceChangedIsThere() {
    let dialogue = ServerDialogue { $0.addGenericAttribute { _ in nil } }
    #expect(dialogue.ask("08 0100 ffff 0328") == "09070200200300052a")
    #expect(dialogue.ask("04 0100 ffff") == "0501010000280200032803 00052a04000229".filter { $0 != " " })
    #expect(dialogue.ask("12 0400 0200") == "13")
  }

  @Test func genericAccessHasTheName() {
    let dialogue = ServerDialogue { $0.addGenericAccess(name: "Möwe", appearance: 0x0341) }
    #expect(dialogue.ask("0a 0300") == "0b4dc3b67765" && dialogue.ask("0a 0500") == "0b4103")
    // No preferences: 0xFFFF for each but the latency (Part C, 12.3).
    #expect(dialogue.ask("0a 0700") == "0bffffffff0000ffff")
    // It has up to 248 bytes (12.1).
    let long = ServerDialogue { $0.addGenericAccess(name: String(repeating: "x", count: 600)) }
    #expect(long.database.value(of: 3)?.count == 248)
  }

  // MARK: Bonded clients

  /// What is kept of a bonded client has the table that it knows: one that leaves before it has confirmed a change is told of it
  /// on its next link, and one that has confirmed it is not told again.
  @Test(arguments: [false, true])
  func bondedClientIsToldOfChangeUntilItConfirms(_ confirms: Bool) throws {
    let subscribe = "12 0400 0200"
    #expect(dialogue.ask(subscribe) == "13")
    var record = server.record
    server.onRecordChange = { [server] in record = server.record }
    addService()
    #expect(dialogue.takeSent().hasPrefix("1d0300"))
    if confirms { _ = dialogue.ask("1e") }
    let again = dialogue.otherClient()
    again.server.restore(record)
    #expect(again.takeSent().hasPrefix("1d0300") == !confirms)
  }
}
