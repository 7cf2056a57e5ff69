import Glibc

/// The socket on which a service manager such as systemd expects messages from this process (sd_notify(3)).
package struct ServiceSocket: Sendable {
  private let descriptor: Int32

  /// Connects to the socket. It stays open until the process ends.
  ///
  /// - Parameter name: `$NOTIFY_SOCKET`: a path, or `@` and an abstract name
  /// - Returns: nil if there is no such socket
  package init?(_ name: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    guard bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "@"), bytes.count > 1,
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return nil }
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0
    let descriptor = SystemCall.socket(AF_UNIX, SOCK_DGRAM, 0)
    guard descriptor >= 0 else { return nil }
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(length))
      }
    }
    guard result == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
  }

  /// Sends a message of lines such as `READY=1`. One that the service manager does not take at once is dropped.
  package func send(_ message: String) {
    var message = message
    _ = message.withUTF8 { SystemCall.send(descriptor, $0.baseAddress, $0.count, waits: false) }
  }
}
