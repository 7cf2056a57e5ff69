import CBlueZHCI
import CHaloLinux
import HCI
import HaloBluetoothCore
import Testing

@testable import HaloLinuxBluetooth

/// What is declared in Swift is what the headers of libbluetooth-dev and of this package say: what no compiler checks.
@Suite struct KernelABITests {
  @Test func functionsAreThoseOfTheHeader() {
    #expect(type(of: KernelFunction.bringUp) == type(of: halo_hci_up))
    #expect(type(of: KernelFunction.bringDown) == type(of: halo_hci_down))
    #expect(type(of: KernelFunction.devices) == type(of: halo_hci_devices))
    #expect(type(of: KernelFunction.device) == type(of: halo_hci_device))
    #expect(type(of: KernelFunction.links) == type(of: halo_hci_links))
    #expect(type(of: KernelFunction.link) == type(of: halo_hci_link))
    #expect(type(of: KernelFunction.handle) == type(of: halo_l2cap_handle))
    #expect(type(of: KernelFunction.receive) == type(of: halo_receive))
    #expect(type(of: KernelFunction.startHelper) == type(of: halo_adapter_helper))
    #expect(type(of: KernelFunction.receiveReply) == type(of: halo_adapter_receive))
  }

  @Test func numbersAreThoseOfTheHeaders() {
    #expect(KernelABI.protocolL2CAP == BTPROTO_L2CAP)
    #expect(KernelABI.protocolHCI == BTPROTO_HCI)
    #expect(KernelABI.phy == BT_PHY)
    #expect(KernelABI.levelHCI == SOL_HCI)
    #expect(KernelABI.filter == HCI_FILTER)
    #expect(KernelABI.timeStamp == HCI_TIME_STAMP)
    #expect(KernelABI.deviceInformationSize == MemoryLayout<hci_dev_info>.size)
    #expect(KernelABI.isUp == UInt32(HCI_UP))
    #expect(KernelABI.isStarting == UInt32(HCI_INIT))
    #expect(KernelABI.lostPackets == Int(SK_MEMINFO_DROPS))
    #expect(RawChannel.number == UInt16(HCI_CHANNEL_RAW))
    #expect(UserChannel.number == UInt16(HCI_CHANNEL_USER))
    #expect(MonitorChannel.number == UInt16(HCI_CHANNEL_MONITOR))
    #expect(ControlChannel.number == UInt16(HCI_CHANNEL_CONTROL))
    #expect(Capability.netAdmin.rawValue == CAP_NET_ADMIN)
    #expect(Capability.netRaw.rawValue == CAP_NET_RAW)
    #expect(PacketSocket.mostPackets == Int(HALO_RECEIVE_MOST))
  }

  /// C writes what Swift reads.
  @Test func packetsHaveTheLayoutOfTheHeader() {
    #expect(MemoryLayout<ReceivedPacket>.stride == MemoryLayout<halo_received>.stride)
    #expect(
      MemoryLayout<ReceivedPacket>.offset(of: \.length) == MemoryLayout<halo_received>.offset(of: \.length))
    #expect(
      MemoryLayout<ReceivedPacket>.offset(of: \.wallNanoseconds)
        == MemoryLayout<halo_received>.offset(of: \.wall_nanoseconds))
    #expect(
      MemoryLayout<ReceivedPacket>.offset(of: \.drops) == MemoryLayout<halo_received>.offset(of: \.drops))
    #expect(
      MemoryLayout<ReceivedPacket>.offset(of: \.hasDrops)
        == MemoryLayout<halo_received>.offset(of: \.has_drops))
  }

  @Test func addressesHaveTheLayoutOfTheHeader() {
    var address = sockaddr_hci()
    address.hci_family = 31
    address.hci_dev = 0x0203
    address.hci_channel = 3
    #expect(
      KernelAddress.hci(AdapterIndex(rawValue: 0x0203), channel: 3).bytes
        == withUnsafeBytes(of: address) { Array($0) })
    #expect(KernelAddress.l2cap(BluetoothAddress(1, .public)).bytes.count == MemoryLayout<sockaddr_l2>.size)
  }
}
