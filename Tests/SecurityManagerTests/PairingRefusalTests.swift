import HaloSecurityManager
import TestSupport
import Testing

@Suite struct PairingRefusalTests {
  private func answer(_ pdu: String) -> [UInt8]? { PairingRefusal.answer(to: hex(pdu).span.bytes) }

  /// Pairing Not Supported: the peer may go on without.
  @Test func repliesPairingNotSupported() {
    #expect(answer("01 03 00 01 10 00 00") == [0x05, 0x05])
    #expect(answer("0b 01") == [0x05, 0x05])
    #expect(answer("01") == [0x05, 0x05])
  }

  @Test(arguments: ["", "05 05", "02", "03 00", "04", "06", "0c", "ff"])
  func ignoresOtherSMPCommands(_ pdu: String) {
    #expect(answer(pdu) == nil)
  }
}
