import Glibc
import HaloBluetoothCore
import HaloSystemCalls

/// L2CAP sockets with a large receive buffer, for connection attempts to come.
///
/// A buffer beyond the system's limit requires CAP_NET_ADMIN when its size is set (`SO_RCVBUFFORCE`), but links are made
/// after the process has dropped it. Within the limit of 208 KiB a program that is held up loses notifications after 530.
@BluetoothActor
final class L2CAPSocketPool {
  /// A link takes one, and so does each repeated attempt.
  private static let size = 8

  private var descriptors: [Int32] = []

  /// Opens the sockets. Without CAP_NET_ADMIN the stock is empty.
  init() {
    guard Capability.netAdmin.isEffective else { return }
    for _ in 0..<Self.size {
      guard let descriptor = try? Self.open() else { return }
      PacketSocket.raiseReceiveBuffer(of: descriptor)
      descriptors.append(descriptor)
    }
  }

  /// - Parameter descriptors: sockets to take, the last one first
  init(_ descriptors: [Int32]) {
    self.descriptors = descriptors
  }

  isolated deinit {
    for descriptor in descriptors { Glibc.close(descriptor) }
  }

  /// A socket that is neither bound nor connected; the caller closes it. When the stock is used up, a new one, whose buffer
  /// the system limits.
  func take() throws(SystemError) -> Int32 {
    if let descriptor = descriptors.popLast() { return descriptor }
    return try Self.open()
  }

  private static func open() throws(SystemError) -> Int32 {
    try retryingInterrupts("socket") {
      SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, KernelABI.protocolL2CAP)
    }
  }
}
