import BluetoothCore
import CBlueZHCI
import EventLoop
import Glibc

/// Offers a controller to other programs on a stream socket: each that connects is handed over as a transport on
/// which a host speaks.
@BluetoothActor
public final class StreamListener {
  /// Where it listens, with the port that was chosen: `tcp:127.0.0.1:41234`.
  public let target: String
  private let descriptor: Int32
  private let unixPath: String?
  private var watch: EventLoop.Watch?

  /// - Parameters:
  ///   - port: 0 for any that is free
  ///   - accept: gets a transport for each program that connects; not started yet
  public convenience init(
    host: String, port: UInt16, accept: @escaping (HCIStreamTransport) -> Void
  ) throws(TransportError) {
    let target = "tcp:\(host):\(port)"
    let addresses = try SocketAddress.resolve(
      host: host, port: port, isForListening: true, target: target)
    guard let address = addresses.first else { throw TransportError(target, "no such host") }
    try self.init(address, target: target, unixPath: nil, accept: accept)
  }

  /// - Parameter path: made by this call; a socket that is left over from a program that is gone is replaced
  public convenience init(
    unixPath path: String, accept: @escaping (HCIStreamTransport) -> Void
  ) throws(TransportError) {
    let target = "unix:\(path)"
    guard let address = SocketAddress(unixPath: path) else {
      throw TransportError(target, "the path is longer than a socket's may be (107 bytes)")
    }
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    try self.init(address, target: target, unixPath: path, accept: accept)
  }

  private init(
    _ address: SocketAddress, target: String, unixPath: String?,
    accept: @escaping (HCIStreamTransport) -> Void
  ) throws(TransportError) {
    do throws(SystemError) {
      let listener = try retryingInterrupts("socket") {
        socket(
          address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      }
      descriptor = listener
      self.unixPath = unixPath
      var one: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      self.target = target
      try retryingInterrupts("bind") { address.withPointer { bind(listener, $0, $1) } }
      try retryingInterrupts("listen") { listen(listener, 4) }
      watch = try EventLoop.shared.watch(listener, for: .readable) { _ in
        let client = halo_accept(listener)
        guard client >= 0 else { return }
        var one: Int32 = 1
        setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        accept(HCIStreamTransport(descriptor: client, accepting: H4Framer.fromHost))
      }
    } catch {
      throw TransportError(target, error.reason)
    }
  }

  /// The port that it listens on; zero for a Unix domain socket.
  public var port: UInt16 {
    var storage = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return result == 0 && unixPath == nil ? UInt16(bigEndian: storage.sin_port) : 0
  }

  /// Listens no longer; a Unix domain socket is removed.
  public func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    Glibc.close(descriptor)
    if let unixPath { unlink(unixPath) }
  }
}
