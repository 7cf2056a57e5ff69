import HaloBluetoothCore

/// The properties of a ``VirtualController``. The same options produce the same behaviour at the same times, bit for bit.
package struct ControllerOptions: Hashable, Sendable {
  /// Decides its random numbers, and the times of its advertising events.
  package var seed: UInt64 = 1
  /// BD_ADDR.
  package var address = BluetoothAddress(0x001A_7DDA_7113, .public)
  /// The strength with which the others hear it, in dBm.
  package var rssi: Int8 = -50
  /// Whether it supports the extended commands of Core Specification 5.
  package var bluetooth5 = true
  /// The most data in an ACL packet, in bytes, either way.
  package var aclLength: UInt16 = 251
  /// How many ACL packets it accepts before it has sent one.
  package var aclPackets: UInt8 = 8
  /// It never answers.
  package var staysSilent = false
  /// To stop a scan that does not run is refused (0x0C), as some Raspberry Pi chips do.
  package var refusesIdleScanDisable = false
  /// It can't initiate a link while it advertises, nor the other way round. Its LE Supported States report this, unless
  /// ``refusesWithoutStates`` is set.
  package var cannotInitiateWhileAdvertising = false
  /// It can't scan while it advertises, nor the other way round.
  package var cannotScanWhileAdvertising = false
  /// Its LE Supported States have all combinations, whatever it refuses.
  package var refusesWithoutStates = false
  /// The faults of a bad radio at random (docs/links.md), drawn with this seed; nil for none.
  package var faultSeed: UInt64?

  package init() {}
}
