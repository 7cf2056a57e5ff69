import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct HCILayerTests {
  /// What our own recordings note among the packets is told as such.
  @Test func remarksOfOursAreReadable() {
    let packet = Script().packet(CaptureNote.packet("zone utc-offset=3600"), isSent: false)
    #expect(packet.summary == "note of halo-raw: zone utc-offset=3600")
  }

  @Test func aCommandAndItsEventFindEachOther() throws {
    let script = Script()
    let command = script.sent("01 0c20 02 01 00")
    #expect(command.hci?.opcode?.rawValue == 0x200C)
    #expect(command.summary == "LE Set Scan Enable: enabled yes, filter duplicates no")
    let other = script.received("04 0e 04 01 030c 00")
    #expect(other.hci?.command == nil)
    let event = script.received("04 0e 04 01 0c20 0c")
    #expect(event.hci?.command == PacketReference(PacketTime(command.info), to: PacketTime(event.info)))
    #expect(event.hci?.status == .commandDisallowed)
    #expect(event.summary == "LE Set Scan Enable done: Command Disallowed (0x0c), after 2.000 ms (packet 1)")
  }

  @Test func fieldsHaveByteRangeAndSpecificationReference() throws {
    let packet = Script().received(Script.connected)
    let fields = packet.fields(of: .hci)
    let interval = try #require(fields.first { $0.name == "connection interval" })
    #expect(interval.value == "30 ms")
    #expect(interval.reference == "Vol 4, Part E, 7.7.65.1")
    #expect(Array(packet.bytes[interval.range]) == hex("1800"))
    let code = try #require(fields.first { $0.name == "event code" })
    #expect(code.reference == "Vol 4, Part E, 5.4.4")
    #expect(packet.hci?.peer?.description == "30:35:38:41:BE:EF")
  }

  @Test func advertisingDataIsTakenApart() throws {
    let packet = Script().received("04 3e 14 02 01 00 01 efbe41383530 08 020106 0409 523032 c8".dense)
    #expect(packet.value(.hci, "RSSI") == "-56 dBm")
    let values = packet.fields(of: .hci).filter { $0.name == "value" }.map(\.value)
    #expect(values == ["general discoverable, BR/EDR not supported", "\"R02\""])
    #expect(packet.summary.contains("\"R02\", -56 dBm"))
  }

  @Test func assumesNoStatusInVendorCommandComplete() {
    let packet = Script().received("04 0e 05 01 53fd 00 01")
    #expect(packet.hci?.status == nil)
    #expect(packet.value(.hci, "parameters") == "00 01")
  }

  @Test func describesProblemOfDamagedPacket() {
    let script = Script()
    #expect(script.packet([], isSent: true).hci?.problem?.description == "empty")
    #expect(
      script.sent("01 0c20 05 01").hci?.problem?.description == "5 bytes should follow the header, 1 do")
    #expect(script.received("04 3e").hci?.problem?.description == "cut off at byte 2: 1 bytes needed, 0 left")
    #expect(script.received("07 00").hci?.problem?.description == "no packet type of HCI")
    let short = script.received("04 3e 05 01 00 4000 00")
    #expect(short.fields(of: .hci).last?.name == "damaged")
  }

  /// What a capture has only the beginning of (snap length), and commands that a controller would refuse, are not damaged.
  @Test func doesNotMarkTruncatedOrUnusualPacketsAsDamaged() {
    let script = Script()
    for (packet, count) in [
      ("04 3e 13 01 00 4000 00 00 efbe41383530 1800 0000 4800 00", 8), ("04 14 03 00 40 00", 2),
    ] {
      let cut = script.truncated(hex(packet), to: count)
      #expect(cut.hci?.problem == nil && !cut.summary.contains("damaged"), "\(cut.summary)")
      #expect(cut.fields(of: .hci).last?.value == "not in the capture")
    }
    let value = script.truncated(
      Script.acl(hex("1b1200") + Array(repeating: 7, count: 20), channel: 4, isSent: false), to: 15)
    #expect(value.hci?.problem == nil && value.summary.contains("070707"))
    let scan = script.sent("01 4120 03 00 00 00")
    #expect(
      scan.summary
        == "LE Set Extended Scan Parameters: own address type public, filter policy all but directed to others, PHYs 0x00: none"
    )
    #expect(script.sent("01 4320 0a 00 00 00 efbe41383530 00").summary.hasSuffix("PHYs 0x00: none"))
  }

  @Test func showsMonitorMessagesAsNotes() {
    let dissector = Dissector()
    let bytes = Array("Linux version 6.1\0".utf8)
    let note = dissector.dissect(
      bytes.span.bytes,
      CaptureRecordInfo(microseconds: 0, content: .monitor(.systemNote), originalLength: bytes.count))
    #expect(note.layers.isEmpty)
    #expect(note.summary == "kernel: Linux version 6.1")
    let log = hex("06 04 6162 6300 78797a00")
    let logged = dissector.dissect(
      log.span.bytes,
      CaptureRecordInfo(microseconds: 0, content: .monitor(.userLogging), originalLength: log.count))
    #expect(logged.summary == "abc: xyz")
  }
}

extension String {
  /// Digits in groups of any length.
  var dense: String { filter { $0 != " " } }
}
