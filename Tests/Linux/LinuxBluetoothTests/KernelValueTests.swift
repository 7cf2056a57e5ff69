import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Numbers of the kernel: capabilities, filters, PHYs, releases, adapters, and times of packets.
@Suite struct KernelValueTests {
  /// The bits of CapEff in proc_pid_status(5).
  @Test func capabilitiesAreThoseOfTheThread() throws {
    let file = try #require(fopen("/proc/thread-self/status", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    var bits: UInt64?
    while fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("CapEff:") {
        bits = UInt64(text.dropFirst(7).filter { !$0.isWhitespace }, radix: 16)
      }
    }
    let effective = try #require(bits)
    for number: Int32 in 0..<64 {
      #expect(Capability(rawValue: number).isEffective == (effective >> UInt64(number) & 1 == 1), "\(number)")
    }
    #expect(Capability.netAdmin.rawValue == 12 && Capability.netRaw.rawValue == 13)
    #expect(
      Capability.netAdmin.description == "CAP_NET_ADMIN" && Capability.netRaw.description == "CAP_NET_RAW")
    #expect(Capability(rawValue: 1).description == "capability 1")
  }

  /// The kernel compares five bits of a type and six of an event code.
  @Test func filtersHaveABitForEachTypeAndEvent() {
    #expect(HCIFilter(types: [.command]).bytes == hex("02000000 ffffffffffffffff 00000000"))
    #expect(HCIFilter(types: [HCIPacketType(rawValue: 0xFF)]).types == 1 << 31)
    #expect(HCIFilter(types: []).types == 0)
    for code: UInt8 in 0...63 {
      #expect(HCIFilter(types: [.event], events: [HCIEventCode(rawValue: code)]).events == 1 << UInt64(code))
      #expect(
        HCIFilter(types: [.event], events: [HCIEventCode(rawValue: code | 0x40)]).events == 1 << UInt64(code))
    }
  }

  @Test func channelsHaveTheKernelsNumbers() {
    #expect(RawChannel.number == 0 && UserChannel.number == 1 && MonitorChannel.number == 2)
    #expect(ControlChannel.number == 3)
  }

  private static let phys: [(LEPHYs, LEPHY, UInt32, UInt32)] = [
    (.le1M, .le1M, 0x0200, 0x0400), (.le2M, .le2M, 0x0800, 0x1000), (.leCoded, .leCoded, 0x2000, 0x4000),
  ]

  /// Two bits for each, whatever the other direction has.
  @Test func eachDirectionHasItsPHY() {
    for (wish, sent, send, _) in Self.phys {
      for (other, received, _, receive) in Self.phys {
        let found = KernelPHY.phys(send | receive)
        #expect(found?.transmit == sent && found?.receive == received)
        let both = KernelPHY.option([wish, other])
        #expect(both & send != 0 && both & receive != 0)
        #expect(KernelPHY.phys(send) == nil && KernelPHY.phys(receive) == nil)
      }
      #expect(KernelPHY.option(wish).nonzeroBitCount == 2)
    }
    #expect(KernelPHY.option([]) == 0 && KernelPHY.phys(0) == nil && KernelPHY.phys(0x81FF) == nil)
  }

  /// A socket that is none of Bluetooth's has no PHY.
  @Test func otherSocketsHaveNone() throws {
    let pair = try SocketPair(keepsPackets: true)
    #expect(KernelPHY.phys(of: pair.ours) == nil)
    #expect(throws: SystemError.self) { try KernelPHY.set(.le2M, of: pair.ours) }
    close(pair.ours)
  }

  @Test func releasesHaveAnOrder() throws {
    let order = ["4.19", "5.4.0", "5.15.1", "6.1", "6.9", "6.10", "6.11.0-rc1", "7.0", "10.2"]
    let releases = try order.map { try #require(KernelRelease($0)) }
    #expect(releases == releases.reversed().sorted() && Set(releases.map(\.description)).count == order.count)
    #expect(
      releases.filter { $0 >= .takesScanForDiscovery }.map(\.description) == ["6.10", "6.11", "7.0", "10.2"])
    #expect(KernelRelease("6.10") == .takesScanForDiscovery && KernelRelease("6.x") == nil)
  }

  /// The kernel's own words: `uname -r` begins with them.
  @Test func theReleaseIsThatOfTheSystem() throws {
    let file = try #require(fopen("/proc/sys/kernel/osrelease", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    _ = fgets(&line, 256, file)
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    #expect(KernelRelease.current == KernelRelease(text))
  }

  /// Address and flags of struct hci_dev_info: HCI_UP is the lowest bit, HCI_INIT the next.
  @Test(arguments: [
    (UInt32(0), false, false), (1, true, false), (0xFFFC, false, false), (2, false, true),
    (0x1005, true, false),
  ])
  func anAdapterIsReadFromItsDescription(_ flags: UInt32, _ isUp: Bool, _ isStarting: Bool) {
    let hci3 = AdapterIndex(rawValue: 3)
    var answer = HCIDevices.stateRequest(of: hci3)
    #expect(answer == [3, 0] + [UInt8](repeating: 0, count: 90))
    answer.replaceSubrange(2..<16, with: hex("6863693300ffffff 1371da7d1ac0"))
    for index in 0..<4 { answer[16 + index] = UInt8(truncatingIfNeeded: flags >> UInt32(8 * index)) }
    let device = HCIDevices.Device(
      index: hci3, address: BluetoothAddress(0xC01A_7DDA_7113, .public), isUp: isUp,
      isStarting: isStarting)
    #expect(HCIDevices.device(hci3, in: answer) == device)
    #expect(HCIDevices.device(hci3, in: Array(answer[..<20])) == device)
    #expect(HCIDevices.device(hci3, in: Array(answer[..<19])) == nil)
  }

  /// The kernel lists an adapter in its management once it is set up, and never if that has failed (raspberrypi/linux#6141,
  /// dakhnod/ESP32-Bluetooth-USB-dongle#3).
  @Test(
    arguments: [
      (true, false, .configured, .up), (true, false, .unlisted, .up), (true, true, nil, .up),
      (false, false, .configured, .down), (false, false, nil, .down), (false, true, nil, .settingUp),
      (false, true, .unlisted, .settingUp), (false, false, .unlisted, .setUpFailed),
      (false, false, .unconfigured, .unconfigured),
    ] as [(Bool, Bool, Listing?, ControllerState.Condition)])
  func theConditionOfAnAdapter(
    _ isUp: Bool, _ isStarting: Bool, _ listing: Listing?, _ condition: ControllerState.Condition
  ) {
    let device = HCIDevices.Device(
      index: AdapterIndex(rawValue: 3), address: .zero, isUp: isUp, isStarting: isStarting)
    let managed = listing.map { listing in
      Controllers.Managed(
        configured: listing == .configured ? [device.index] : [AdapterIndex(rawValue: 2)],
        unconfigured: listing == .unconfigured ? [device.index] : [])
    }
    #expect(ControllerState.Condition(of: device, managed: managed) == condition)
  }

  enum Listing { case configured, unconfigured, unlisted }

  /// EBUSY says that it is up, being set up, or was not set up.
  @Test func distinguishesReasonsOfEBUSY() {
    func reason(_ isUp: Bool, _ isStarting: Bool) -> StackError {
      StackError(
        takingUserChannel: SystemError("bind", errno: EBUSY),
        HCIDevices.Device(
          index: AdapterIndex(rawValue: 3), address: .zero, isUp: isUp, isStarting: isStarting))
    }
    #expect(reason(true, false) == .adapterUp)
    #expect(reason(false, true) == .settingUp)
    #expect(reason(false, false) == .setUpFailed)
  }

  /// EALREADY means that an adapter is up; both EPERM and EACCES that CAP_NET_ADMIN is missing.
  @Test(
    arguments: [
      (EALREADY, nil), (EPERM, .missing(.netAdmin)), (EACCES, .missing(.netAdmin)),
      (ERFKILL, .radioBlocked),
      (ENODEV, .noSuchAdapter), (EIO, .system(SystemError("ioctl", errno: EIO))),
    ] as [(Int32, StackError?)])
  func switchingFailsForAReason(_ code: Int32, _ reason: StackError?) throws {
    let hci3 = AdapterIndex(rawValue: 3)
    func failure(_ work: (AdapterIndex) throws(StackError) -> Void) throws -> StackError? {
      let pair = try SocketPair()
      let script = FaultScript([.socket, .control], [.result(Int(pair.ours)), .error(code)])
      do throws(StackError) {
        try FaultPlan.during(script) { () throws(StackError) in try work(hci3) }
      } catch {
        return error
      }
      return nil
    }
    #expect(try failure(HCIDevices.bringUp) == reason.map { StackError("bring hci3 up", $0) })
    let down = reason ?? .system(SystemError("ioctl", errno: EALREADY))
    #expect(try failure(HCIDevices.bringDown) == StackError("bring hci3 down", down))
    #expect(
      try failure { (index) throws(StackError) in _ = try HCIDevices.links(of: index) }
        == StackError("list the links of hci3", down))
  }
}
