import HCI
import Testing

@testable import LinuxBluetooth

/// The socket option BT_PHY of Linux (include/net/bluetooth/bluetooth.h).
@Suite struct KernelPHYTests {
  @Test(arguments: [
    (LEPHYs.le1M, UInt32(0x600)), (.le2M, 0x1800), (.leCoded, 0x6000), ([.le1M, .le2M], 0x1E00), ([], 0),
  ])
  func eachPHYHasABitToSendAndOneToReceive(_ phys: LEPHYs, _ option: UInt32) {
    #expect(KernelPHY.option(phys) == option)
  }

  @Test func thePHYsInUseAreRead() {
    #expect(KernelPHY.phys(0x600) == .le1M)
    #expect(KernelPHY.phys(0x0C00)?.description == "LE 2M to send, LE 1M to receive")
    // A BR/EDR link.
    #expect(KernelPHY.phys(0x1F) == nil)
  }
}
