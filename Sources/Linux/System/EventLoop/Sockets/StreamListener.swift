import Glibc
import HaloBluetoothCore

/// Listens on a stream socket, and hands on the descriptor of each connection.
@BluetoothActor
package final class StreamListener {
  /// The listening address, with the chosen port: `tcp:127.0.0.1:41234`.
  package let target: String
  var descriptor: Int32 { socket.descriptor }
  private let socket: ListeningSocket
  /// The file of a Unix domain socket.
  private var file: BoundFile?
  private let isUnix: Bool
  private var isOpen = true

  /// Connections that wait to be accepted.
  private static let backlog: Int32 = 64

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
  ///   - path: created by this call; a socket at which no process listens any more is replaced
  ///   - timers: the clock of the pause when descriptors have run out
  ///   - accept: called with each connection, which does not block; it is closed there
  package static func unix(
    path: String, timers: Timers = EpollLoop.shared.timers, accept: @escaping (Int32) -> Void
  ) throws(StackError) -> StreamListener {
    let address = try SocketAddress(unix: path)
    if let old = BoundFile(path), isRefused(address) { old.remove() }
    return try StreamListener(address, target: "unix:\(path)", unixPath: path, timers: timers, accept: accept)
  }

  /// Whether no process listens at the address of a Unix domain socket.
  private static func isRefused(_ address: SocketAddress) -> Bool {
    let probe = SystemCall.socket(AF_UNIX, SOCK_STREAM, 0)
    guard probe >= 0 else { return false }
    defer { Glibc.close(probe) }
    // It does not block. A socket whose queue is full has a listener.
    return address.withPointer { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
  }

  private init(
    _ address: SocketAddress, target: String, unixPath: String?, timers: Timers,
    accept: @escaping (Int32) -> Void
  ) throws(StackError) {
    self.target = target
    isUnix = unixPath != nil
    var file: BoundFile?
    do throws(SystemError) {
      socket = try ListeningSocket(address.family, SOCK_STREAM, 0, backlog: Self.backlog, timers: timers) {
        listener in
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withPointer { SystemCall.bind(listener, $0, $1) }
        if result == 0, let unixPath { file = BoundFile(unixPath) }
        return result
      } accept: { client in
        StreamSocket.setNoDelay(client)
        accept(client)
      }
    } catch {
      file?.remove()
      throw .cannotOpen(target, isUnix ? SystemError.text(error.errno) : Self.text(ofTCP: error))
    }
    self.file = file
  }

  private static func text(ofTCP error: SystemError) -> String {
    switch error.errno {
    case EACCES: "permission denied; ports below 1024 are for root"
    case EADDRNOTAVAIL: "this machine has no such address; 0.0.0.0 stands for all that it has"
    default: SystemError.text(error.errno)
    }
  }

  /// The listening port; zero for a Unix domain socket.
  package var port: UInt16 {
    var storage = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return result == 0 && !isUnix ? UInt16(bigEndian: storage.sin_port) : 0
  }

  /// Stops listening; a Unix domain socket is removed.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    socket.close()
    file?.remove()
  }
}

/// The file that a Unix domain socket has at its path. Another program may have put its own there since.
private struct BoundFile {
  private let path: String
  private let device: dev_t
  private let number: ino_t

  /// Nil if there is no socket at the path.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    (self.path, device, number) = (path, status.st_dev, status.st_ino)
  }

  func remove() {
    guard let now = BoundFile(path), now.device == device, now.number == number else { return }
    unlink(path)
  }
}

/// A listening socket, which hands on the descriptor of each connection.
@BluetoothActor
package final class ListeningSocket {
  package let descriptor: Int32
  private let timers: Timers
  private let accept: (Int32) -> Void
  private var watch: EpollLoop.Watch?
  private var retry: Timers.Token?
  private var isOpen = true

  /// How long no connection is accepted after the process has run out of descriptors.
  private static let pauseTime = Duration.milliseconds(200)

  /// - Parameters:
  ///   - family: of the socket
  ///   - type: of the socket
  ///   - protocolNumber: of the socket
  ///   - backlog: how many connections may wait
  ///   - timers: the clock of the pause
  ///   - bind: gives the socket its address, with the result of bind(2); repeated when a signal interrupts it
  ///   - accept: called with each connection, which does not block; it is closed there
  package init(
    _ family: Int32, _ type: __socket_type, _ protocolNumber: Int32, backlog: Int32, timers: Timers,
    bind: (Int32) -> Int32, accept: @escaping (Int32) -> Void
  ) throws(SystemError) {
    let listener = try retryingInterrupts("socket") { SystemCall.socket(family, type, protocolNumber) }
    descriptor = listener
    self.timers = timers
    self.accept = accept
    do throws(SystemError) {
      try retryingInterrupts("bind") { bind(listener) }
      try retryingInterrupts("listen") { SystemCall.listen(listener, backlog) }
      try start()
    } catch {
      close()
      throw error
    }
  }

  isolated deinit {
    close()
  }

  private func start() throws(SystemError) {
    watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.acceptOne() }
  }

  private func acceptOne() {
    let listener = descriptor
    let connection = SystemCall.perform(.accept, on: listener) { Linux.accept(listener) }
    guard connection >= 0 else {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
      return
    }
    accept(connection)
  }

  /// The pending connection keeps the socket readable: without a pause the loop would spin.
  private func pause() {
    watch.take()?.cancel()
    retry = timers.schedule(after: Self.pauseTime) { [weak self] in
      guard let self else { return }
      retry = nil
      do throws(SystemError) { try start() } catch { pause() }
    }
  }

  /// Listens no longer.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    watch.take()?.cancel()
    timers.cancel(retry)
    Glibc.close(descriptor)
  }
}
