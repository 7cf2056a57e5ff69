import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct L2CAPLayerTests {
  @Test func aFrameBelongsToThePacketThatCompletesIt() throws {
    let script = Script()
    let first = script.received("02 4020 0600 0700 0400 1b12")
    #expect(first.l2cap == nil)
    // The other direction goes on meanwhile.
    #expect(script.att("0a1e00", isSent: true).att?.opcode == .readRequest)
    let second = script.received("02 4010 0300 00 a1a2")
    #expect(second.att == nil)
    let third = script.received("02 4010 0200 a3a4")
    let frame = try #require(third.l2cap)
    #expect(frame.fragments == 3)
    #expect(third.source == hex("0700 0400 1b1200 a1a2a3a4".dense))
    let att = try #require(third.att)
    let value = try #require(att.value)
    #expect(att.handle == 0x0012)
    #expect(Array(third.source[value]) == hex("a1a2a3a4"))
    #expect(third.summary(of: .l2cap) == "ATT, 7 bytes, from 3 fragments")
  }

  @Test func aWholeFrameIsReadWhereItLies() throws {
    let packet = Script().att("1b1200a1", isSent: false)
    #expect(packet.reassembled == nil)
    let value = try #require(packet.att?.value)
    #expect(Array(packet.bytes[value]) == [0xA1])
  }

  @Test func infersDirectionFromPacketBoundaryFlag() {
    let script = Script()
    let request = script.packet(Script.acl(hex("0a1e00"), channel: 4, isSent: true), isSent: nil)
    let response = script.packet(Script.acl(hex("0b41"), channel: 4, isSent: false), isSent: nil)
    #expect(response.gatt?.request?.number == request.info.number)
  }

  @Test func reportsFragmentationProblems() {
    let script = Script()
    #expect(
      script.received("02 4010 0200 a3a4").hci?.problem?.description.contains("beginning is not there")
        == true)
    script.received("02 4020 0600 0700 0400 1b12")
    let next = script.att("0b", isSent: false)
    #expect(next.att?.opcode == .readResponse)
    #expect(next.hci?.problem?.description == "the L2CAP frame before was never completed")
    #expect(
      script.received("02 4020 0600 0100 0400 1b12").hci?.problem?.description.contains("more bytes") == true)
  }

  @Test func doesNotDissectControllerDebugOutputAsL2CAP() {
    let packet = Script().packet(
      Script.acl(hex("1b1200"), channel: 4, isSent: false, link: 0xEDC), isSent: false)
    #expect(packet.l2cap == nil)
    #expect(packet.summary == "debug output of the controller, 7 bytes")
  }

  @Test func signallingAndPairingAreRead() {
    let script = Script()
    let wish = script.packet(
      Script.acl(hex("12 01 0800 0600 0c00 0000 c800".dense), channel: 5, isSent: false), isSent: false)
    #expect(wish.top == .signaling)
    #expect(
      wish.summary
        == "Connection Parameter Update Request, id 1: interval min 7.5 ms, interval max 15 ms, "
        + "latency 0 events, timeout 2000 ms")
    #expect(wish.fields(of: .signaling).first?.reference == "Vol 3, Part A, 4.20")
    let refusal = script.packet(Script.acl(hex("0505"), channel: 6, isSent: true), isSent: true)
    #expect(refusal.summary == "Pairing Failed: pairing not supported")
    let request = script.packet(
      Script.acl(hex("01 03 00 0d 10 01 03".dense), channel: 6, isSent: false), isSent: false)
    #expect(request.value(.smp, "authentication") == "bonding, MITM, secure connections")
    #expect(request.value(.smp, "responder keys") == "LTK, IRK")
  }
}
