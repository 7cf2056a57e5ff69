import HaloBluetoothCore

/// The properties of a ``VirtualController``. The same options produce the same behaviour at the same times, bit for bit.
public struct ControllerOptions: Hashable, Sendable {
  /// Decides its random numbers, and the times of its advertising events.
  public var seed: UInt64 = 1
  /// BD_ADDR.
  public var address = BluetoothAddress(0x001A_7DDA_7113, .public)
  /// The strength with which the others hear it, in dBm.
  public var rssi: Int8 = -50
  /// Whether it supports the extended commands of Core Specification 5.
  public var bluetooth5 = true
  /// The most data in an ACL packet, in bytes, either way.
  public var aclLength: UInt16 = 251
  /// How many ACL packets it accepts before it has sent one.
  public var aclPackets: UInt8 = 8
  /// It never answers.
  public var staysSilent = false
  /// To stop a scan that does not run is refused (0x0C), as some Raspberry Pi chips do.
  public var refusesIdleScanDisable = false
  /// The faults of a bad radio at random (docs/links.md), drawn with this seed; nil for none.
  public var faultSeed: UInt64?

  public init() {}
}
