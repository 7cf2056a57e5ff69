import Glibc

/// The socket on which a service manager such as systemd expects messages from this process (sd_notify(3)).
package struct ServiceSocket: Sendable {
  private let descriptor: Int32

  /// Connects to the socket. It stays open until the process ends.
  ///
  /// - Parameter name: `$NOTIFY_SOCKET`: a path, or `@` and an abstract name
  /// - Returns: nil if there is no such socket
  package init?(_ name: String) {
    let descriptor = SystemCall.socket(AF_UNIX, SOCK_DGRAM, 0)
    guard descriptor >= 0 else { return nil }
    guard LocalSocket.connect(descriptor, name) else {
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
