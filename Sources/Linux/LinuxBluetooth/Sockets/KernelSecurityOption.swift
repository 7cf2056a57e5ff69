import GAP
import Glibc
import HaloBluetoothCore
import HaloSystem

/// The security of a link of the kernel: the option BT_SECURITY of its L2CAP socket, two bytes. To set it on a connected socket
/// has the kernel encrypt the link, or pair; until that has ended, the socket sends nothing.
struct KernelSecurityOption: Hashable {
  var level: LESecurityLevel
  /// The size of the key, in bytes; 0 if the link is not encrypted, or not ready to be used.
  var keySize: Int

  /// - Returns: nil if the socket has none, or a level that is unknown
  static func read(_ descriptor: Int32) -> KernelSecurityOption? {
    var bytes: (level: UInt8, keySize: UInt8) = (0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: bytes))
    guard getsockopt(descriptor, SOL_BLUETOOTH, KernelABI.security, &bytes, &length) == 0,
      let level = LESecurityLevel(rawValue: Int(bytes.level))
    else { return nil }
    return KernelSecurityOption(level: level, keySize: Int(bytes.keySize))
  }

  /// - Throws: `EINVAL` if the link has the level, or if the kernel can't pair on this adapter
  static func raise(_ descriptor: Int32, _ level: LESecurityLevel) throws(SystemError) {
    var bytes: (level: UInt8, keySize: UInt8) = (UInt8(level.rawValue), 0)
    try retryingInterrupts("setsockopt(BT_SECURITY)") {
      setsockopt(
        descriptor, SOL_BLUETOOTH, KernelABI.security, &bytes,
        socklen_t(MemoryLayout.size(ofValue: bytes)))
    }
  }
}
