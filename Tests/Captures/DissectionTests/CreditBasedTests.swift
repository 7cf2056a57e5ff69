import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// Credit-based channels, and ATT on them (EATT).
@Suite struct CreditBasedTests {
  /// Two EATT channels: 0x0040 and 0x0041 of ours, 0x0050 and 0x0051 of the peer.
  private func open() -> Script {
    let script = Script()
    script.received(Script.connected)
    let request = script.frame("17 01 0c00 2700 4000 4000 0500 4000 4100", channel: 5, isSent: true)
    #expect(request.summary.contains("SPSM EATT (0x0027), MTU 64, MPS 64, credits 5, source CID 0x0040"))
    script.frame("18 01 0c00 4000 4000 0300 0000 5000 5100", channel: 5, isSent: false)
    return script
  }

  @Test func requestsOnTwoBearersAreKeptApart() throws {
    let script = open()
    let first = script.frame("0300 0a0300", channel: 0x50, isSent: true)
    #expect(first.att?.opcode == .readRequest)
    #expect(
      first.summary(of: .l2cap)
        == "EATT (PSM 0x0027), dynamic channel 0x0050, 5 bytes, unit of 3 bytes, 2 credits left")
    let second = script.frame("0300 0a0500", channel: 0x51, isSent: true)
    #expect(second.gatt?.unanswered == nil)
    let answer = script.frame("0200 0b41", channel: 0x41, isSent: false)
    #expect(answer.gatt?.request?.number == second.info.number)
    let other = script.frame("0200 0b42", channel: 0x40, isSent: false)
    #expect(other.gatt?.request?.number == first.info.number)
    #expect(script.dissector.openRequests.isEmpty)
    script.frame("0300 0a0300", channel: 0x50, isSent: true)
    #expect(script.received(Script.disconnected).unanswered.count == 1)
  }

  @Test func aUnitInSeveralFramesIsPutTogether() throws {
    let script = open()
    #expect(script.frame("0700 1b1200", channel: 0x40, isSent: false).att == nil)
    let last = script.frame("a1a2a3a4", channel: 0x40, isSent: false)
    #expect(last.att?.opcode == .handleValueNotification)
    let value = try #require(last.att?.value)
    #expect(Array(last.source[value]) == hex("a1a2a3a4"))
    #expect(last.l2cap?.credits == 3)
    // Ten more credits for the peer.
    script.frame("16 02 0400 4000 0a00", channel: 5, isSent: true)
    #expect(script.frame("0300 1b1200", channel: 0x40, isSent: false).l2cap?.credits == 12)
    // Every byte belongs to a field.
    let fields = last.fields(of: .l2cap)
    #expect(fields.map(\.name) == ["length", "channel", "PSM", "credits left", "SDU length"])
  }

  @Test func rejectsUnitLongerThanItsSDULength() {
    let script = open()
    #expect(script.frame("0200 1b1200", channel: 0x40, isSent: false).att == nil)
    #expect(script.frame("0300 1b1200", channel: 0x40, isSent: false).att != nil)
    // A channel of the LE form: SPSM 0x0080.
    script.frame("14 03 0a00 8000 4500 4000 4000 0200", channel: 5, isSent: false)
    script.frame("15 03 0a00 6500 4000 4000 0100 0000", channel: 5, isSent: true)
    let unit = script.frame("0200 abcd", channel: 0x65, isSent: false)
    #expect(unit.summary == "PSM 0x0080, dynamic channel 0x0065, 4 bytes, unit of 2 bytes, 0 credits left")
  }

  /// Units that never end do not take memory without limit.
  @Test func partsAreBounded() {
    let script = open()
    var random = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let bytes = random.bytes(1000)
      script.packet(Script.acl([0xFF, 0xFF] + bytes, channel: 0x40, isSent: false), isSent: false)
    }
    #expect(script.att("1b120041", isSent: false).att != nil)
  }
}
