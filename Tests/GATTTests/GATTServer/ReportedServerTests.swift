import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// Servers that answered their clients wrongly, as reported in public, as dialogues with ours.
@Suite struct ReportedServerTests {
  /// Handles 1 to 0x0010: see `CaseDatabase`.
  private let dialogue = ServerDialogue(CaseDatabase.make())

  /// apache/mynewt-nimble 829: a value that filled the response hid that the next one may not be read.
  @Test func checksHandlesWithoutRoomInResponse() {
    #expect(dialogue.ask("0e 0f00 0700") == "010e070002")
    #expect(dialogue.ask("20 0f00 0700") == "0120070002")
    #expect(dialogue.ask("20 0f00 ff00") == "0120ff0001")
  }

  /// embassy-rs/trouble 642: a rejected Execute Write left the queue as it was, and the next long write failed.
  @Test func aRejectedExecutionEmptiesTheQueue() {
    _ = dialogue.ask("16 0f00 4000 aa")
    #expect(dialogue.ask("18 01") == "01180f0007")
    #expect(dialogue.ask("16 0f00 0000 bb") == "170f000000bb" && dialogue.ask("18 01") == "19")
    #expect(dialogue.ask("0a 0f00") == "0bbb")
    // Also one that a handler rejects.
    dialogue.database.setHandlers(of: 0x0F, read: nil) { _, _, reply in reply(.valueNotAllowed) }
    _ = dialogue.ask("16 0f00 0000 cc")
    #expect(dialogue.ask("18 01") == "01180f0013" && dialogue.ask("18 01") == "19")
    #expect(dialogue.ask("0a 0f00") == "0bbb")
  }

