import Glibc
import HaloBluetoothCore
import HaloSystemCalls

/// Listens on a stream socket, and hands on the descriptor of each connection.
@BluetoothActor
package final class StreamListener {
  /// The listening address, with the chosen port: `tcp:127.0.0.1:41234`.
  package let target: String
  var descriptor: Int32 { socket.descriptor }
  private let socket: ListeningSocket
  private let unixPath: String?
  private var isOpen = true

  /// Connections that wait to be accepted.
  private static let backlog: Int32 = 4

  /// Listens on a TCP port.
  ///
  /// - Parameters:
  ///   - host: a name or an address of this machine
  ///   - port: 0 for any free port
  ///   - deadline: for resolving the name. A task that is cancelled returns at once.
  ///   - timers: the clock of the pause when descriptors have run out
  ///   - accept: called with each connection, which does not block; it is closed there
  package static func tcp(
    host: String, port: UInt16, deadline: Duration = .seconds(10), timers: Timers = EpollLoop.shared.timers,
    accept: @escaping (Int32) -> Void
  ) async throws(StackError) -> StreamListener {
    let target = "tcp:\(host):\(port)"
    let addresses = try await SocketAddress.resolved(target, within: deadline, in: timers) {
      () throws(StackError) in
      try SocketAddress.resolve(host: host, port: port, isForListening: true, target: target)
    }
    guard let address = addresses.first else { throw .cannotOpen(target, "no such host") }
    return try StreamListener(address, target: target, unixPath: nil, timers: timers, accept: accept)
  }

  /// Listens on a Unix domain socket.
  ///
  /// - Parameters:
  ///   - path: created by this call; a stale socket is replaced
  ///   - timers: the clock of the pause when descriptors have run out
  ///   - accept: called with each connection, which does not block; it is closed there
  package static func unix(
    path: String, timers: Timers = EpollLoop.shared.timers, accept: @escaping (Int32) -> Void
  ) throws(StackError) -> StreamListener {
    let address = try SocketAddress(unix: path)
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    return try StreamListener(address, target: "unix:\(path)", unixPath: path, timers: timers, accept: accept)
  }

  private init(
    _ address: SocketAddress, target: String, unixPath: String?, timers: Timers,
    accept: @escaping (Int32) -> Void
  ) throws(StackError) {
    self.target = target
    self.unixPath = unixPath
    var isBound = false
    do throws(SystemError) {
      socket = try ListeningSocket(address.family, SOCK_STREAM, 0, backlog: Self.backlog, timers: timers) {
        listener in
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withPointer { SystemCall.bind(listener, $0, $1) }
        isBound = result == 0
        return result
      } accept: { client in
        StreamSocket.setNoDelay(client)
        accept(client)
      }
    } catch {
      if isBound, let unixPath { unlink(unixPath) }
      throw .cannotOpen(target, SystemError.text(error.errno))
    }
  }

  /// The listening port; zero for a Unix domain socket.
  package var port: UInt16 {
    var storage = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return result == 0 && unixPath == nil ? UInt16(bigEndian: storage.sin_port) : 0
  }

  /// Stops listening; a Unix domain socket is removed.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    socket.close()
    if let unixPath { unlink(unixPath) }
  }
}
