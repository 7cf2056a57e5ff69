import Glibc
import HCI
import HaloSystemCalls

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
