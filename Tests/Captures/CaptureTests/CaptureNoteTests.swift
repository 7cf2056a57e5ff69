import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

struct CaptureNoteTests {
  @Test func aNoteIsAVendorSpecificEvent() {
    let packet = CaptureNote.packet("zone utc-offset=3600")
    #expect(packet.prefix(3).elementsEqual([0x04, 0xFF, UInt8(packet.count - 3)]))
    #expect(packet.dropFirst(3).elementsEqual("halo-raw: zone utc-offset=3600".utf8))
    #expect(CaptureNote.text(of: packet) == "zone utc-offset=3600")
    #expect(CaptureNote.text(of: CaptureNote.packet("")) == "")
  }

  @Test func truncatesLongNotes() {
    let packet = CaptureNote.packet(String(repeating: "a", count: 1000))
    #expect(packet.count == 258 && packet[2] == 255)
    #expect(CaptureNote.text(of: packet)?.count == CaptureNote.maximumLength)
  }

  /// Another maker's event, a command, data, and events that lie about their length.
  @Test(arguments: [
    "04ff05 68616c6f2d", "04ff0a 4272616f61646d3a2020", "01ff0a 68616c6f2d7261773a20",
    "040e0a 68616c6f2d7261773a20",
    "04ff0b 68616c6f2d7261773a20", "04ff09 68616c6f2d7261773a20", "04ff", "",
  ])
  func ignoresPacketsThatAreNotNotes(bytes: String) {
    #expect(CaptureNote.text(of: hex(bytes)) == nil)
  }
}
