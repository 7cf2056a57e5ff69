import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The functions of the C target CBlueZHCI, which its header describes. They are declared here, and the header is not
/// imported, for the reason that SystemCalls/LinuxFunctions.swift gives.
enum KernelFunction {
  @_extern(c, "halo_hci_up") static func bringUp(_ socket: Int32, _ index: UInt16) -> Int32
  @_extern(c, "halo_hci_down") static func bringDown(_ socket: Int32, _ index: UInt16) -> Int32
  @_extern(c, "halo_hci_devices")
  static func devices(_ socket: Int32, _ list: UnsafeMutableRawPointer) -> Int32
  @_extern(c, "halo_hci_device")
  static func device(_ socket: Int32, _ device: UnsafeMutableRawPointer) -> Int32
  @_extern(c, "halo_hci_links")
  static func links(_ socket: Int32, _ list: UnsafeMutableRawPointer) -> Int32
  @_extern(c, "halo_hci_link")
  static func link(_ socket: Int32, _ link: UnsafeMutableRawPointer) -> Int32
  @_extern(c, "halo_l2cap_handle")
  static func handle(_ socket: Int32, _ handle: UnsafeMutablePointer<UInt16>) -> Int32

  /// - Parameter about: room for `most` ``ReceivedPacket``
  @_extern(c, "halo_receive")
  static func receive(
    _ socket: Int32, _ buffer: UnsafeMutableRawPointer, _ length: Int, _ stride: Int, _ most: Int32,
    _ about: UnsafeMutableRawPointer
  ) -> Int32

  @_extern(c, "halo_adapter_helper")
  static func startHelper(_ address: UnsafePointer<UInt8>, _ receiveBuffer: Int32) -> Int32
  @_extern(c, "halo_adapter_receive")
  static func receiveReply(
    _ channel: Int32, _ number: UnsafeMutablePointer<UInt32>, _ error: UnsafeMutablePointer<Int32>,
    _ descriptor: UnsafeMutablePointer<Int32>
  ) -> Int
  @_extern(c, "halo_last_command") static func startLastCommand(_ descriptor: Int32) -> Int32
}

/// Numbers of the kernel's headers, each with its name there.
enum KernelABI {
  // bluetooth.h: protocols of sockets, and options of an L2CAP socket.
  static let protocolL2CAP: Int32 = 0  // BTPROTO_L2CAP
  static let protocolHCI: Int32 = 1  // BTPROTO_HCI
  static let security: Int32 = 4  // BT_SECURITY
  static let phy: Int32 = 14  // BT_PHY
  // hci.h: the level of options of HCI sockets, and these options.
  static let levelHCI: Int32 = 0  // SOL_HCI
  static let filter: Int32 = 2  // HCI_FILTER
  static let timeStamp: Int32 = 3  // HCI_TIME_STAMP
  // hci.h: the size of struct hci_dev_info in bytes, and bits of its flags.
  static let deviceInformationSize = 92
  static let isUp: UInt32 = 0  // HCI_UP
  static let isStarting: UInt32 = 1  // HCI_INIT
  // linux/sock_diag.h: the place of the number of lost packets in SO_MEMINFO.
  static let lostPackets = 8  // SK_MEMINFO_DROPS
}

/// The kernel's data about a packet besides its bytes: struct halo_received of CBlueZHCI.
struct ReceivedPacket: BitwiseCopyable {
  var length: Int
  /// The time of its reception, in nanoseconds of CLOCK_REALTIME; zero if the kernel has not noted it.
  var wallNanoseconds: Int64
  /// How many packets the socket has lost since it was opened; only if `hasDrops`.
  var drops: UInt32
  var hasDrops: Bool
}

/// The receive time of a packet, on the loop's clock.
enum ReceiveTime {
  /// The longest plausible waiting time of a packet. A longer one means that the wall clock was set.
  static let longestWait: Int64 = 10_000_000_000

  /// The kernel timestamps packets with the time of day (`SO_TIMESTAMPNS`, `HCI_TIME_STAMP`), which may be set at any
  /// time; the loop counts from system start. Both clocks are read when the packet is read, and its waiting time is
  /// subtracted. Without a valid timestamp, the time of the read is used. The result is in whole microseconds, as in a
  /// capture.
  ///
  /// - Parameters:
  ///   - stamp: nanoseconds since 1970; zero if there is none
  ///   - now: the time of the read on the loop's clock
  ///   - wallNow: the same in nanoseconds since 1970
  static func instant(ofWallNanoseconds stamp: Int64, now: Instant, wallNow: Int64) -> Instant {
    let waited = wallNow &- stamp
    guard stamp > 0, (0...longestWait).contains(waited) else { return now.wholeMicroseconds }
    return Instant(nanoseconds: now.nanoseconds &- waited).wholeMicroseconds
  }
}

/// The PHYs of a link of the kernel: the option BT_PHY of its L2CAP socket. Linux reads it since 5.7, and sets it since
/// 7.0.
enum KernelPHY {
  /// The bits of the option: two for each PHY, to send and to receive.
  private static let bits: [(phys: LEPHYs, phy: LEPHY, send: UInt32, receive: UInt32)] = [
    (.le1M, .le1M, 1 << 9, 1 << 10), (.le2M, .le2M, 1 << 11, 1 << 12), (.leCoded, .leCoded, 1 << 13, 1 << 14),
  ]

  /// The PHYs in use; nil if the kernel does not know.
  static func phys(of descriptor: Int32) -> LinkPHYs? {
    var option: UInt32 = 0
    var length = socklen_t(MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_BLUETOOTH, KernelABI.phy, &option, &length) == 0 else { return nil }
    return phys(option)
  }

  static func phys(_ option: UInt32) -> LinkPHYs? {
    guard let sent = bits.first(where: { option & $0.send != 0 }),
      let received = bits.first(where: { option & $0.receive != 0 })
    else { return nil }
    return LinkPHYs {
      $0.transmit = sent.phy
      $0.receive = received.phy
    }
  }

  static func option(_ phys: LEPHYs) -> UInt32 {
    bits.reduce(0) { phys.contains($1.phys) ? $0 | $1.send | $1.receive : $0 }
  }

  /// - Throws: `ENOPROTOOPT` if the kernel does not offer it
  static func set(_ phys: LEPHYs, of descriptor: Int32) throws(SystemError) {
    var option = option(phys.isEmpty ? [.le1M, .le2M, .leCoded] : phys)
    try retryingInterrupts("setsockopt(BT_PHY)") {
      setsockopt(descriptor, SOL_BLUETOOTH, KernelABI.phy, &option, socklen_t(MemoryLayout<UInt32>.size))
    }
  }

  /// Whether the kernel lets programs choose. On a socket without a link, the option is known, but of no use.
  static var isOffered: Bool {
    let descriptor = SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, KernelABI.protocolL2CAP)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    do throws(SystemError) {
      try set(.le1M, of: descriptor)
      return true
    } catch {
      return error.errno != ENOPROTOOPT
    }
  }
}
