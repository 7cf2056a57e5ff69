import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// What the kernel's lists say: the structures of its HCI ioctls (include/net/bluetooth/hci_sock.h), and rfkill's files
/// (Documentation/ABI/stable/sysfs-class-rfkill).
@Suite struct KernelListTests {
  @Test func sixteenAdaptersAreAskedFor() {
    #expect(HCIDevices.listRequest == hex("10000000") + [UInt8](repeating: 0, count: 16 * 8))
  }

  /// Two bytes follow the count and each number, so that the options lie on a multiple of four.
  @Test func adaptersAreReadFromTheirNumbers() {
    let answer = hex("03000000" + "03000000" + "05000000" + "00000000" + "00000000" + "0c010000" + "ffffffff")
    #expect(HCIDevices.indexes(in: answer).map(\.rawValue) == [3, 0, 268])
    #expect(HCIDevices.indexes(in: hex("01000000" + "03000000" + "05000000" + "0400000000000000")).count == 1)
    #expect(HCIDevices.indexes(in: hex("00000000" + "0300000005000000")).isEmpty)
  }

  @Test func linksOfOneAdapterAreAskedFor() {
    let request = HCIDevices.linksRequest(of: AdapterIndex(rawValue: 0x0102))
    #expect(request == hex("02011000") + [UInt8](repeating: 0, count: 16 * 16))
  }

  /// A row for each link: handle, address, kind, direction, state, mode.
  @Test func linksAreReadFromTheirHandlesAndPeers() {
    let answer = hex(
      "00000200" + "4000" + "b2a1332211c0" + "80" + "01" + "0100" + "00000000" + "0e00" + "060504030201"
        + "01"
        + "00" + "0100" + "01800000")
    let links = HCIDevices.links(in: answer)
    #expect(links.map(\.handle.rawValue) == [0x40, 0x0E])
    #expect(links.map(\.peer.value) == [0xC011_2233_A1B2, 0x0102_0304_0506])
    #expect(HCIDevices.links(in: hex("00000000") + answer.dropFirst(4)).isEmpty)
  }

  /// A count that is higher than what was asked for, and bytes that end early, are no reason to read on.
  @Test func listsEndWhereTheirBytesDo() {
    for count in ["0300", "ff00", "ffff"] {
      #expect(
        HCIDevices.indexes(in: hex(count + "0000" + "0100000000000000" + "0200000000000000")).count == 2)
      #expect(HCIDevices.indexes(in: hex(count + "0000" + "0100000000000000" + "020000000000")).count == 1)
      #expect(HCIDevices.links(in: hex("0000" + count + "4000b2a1332211c08001010000000000")).count == 1)
      #expect(HCIDevices.links(in: hex("0000" + count + "4000b2a1332211c080010100000000")).isEmpty)
    }
    let many = hex("ff000000") + [UInt8](repeating: 0, count: 8 * 255)
    #expect(HCIDevices.indexes(in: many).count == 16)
    #expect(HCIDevices.links(in: hex("0000ff00") + [UInt8](repeating: 1, count: 16 * 255)).count == 16)
    checkDecoderIsTotal(many) { _ = HCIDevices.indexes(in: $0) }
    checkDecoderIsTotal(many) { _ = HCIDevices.links(in: $0) }
  }

  /// A program may block a radio (soft) and a key of the machine (hard); either one is enough, of either of two switches.
  @Test(
    arguments: [
      ([(0, 0), (0, 0)], false), ([(1, 0), (0, 0)], true), ([(0, 1), (0, 0)], true),
      ([(0, 0), (1, 0)], true),
      ([(0, 0), (0, 1)], true), ([(1, 1), (1, 1)], true), ([], false),
    ] as [([(Int, Int)], Bool)])
  func aRadioIsBlockedByEitherSwitch(_ switches: [(Int, Int)], _ isBlocked: Bool) throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("hci0/address", "1\n")
    folder.write("hci0/power/soft", "1\n")
    for (number, (soft, hard)) in switches.enumerated() {
      folder.write("hci0/rfkill\(number)/soft", "\(soft)\n")
      folder.write("hci0/rfkill\(number)/hard", "\(hard)\n")
    }
    #expect(HCIDevices.isRadioBlocked(in: "\(folder.path)/hci0") == isBlocked)
    #expect(!HCIDevices.isRadioBlocked(in: "\(folder.path)/hci1"))
  }
}
