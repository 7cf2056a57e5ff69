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
  // bluetooth.h: protocols of sockets, and the option of an L2CAP socket.
  static let protocolL2CAP: Int32 = 0  // BTPROTO_L2CAP
  static let protocolHCI: Int32 = 1  // BTPROTO_HCI
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

/// What the kernel says of a packet besides its bytes: struct halo_received of CBlueZHCI.
struct ReceivedPacket: BitwiseCopyable {
  var length: Int
  /// When it came, in nanoseconds of CLOCK_REALTIME; zero if nobody noted it.
  var wallNanoseconds: Int64
  /// How many packets the socket has lost since it was opened; only if `hasDrops`.
  var drops: UInt32
  var hasDrops: Bool
}
