import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct LinkTests {
  private static let named =
    "04 3e 14 02 01 00 00 efbe41383530 08 020106 0409 523032 c8"

  @Test func packetsNameTheirLinkAndPeer() throws {
    let script = Script()
    script.received(Self.named.dense)
    let connected = script.received(Script.connected)
    #expect(connected.link?.text == "0x0040 30:35:38:41:BE:EF R02")
    let value = script.att("1b120041", isSent: false)
    #expect(value.link == connected.link)
    #expect(value.link?.name == "R02")
    // A command about the link, its Command Status, and Number of Completed Packets.
    let command = script.sent("01 1620 02 4000".dense)
    #expect(command.link?.peer?.description == "30:35:38:41:BE:EF")
    #expect(script.received("04 0f 04 00 01 1620".dense).link == connected.link)
    #expect(script.received("04 13 05 01 4000 0100".dense).link == connected.link)
    let end = script.received(Script.disconnected)
    #expect(end.link?.name == "R02")
    // A link whose beginning is not in the capture.
    let unknown = script.att("1b120041", isSent: false)
    #expect(unknown.link?.text == "0x0040" && unknown.link?.peer == nil)
  }

  @Test func aResetEndsTheLink() {
    let script = Script()
    script.received(Script.connected)
    let request = script.att("0a0300", isSent: true)
    let reset = script.received("04 0e 04 01 030c 00".dense)
    #expect(reset.unanswered == [request.info.number])
    #expect(script.dissector.openRequests.isEmpty)
    #expect(script.att("1b120041", isSent: false).link?.peer == nil)
    var summary = CaptureSummary()
    for packet in [script.received(Script.connected), reset] { summary.add(packet) }
    #expect(summary.connections.map(\.end) == [reset.info.microseconds])
  }

  @Test func aNameIsLearnedOnTheLink() {
    let script = Script()
    script.received(Script.connected)
    #expect(script.att("1b120041", isSent: false).link?.name == nil)
    script.ask("08 0100 ffff 002a".dense, "09 05 0300 523132".dense)
    #expect(script.att("1b120041", isSent: false).link?.name == "R12")
    // Our own name, asked by the peer, is not that of the peer.
    script.att("08 0100 ffff 002a".dense, isSent: false)
    script.att("09 05 0300 415050".dense, isSent: true)
    #expect(script.att("1b120041", isSent: false).link?.name == "R12")
    // A shortened name does not replace it.
    script.received("04 3e 10 02 01 00 00 efbe41383530 04 0308 5231 c8".dense)
    #expect(script.att("1b120041", isSent: false).link?.name == "R12")
  }

  @Test func namesAreBounded() {
    var names = DeviceNames()
    for number in UInt64(0)..<2000 {
      let address = BluetoothAddress(number, .public)
      let name: [UInt8] = [0x41]
      let isNew = names.learn(name.span.bytes, of: address)
      #expect(isNew)
    }
    #expect(names[BluetoothAddress(1999, .public)] == "A")
    #expect(names[BluetoothAddress(0, .public)] == nil)
  }

  @Test func aFilterChoosesThePeer() throws {
    func matches(_ filter: String, _ packet: DissectedPacket) throws -> Bool {
      try PacketFilter(filter).matches(packet, start: 0)
    }
    let script = Script()
    script.received(Self.named.dense)
    script.received(Script.connected)
    let packet = script.att("1b1200a1", isSent: false)
    for filter in ["peer=30:35:38:41:BE:EF", "peer=R02", "peer=r0", "peer=xyz|R02,handle=0x12"] {
      #expect(try matches(filter, packet), "\(filter)")
    }
    for filter in ["peer=30:35:38:41:BE:EE", "peer=02", "peer=xyz"] {
      #expect(try !matches(filter, packet), "\(filter)")
    }
    #expect(throws: PacketFilter.SyntaxError.self) { try PacketFilter("peer=") }
  }

  /// A name that is read on the link selects its first packets, too, if the capture is read twice.
  @Test func nameFilterMatchesPacketsBeforeNameIsRead() throws {
    let script = Script()
    let first = script.received(Script.connected)
    let named = script.ask("08 0100 ffff 002a".dense, "09 05 0300 523132".dense)
    let other = script.att("1b120041", isSent: false, link: 0x41)
    var filter = try PacketFilter("peer=R12")
    #expect(filter.hasNames && !filter.matches(first, start: 0) && !filter.matches(other, start: 0))
    let value = script.att("1b120041", isSent: false)
    for packet in [first, named, other, value] { filter.learn(packet) }
    #expect(filter.matches(value, start: 0) && filter.matches(first, start: 0))
    #expect(!filter.matches(other, start: 0))
    let byAddress = try PacketFilter("peer=30:35:38:41:BE:EF")
    #expect(!byAddress.hasNames)
  }

  @Test func aFilterFindsHandlesInDiscoveriesAndConfirmations() throws {
    func matches(_ filter: String, _ packet: DissectedPacket) throws -> Bool {
      try PacketFilter(filter).matches(packet, start: 0)
    }
    let script = Script()
    script.received(Script.connected)
    let services = script.ask("10 0100 ffff 0028".dense, "11 06 0100 0400 0f18 0500 ffff 0a18".dense)
    #expect(try matches("handle=3", services) && matches("handle=0x0100", services))
    let declarations = script.ask("08 0100 0400 0328".dense, "09 07 0200 12 0300 192a".dense)
    #expect(try matches("handle=2", declarations) && matches("handle=3", declarations))
    #expect(try !matches("handle=4", declarations))
    let types = script.ask("04 0400 0400".dense, "05 01 0400 0229".dense)
    #expect(try matches("handle=4", types) && !matches("handle=5", types))
    let found = script.ask("06 0100 ffff 0028 0f18".dense, "07 0100 0400".dense)
    #expect(try matches("handle=2", found) && !matches("handle=5", found))
    script.att("1d 0300 63".dense, isSent: false)
    let confirmation = script.att("1e", isSent: true)
    #expect(confirmation.gatt?.handle == 3)
    #expect(confirmation.gatt?.attribute?.name == "Battery Level")
    #expect(try matches("handle=3", confirmation))
  }

  @Test func resultsBelongToTheirCommands() {
    let script = Script()
    let connect = script.sent(
      "01 0d20 19 6000 3000 00 00 efbe41383530 00 1800 2800 0000 4800 0000 0000".dense)
    script.received("04 0f 04 00 01 0d20".dense)
    let connected = script.received(Script.connected)
    #expect(connected.hci?.command?.number == connect.info.number)
    #expect(connected.hci?.command?.microseconds == 2000)
    #expect(connected.summary.hasSuffix(", after 2.000 ms (packet 1)"))
    // The one of two commands of one kind that is about the same link.
    script.received(Script.connected.dense.replacing("4000", with: "4100"))
    let first = script.sent("01 1620 02 4000".dense)
    script.received("04 0f 04 00 01 1620".dense)
    let second = script.sent("01 1620 02 4100".dense)
    script.received("04 0f 04 00 01 1620".dense)
    let answer = script.received("04 3e 0c 04 00 4100 0100000000000000".dense)
    #expect(answer.hci?.command?.number == second.info.number)
    let other = script.received("04 3e 0c 04 00 4000 0100000000000000".dense)
    #expect(other.hci?.command?.number == first.info.number)
    // One that was rejected has no result.
    script.sent("01 0604 03 4000 13".dense)
    script.received("04 0f 04 0c 01 0604".dense)
    #expect(script.received(Script.disconnected).hci?.command == nil)
    // The status event is not in the capture.
    let end = script.sent("01 0604 03 4100 13".dense)
    #expect(script.received("04 05 04 00 4100 16").hci?.command?.number == end.info.number)
  }

  /// The response is there, only its value is not.
  @Test func aTruncatedResponseIsAResponse() throws {
    let script = Script()
    script.received(Script.connected)
    let request = script.att("0a0300", isSent: true)
    let whole = Script.acl(hex("0b" + String(repeating: "41", count: 20)), channel: 4, isSent: false)
    let response = script.truncated(whole, to: 12)
    #expect(response.att?.opcode == .readResponse)
    #expect(response.gatt?.request?.number == request.info.number)
    #expect(script.received(Script.disconnected).unanswered == [])
    // A notification in two packets, of which the first is truncated.
    script.received(Script.connected)
    #expect(script.truncated(hex("02 4020 0a00 0d00 0400 1b1200 a1a2a3".dense), to: 12).att == nil)
    let last = script.received("02 4010 0700 a4a5a6a7a8a9aa")
    #expect(last.att?.opcode == .handleValueNotification && last.att?.handle == 0x12)
    #expect(last.l2cap?.fragments == 2)
    #expect(script.att("1b120041", isSent: false).att?.value?.count == 1)
  }

  /// Configurations that were not discovered, as in most captures that begin late.
  @Test func configurationsAreRecognizedByTheirValues() throws {
    let script = Script()
    let write = script.att("12 1300 0100".dense, isSent: true)
    #expect(
      write.summary
        == "Write Request, 0x0013 Client Characteristic Configuration (by its value): notifications on · "
        + "Write Characteristic Descriptors")
    script.att("13", isSent: false)
    script.att("1b120041", isSent: false)
    let off = script.att("12 1300 0000".dense, isSent: true)
    #expect(off.gatt?.attribute?.name == "Client Characteristic Configuration of 0x0012")
    #expect(off.summary.contains("off"))
    // Another value, and a handle that was discovered, are no configurations.
    #expect(script.att("12 2000 0005".dense, isSent: true).gatt?.attribute == nil)
    script.att("13", isSent: false)
    script.ask("08 0100 0400 0328".dense, "09 07 0200 0a 0300 192a".dense)
    #expect(script.att("12 0300 0100".dense, isSent: true).gatt?.attribute?.name == "Battery Level")
  }
}
