import HCI
import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloRecording

@Suite struct MonitorPacketTests {
  @Test func theMonitorsPacketsBecomeH4() {
    let adapter = AdapterIndex(rawValue: 1)
    var writer = ByteWriter()
    func extract(_ packet: String, _ scope: MonitorTap.Scope) -> CaptureRecord? {
      let bytes = hex(packet)
      guard let found = MonitorPacket.extract(bytes.span.bytes, in: scope, into: &writer) else { return nil }
      return CaptureRecord(
        info: CaptureRecordInfo(
          microseconds: nil, adapter: found.adapter, content: found.content, originalLength: 0),
        bytes: writer.bytes)
    }
    for scope in [MonitorTap.Scope.packets(of: adapter), .adapter(adapter), .everything] {
      let command = extract("020001000300030c00", scope)
      #expect(command?.bytes == hex("01030c00") && command?.info.adapter == 1)
      #expect(command?.info.content == .hci(.hostToController))
      let event = extract("0300010006000e0401030c00", scope)
      #expect(event?.bytes == hex("040e0401030c00") && event?.info.content == .hci(.controllerToHost))
      #expect(extract("04000100050040000100ff", scope)?.bytes == hex("0240000100ff"))
      // One that is cut.
      #expect(extract("020001000400030c00", scope) == nil)
    }
    // Another adapter's, one that appears, and what is about none.
    let other = "020000000300030c00"
    let appears = "00000100020000ff"
    let note = "0c00ffff03004c6900"
    #expect(extract(other, .adapter(adapter)) == nil)
    #expect(extract(other, .everything)?.info.adapter == 0)
    #expect(extract(appears, .packets(of: adapter)) == nil)
    #expect(extract(appears, .adapter(adapter))?.info.content == .monitor(.newIndex))
    #expect(extract(appears, .adapter(adapter))?.bytes == hex("00ff"))
    #expect(extract(note, .adapter(adapter)) == nil)
    #expect(extract(note, .everything)?.info.adapter == nil)
    checkDecoderIsTotal(hex("0300010006000e0401030c00")) { bytes in
      _ = MonitorPacket.extract(bytes.span.bytes, in: .everything, into: &writer)
    }
  }
}
