import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct GATTTests {
  /// Battery (1...4): level (2, 3) with its configuration (4).
  private func discover(_ script: Script) {
    script.received(Script.connected)
    script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 0f18".dense)
    script.ask("10 0500 ffff 0028".dense, "01 10 0500 0a".dense)
    script.ask("08 0100 0400 0328".dense, "09 07 0200 12 0300 192a".dense)
    script.ask("04 0400 0400".dense, "05 01 0400 0229".dense)
  }

  /// A ring that is remembered is not discovered again, so that its capture does not name its handles.
  @Test func handlesAreNamedFromEarlierDiscoveries() throws {
    let level = Characteristic(
      uuid: BluetoothUUID(0x2A19 as UInt16), properties: .notify, declaration: 2, valueHandle: 3, end: 4)
    let configuration = Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: 4)
    let device = Dissector.KnownDevice(
      address: BluetoothAddress(0x3035_3841_BEEF, .public), characteristics: [level],
      descriptors: [configuration])
    let script = Script(known: [device])
    script.received(Script.connected)
    let notification = script.att("1b 0300 57".dense, isSent: false)
    #expect(notification.summary.contains("Battery Level"))
    let write = script.att("12 0400 0100".dense, isSent: true)
    #expect(write.summary.contains("Client Characteristic Configuration of Battery Level"))
    // Another device with the same handles is another matter.
    let stranger = Script(known: [device])
    #expect(!stranger.att("1b 0300 57".dense, isSent: false).summary.contains("Battery Level"))
  }

  /// Each part of a declaration has a section of its own (Vol 3, Part G, 3.3.1.1 to 3.3.1.3).
  @Test func theFieldsOfADeclarationHaveTheirSections() throws {
    let script = Script()
    script.received(Script.connected)
    script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 0f18".dense)
    script.att("08 0100 0400 0328".dense, isSent: true)
    let answer = script.att("09 07 0200 12 0300 192a".dense, isSent: false)
    let sections = answer.fields(of: .att).filter { $0.reference.contains("3.3.1") }.map {
      "\($0.name) \($0.reference)"
    }
    #expect(
      sections == [
        "value Vol 3, Part G, 3.3.1", "properties Vol 3, Part G, 3.3.1.1",
        "value handle Vol 3, Part G, 3.3.1.2",
        "UUID Vol 3, Part G, 3.3.1.3",
      ])
  }

  /// An include of a service with a long UUID has only its handles; the UUID is that of the service there.
  @Test func anIncludeSaysWhichServiceItIncludes() throws {
    let script = Script()
    script.received(Script.connected)
    script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 0f18 1000 1400 0a18".dense)
    script.ask("10 1500 ffff 0028".dense, "11 14 2000 2400 9ecadc240ee5a9e093f3a3b50100406e".dense)
    script.ask("08 0100 ffff 0228".dense, "09 08 0200 1000 1400 0a18".dense)
    script.ask("08 0300 ffff 0228".dense, "09 06 0300 2000 2400".dense)
    script.ask("08 0400 ffff 0228".dense, "09 06 0400 3000 3400".dense)
    let table = try #require(script.dissector.servers.first).table
    #expect(table[0x0002]?.longName == "includes Device Information (180A), 0x0010...0x0014")
    #expect(table[0x0003]?.longName == "includes 6E400001-B5A3-F393-E0A9-E50E24DCCA9E, 0x0020...0x0024")
    #expect(table[0x0004]?.longName == "includes a service, 0x0030...0x0034")
  }

  /// A descriptor belongs to a characteristic of its own service, also if the characteristics there were not discovered.
  @Test func aDescriptorIsNotNamedAfterAnotherService() {
    let script = Script()
    discover(script)
    script.ask("10 0500 ffff 0028".dense, "11 06 0500 0900 0d18".dense)
    script.ask("04 0700 0700".dense, "05 01 0700 0229".dense)
    let write = script.att("12 0700 0100".dense, isSent: true)
    #expect(write.gatt?.attribute?.name == "Client Characteristic Configuration")
  }

  /// Many devices use numbers that the SIG gave to companies or to services for characteristics (a treadmill of
  /// csacca/horizon-74-at-ble: FFF1 was named "ICCE Digital Key").
  @Test func doesNotNameCharacteristicAfterServiceUUID() throws {
    let script = Script()
    script.received(Script.connected)
    script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 f0ff".dense)
    let declaration = script.ask("08 0100 0400 0328".dense, "09 07 0200 12 0300 f1ff".dense)
    #expect(declaration.summary.contains("0x0002 FFF1 ("))
    #expect(script.att("1b 0300 57".dense, isSent: false).gatt?.attribute?.name == "FFF1")
  }

  /// A clock that was set back: an answer has no time since its request.
  @Test func aClockThatWasSetBackGivesNoDelay() {
    let script = Script()
    script.received(Script.connected)
    script.att("0a0300", isSent: true)
    script.pause(seconds: -100)
    let answer = script.att("0b57", isSent: false)
    #expect(answer.gatt?.request == nil || answer.gatt?.request?.microseconds == nil)
    #expect(answer.summary.contains("packet 2") && !answer.summary.contains("-"))
  }

  @Test func proceduresGoOverSeveralRequests() throws {
    let script = Script()
    script.received(Script.connected)
    let first = script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 0f18".dense)
    #expect(first.gatt?.procedure == .discoverPrimaryServices)
    #expect(first.gatt?.request?.microseconds == 1000)
    let last = script.ask("10 0500 ffff 0028".dense, "01 10 0500 0a".dense)
    #expect(last.gatt?.start == 2)
    #expect(last.gatt?.step == 2)
    #expect(last.att?.error == .attributeNotFound)
    #expect(last.fields(of: .gatt).first?.reference == "Vol 3, Part G, 4.4.1")
    // It was over: this is another one.
    #expect(script.att("10 0100 ffff 0028".dense, isSent: true).gatt?.step == 1)
  }

  @Test func handlesHaveNamesOnceTheyWereDiscovered() {
    let script = Script()
    #expect(script.att("1b030063", isSent: false).gatt?.attribute == nil)
    discover(script)
    let on = script.att("120400 0100".dense, isSent: true)
    #expect(on.gatt?.procedure == .writeDescriptor)
    #expect(
      on.summary
        == "Write Request, 0x0004 Client Characteristic Configuration of Battery Level: notifications on · "
        + "Write Characteristic Descriptors")
    let level = script.att("1b030063", isSent: false)
    #expect(level.summary == "Handle Value Notification, 0x0003 Battery Level: 99 percent · Notifications")
  }

  @Test func aLaterLinkToTheSameDeviceKnowsThem() {
    let script = Script()
    discover(script)
    script.received(Script.disconnected)
    script.received(Script.connected)
    #expect(script.att("1b030063", isSent: false).gatt?.attribute?.name == "Battery Level")
    script.received(Script.disconnected)
    // Another device.
    script.received(Script.connected.dense.replacing("efbe41383530", with: "010203040506"))
    #expect(script.att("1b030063", isSent: false).gatt?.attribute == nil)
  }

  @Test func bothSidesMayAskAtOnce() {
    let script = Script()
    script.received(Script.connected)
    script.att("02 0502".dense, isSent: true)
    script.att("02 f700".dense, isSent: false)
    let ours = script.att("03 0502".dense, isSent: true)
    #expect(ours.gatt?.request?.number == 3)
    let theirs = script.att("03 f700".dense, isSent: false)
    #expect(theirs.gatt?.request?.number == 2)
    #expect(theirs.gatt?.mtu == 247)
  }

  @Test func adaptersAreKeptApart() {
    let script = Script()
    script.att("0a0300", isSent: true, adapter: 0)
    #expect(script.att("0b41", isSent: false, adapter: 1).gatt == nil)
    #expect(script.att("0b41", isSent: false, adapter: 0).gatt?.request?.number == 1)
  }

  @Test func reportsUnansweredRequests() {
    let script = Script()
    script.received(Script.connected)
    script.att("0a0300", isSent: true)
    #expect(script.att("0a0500", isSent: true).gatt?.unanswered == 2)
    #expect(script.dissector.openRequests == [3])
    #expect(script.received(Script.disconnected).unanswered == [3])
    #expect(script.dissector.openRequests.isEmpty)
  }

  @Test func doesNotMatchResponseToAnotherRequest() {
    let script = Script()
    script.att("0a0300", isSent: true)
    #expect(script.att("13", isSent: false).gatt == nil)
    #expect(script.att("01 12 0300 01".dense, isSent: false).gatt == nil)
    #expect(script.att("01 0a 0300 02".dense, isSent: false).gatt?.request?.number == 1)
  }

  @Test func longReadsAndWritesAreOneProcedure() {
    let script = Script()
    script.ask("0a0300", "0b" + String(repeating: "41", count: 22))
    let rest = script.ask("0c 0300 1600".dense, "0d 42".dense)
    #expect(rest.gatt?.procedure == .readLong)
    #expect(rest.gatt?.step == 2)
    script.ask("16 0300 0000 41".dense, "17 0300 0000 41".dense)
    script.ask("16 0300 0100 42".dense, "17 0300 0100 42".dense)
    let done = script.ask("18 01".dense, "19")
    #expect(done.gatt?.procedure == .writeLong)
    #expect(done.gatt?.step == 3)
    // Reading the same again is not reading on.
    script.ask("0a0300", "0b41")
    #expect(script.ask("0a0300", "0b41").gatt?.step == 1)
  }

  @Test func indicationsAreConfirmed() {
    let script = Script()
    script.att("1d030063", isSent: false)
    let confirmation = script.att("1e", isSent: true)
    #expect(confirmation.gatt?.request?.number == 1)
    #expect(confirmation.gatt?.procedure == .indications)
  }

  @Test func dissectsReadablePartOfDamagedPDU() {
    let script = Script()
    let short = script.att("1b03", isSent: false)
    #expect(short.att?.opcode == .handleValueNotification)
    #expect(short.att?.handle == nil)
    #expect(short.summary.contains("damaged"))
    let list = script.att("09 00 0300".dense, isSent: false)
    #expect(list.summary.contains("damaged: byte 2: entry length 0 is below 2"))
    #expect(script.att("", isSent: false).att == nil)
  }
}