  /// apache/mynewt-nimble 1090: a value that changed between two parts of it reached the client as half of each. The value
  /// is stored here: the program changes it, and so does another client; one's own write begins another value.
  @Test func aStoredValueIsReadAsOne() throws {
    let (old, new) = (CaseDatabase.digits(0..<50), String(repeating: "ee", count: 50))
    func part(_ digits: String, _ places: Range<Int>) -> String {
      String(digits.dropFirst(2 * places.lowerBound).prefix(2 * places.count))
    }
    let other = dialogue.otherClient().exchanged(247)
    for change in [
      { try dialogue.database.setValue(hex(new), of: 0x0F) },
      { #expect(other.ask("12 0f00 " + new) == "13") },
    ] {
      try dialogue.database.setValue(hex(old), of: 0x0F)
      #expect(dialogue.ask("0a 0f00") == "0b" + part(old, 0..<22))
      try change()
      #expect(dialogue.ask("0c 0f00 1600") == "0d" + part(old, 22..<44))
      #expect(dialogue.ask("0c 0f00 2c00") == "0d" + part(old, 44..<50))
      // The long read is over; what a notification leaves out (zephyrproject-rtos/zephyr 23134) is that of the value of now.
      #expect(dialogue.ask("0c 0f00 1400") == "0d" + part(new, 20..<42))
      #expect(dialogue.ask("0a 0f00") == "0b" + part(new, 0..<22))
    }
    try dialogue.database.setValue(hex(old), of: 0x0F)
    _ = dialogue.ask("0a 0f00")
    #expect(dialogue.ask("12 0f00 aa") == "13" && dialogue.ask("0c 0f00 1600") == "010c0f0007")
  }

  /// A value that just fills its response may have more parts for all that the client knows.
  @Test func aValueThatFillsTheResponseEndsThere() throws {
    try dialogue.database.setValue(Array(CaseDatabase.long.prefix(22)), of: 0x0F)
    #expect(dialogue.ask("0a 0f00") == "0b" + CaseDatabase.digits(0..<22))
    try dialogue.database.setValue(CaseDatabase.long, of: 0x0F)
    #expect(dialogue.ask("0c 0f00 1600") == "0d")
  }

  /// embassy-rs/trouble 553: Prepare Write has to leave the value as it is.
  @Test func prepareWriteDoesNotChangeValue() {
    _ = dialogue.ask("16 0300 0000 ff")
    #expect(dialogue.ask("0a 0300") == "0b010203" && dialogue.takeEvents() == [])
  }

  /// zephyrproject-rtos/zephyr 117590: parts that were accepted stay when a later one is refused; the client cancels
  /// them.
  @Test func aRefusedPartLeavesTheQueue() {
    _ = dialogue.ask("16 0300 0000 07")
    #expect(dialogue.ask("16 0500 0000 08") == "0116050003")
    #expect(dialogue.ask("18 01") == "19" && dialogue.ask("0a 0300") == "0b07")
  }

  /// google/bumble 138: of values with one type, the first that can't be read is refused, a later one ends the list.
  @Test func anUnreadableValueEndsAList() {
    let dialogue = ServerDialogue { database in
      database.addService(uuid("180f"))
      database.addCharacteristic(uuid("2a19"), .read, value: [1])
      database.addCharacteristic(uuid("2a19"), .write)
      database.addCharacteristic(uuid("2a19"), .read, value: [3])
    }
    #expect(dialogue.ask("08 0100 ffff 192a") == "0903030001")
    #expect(dialogue.ask("08 0400 ffff 192a") == "0108050002")
    #expect(dialogue.ask("08 0600 ffff 192a") == "0903070003")
  }

  /// h2zero/NimBLE-Arduino 718: a subscription outlived the link, and the program notified a client that had not asked.
  @Test func aSubscriptionEndsWithTheLink() {
    _ = dialogue.ask("12 0400 0100")
    dialogue.unlinked.bearer.close("gone")
    #expect(dialogue.takeEvents() == [.configured(3, .notify), .configured(3, [])])
    #expect(dialogue.server.notify([1], of: 3) == .notSubscribed)
    #expect(dialogue.server.configuration(of: 3).isEmpty)
    let next = dialogue.otherClient()
    #expect(next.server.notify([1], of: 3) == .notSubscribed && next.ask("0a 0400") == "0b0000")
  }

  /// TorstenRobitzki/bluetoe 108: a write to a handle without attribute got Attribute Not Found.
  @Test func anUnknownHandleIsInvalid() {
    #expect(dialogue.ask("12 ff00 01") == "0112ff0001" && dialogue.ask("16 ff00 0000 01") == "0116ff0001")
  }

  /// TorstenRobitzki/bluetoe 109 and embassy-rs/trouble 502: two indications went out at once, and a client that did
  /// not confirm blocked the server for good.
  @Test func indicationsAreBoundedInNumberAndTime() {
    _ = dialogue.ask("12 0400 0300")
    var deliveries: [ServerBearer.Delivery] = []
    for value in UInt8(0)..<20 { deliveries.append(dialogue.server.indicate([value], of: 3)) }
    #expect(deliveries == [.sent] + Array(repeating: .queued, count: 16) + [.full, .full, .full])
    #expect(dialogue.server.notify([7], of: 3) == .sent && dialogue.takeSent() == "1d030000 1b030007")
    dialogue.timers.advance(by: .seconds(29))
    #expect(!dialogue.unlinked.bearer.isClosed && dialogue.ask("1e") == "1d030001")
    dialogue.timers.advance(by: .seconds(30))
    #expect(dialogue.unlinked.bearer.isClosed)
  }

  /// arduino-libraries/ArduinoBLE 95: an Error Response named another request than the one that it answered.
  @Test func anErrorNamesItsRequest() {
    for opcode in [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20] as [UInt8] {
      let answer = dialogue.ask(Hex.string([opcode]))
      #expect(answer == "01" + Hex.string([opcode]) + "000004")
    }
  }

  /// embassy-rs/trouble 349 and 608: values were cut at another MTU than the one in force.
  @Test func theMTUInForceCuts() {
    _ = dialogue.ask("12 0400 0100")
    func length() -> Int {
      dialogue.server.notify(Array(repeating: 1, count: 600), of: 3)
      return dialogue.takeSent().count / 2
    }
    #expect(length() == 23)
    _ = dialogue.ask("02 f700")
    #expect(length() == 247)
  }

  /// bluez/bluez 2057: Read Multiple Variable of a value that is longer than the response has room for.
  @Test func theLengthOfACutValueIsThatOfTheWhole() throws {
    #expect(dialogue.ask("20 0f00 0300") == "213200" + CaseDatabase.digits(0..<20))
    // Two bytes are left: the length is sent, and nothing of the value. One is left: neither.
    try dialogue.database.setValue(Array(CaseDatabase.long.prefix(18)), of: 0x10)
    #expect(dialogue.ask("20 1000 0300") == "211200" + CaseDatabase.digits(0..<18) + "0300")
    try dialogue.database.setValue(Array(CaseDatabase.long.prefix(19)), of: 0x10)
    #expect(dialogue.ask("20 1000 0300") == "211300" + CaseDatabase.digits(0..<19))
  }

  /// A client asks for the 128-bit form of a SIG's UUID if it was given that (BlueZ, unit/test-gatt.c: /TP/GAD/CL/BV-02-C-2), and
  /// a device may have stored it so. Both forms are one UUID (Vol 3, Part B, 2.5.1).
  @Test func aServiceIsFoundByEachFormOfItsUUID() {
    let dialogue = ServerDialogue([
      ServerAttribute(handle: 1, type: GATTUUID.primaryService, value: hex("0f18"), groupEnd: 2),
      ServerAttribute(
        handle: 3, type: GATTUUID.primaryService, value: hex("fb349b5f80000080001000000f180000"), groupEnd: 4),
      ServerAttribute(
        handle: 5, type: GATTUUID.primaryService, value: hex("fb349b5f80000080001000000f180100"), groupEnd: 6),
      ServerAttribute(handle: 6, type: 0x2A19, value: hex("0f18")),
    ])
    for form in ["0f18", "fb349b5f80000080001000000f180000"] {
      #expect(dialogue.ask("06 0100 ffff 0028 " + form) == "070100020003000400")
    }
    #expect(dialogue.ask("06 0100 ffff 0028 fb349b5f80000080001000000f180100") == "0705000600")
    // The bytes of other values are only bytes.
    #expect(dialogue.ask("06 0100 ffff 192a fb349b5f80000080001000000f180000") == "010601000a")
    // The type of an attribute is a UUID, in each form.
    #expect(dialogue.ask("08 0100 ffff fb349b5f8000008000100000192a0000") == "090406000f18")
  }

  // MARK: Faults that this server had

  @Test func aProtectedValueIsNotWritten() {
    let dialogue = ServerDialogue { database in
      database.addService(uuid("180f"))
      database.addCharacteristic(uuid("2a19"), [.read, .write], value: [1], security: .authenticated)
    }
    #expect(dialogue.ask("12 0300 aa") == "0112030005" && dialogue.ask("16 0300 0000 aa") == "0116030005")
    #expect(dialogue.ask("0a 0300") == "010a030005" && dialogue.database.value(of: 3) == [1])
  }

  /// The answer would tell the value to a client that may not read it.
  @Test func aProtectedValueIsNotCompared() {
    #expect(dialogue.ask("06 0100 ffff 1c2a 0b") == "010601000a")
    #expect(dialogue.ask("06 0100 ffff 192a 010203") == "0703000300")
    dialogue.server.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
    #expect(dialogue.ask("06 0100 ffff 1c2a 0b") == "070b000b00")
  }

  @Test func aDescriptorMayBeBeforeTheConfiguration() {
    let value = CharacteristicDeclaration(uuid("2a19"), [.notify], at: 3).bytes
    let dialogue = ServerDialogue([
      ServerAttribute(handle: 1, type: GATTUUID.primaryService, value: [0x0F, 0x18], groupEnd: 5),
      ServerAttribute(handle: 2, type: GATTUUID.characteristic, value: value),
      ServerAttribute(handle: 3, type: uuid("2a19"), access: []),
      ServerAttribute(handle: 4, type: uuid("2901"), value: [0x61]),
      ServerAttribute(
        handle: 5, type: GATTUUID.clientCharacteristicConfiguration, access: [.read, .write],
        configuration: 1),
    ])
    #expect(dialogue.ask("12 0500 0100") == "13" && dialogue.server.notify([7], of: 3) == .sent)
    #expect(dialogue.takeSent() == "1b030007" && dialogue.ask("0a 0400") == "0b61")
  }

  /// Each write of a configuration replaces the last one, whatever it was.
  @Test func aClientChangesFromNotificationsToIndications() {
    for (bytes, canNotify, canIndicate) in [
      ("0100", true, false), ("0200", false, true), ("0300", true, true), ("0000", false, false),
    ] {
      #expect(dialogue.ask("12 0400 " + bytes) == "13" && dialogue.ask("0a 0400") == "0b" + bytes)
      #expect((dialogue.server.notify([1], of: 3) == .sent) == canNotify)
      #expect((dialogue.server.indicate([2], of: 3) == .sent) == canIndicate)
      _ = dialogue.ask("1e")
    }
  }

  /// Without a server a bearer answers as one with an empty database does.
  @Test func anEmptyDatabaseAnswersLikeNone() {
    for first in 0...UInt8.max where first != ATTOpcode.handleValueConfirmation.rawValue {
      checkDecoderIsTotal([first] + hex("0100 ffff 0028")) { bytes in
        var sent: [[UInt8]] = []
        let bearer = ATTBearer(timers: Timers()) { sent.append(Array($0)) }
        bearer.receive(bytes.span.bytes, at: Arrival(.zero))
        let server = InMemoryServer(AttributeDatabase())
        #expect(server.receive(bytes.span.bytes) == sent, "\(Hex.string(bytes))")
      }
    }
  }
}
