import HCI
import Testing

@testable import HaloLinuxBluetooth

/// The socket option BT_PHY of Linux (include/net/bluetooth/bluetooth.h).
@Suite struct KernelPHYTests {
  @Test func eachPHYHasABitToSendAndOneToReceive() {
    #expect(KernelPHY.option(.le1M) == 0x600)
    #expect(KernelPHY.option(.le2M) == 0x1800)
    #expect(KernelPHY.option(.leCoded) == 0x6000)
    #expect(KernelPHY.option([.le1M, .le2M]) == 0x1E00)
  }

  @Test func thePHYsInUseAreRead() {
    #expect(KernelPHY.phys(0x600) == .le1M)
    #expect(KernelPHY.phys(0x0C00)?.description == "LE 2M to send, LE 1M to receive")
    // A BR/EDR link.
    #expect(KernelPHY.phys(0x1F) == nil)
  }
}
