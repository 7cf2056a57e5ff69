import HaloBluetoothCore
import Testing

@testable import HaloDissection

@Suite struct PacketFilterTests {
  private func matches(_ filter: String, _ packet: DissectedPacket) throws -> Bool {
    try PacketFilter(filter).matches(packet, start: 0)
  }

  @Test func allTermsMustHold() throws {
    let script = Script()
    script.received(Script.connected)
    let packet = script.att("1b1200a1", isSent: false)
    for filter in [
      "handle=0x0012", "handle=18", "link=0x40", "opcode=0x1b|0x52", "packet=2", "packet=2..", "time=..0.002",
      "address=30:35:38:41:BE:EF", "handle=1..20,opcode=27", "handle=18 time=0.002..0.002",
    ] {
      #expect(try matches(filter, packet), "\(filter)")
    }
    for filter in [
      "handle=0x0013", "opcode=0x52", "packet=3..", "time=1..", "event=0x3e", "address=30:35:38:41:BE:EE",
      "handle=18,opcode=0x52",
    ] {
      #expect(try !matches(filter, packet), "\(filter)")
    }
  }

  @Test func anAddressIsFoundInEventsAndCommands() throws {
    let script = Script()
    let connected = script.received(Script.connected)
    #expect(try matches("address=30:35:38:41:BE:EF,event=0x3e,subevent=1", connected))
    let create = script.sent("01 1120 07 00 efbe41383530".dense)
    #expect(try matches("address=30:35:38:41:BE:EF,opcode=0x2011", create))
  }

  @Test(arguments: [
    ("", "empty"), ("foo=1", "knows no \"foo\""), ("handle", "wants a value"), ("handle=", "not \"\""),
    ("packet=0", "not \"0\""), ("handle=zz", "not \"zz\""), ("time=3..1", "not \"3..1\""),
    ("address=12", "address wants"),
    ("opcode=0x1b|", "opcode wants"), ("handle=-1", "handle wants"), ("handle=0xfffffffff", "handle wants"),
  ])
  func describesFilterSyntaxErrors(_ text: String, _ saying: String) {
    let mistake = #expect(throws: PacketFilter.SyntaxError.self) { try PacketFilter(text) }
    #expect(mistake?.description.contains(saying) == true)
  }
}
