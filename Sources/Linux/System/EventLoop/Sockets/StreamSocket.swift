import Glibc
import HaloBluetoothCore

/// Connects stream sockets without blocking the loop. The result is a descriptor, which does not block.
@BluetoothActor
package enum StreamSocket {
  /// Connects over TCP.
  ///
  /// - Parameters:
  ///   - host: a name, or an address in numbers
  ///   - port: the TCP port
  ///   - deadline: for the name and all its addresses together. A task that is cancelled returns at once; a name look-up
  ///     then ends in the background.
  package static func tcp(host: String, port: UInt16, deadline: Duration) async throws(StackError) -> Int32 {
    let target = "tcp:\(host):\(port)"
    let timers = EpollLoop.shared.timers
    let end = timers.current + deadline
    let addresses = try await SocketAddress.resolved(target, within: deadline, in: timers) {
      () throws(StackError) in
      try SocketAddress.resolve(host: host, port: port, isForListening: false, target: target)
    }
    var reason = "no such host"
    for address in addresses where !Task.isCancelled {
      do throws(SystemError) {
        let descriptor = try await connect(to: address, deadline: end - timers.current)
        setNoDelay(descriptor)
        return descriptor
      } catch {
        reason = SystemError.text(error.errno)
      }
    }
    throw .cannotOpen(target, reason + "; is its server running there?")
  }

  /// Connects over a Unix domain socket.
  ///
  /// - Parameters:
  ///   - path: of the socket
  ///   - deadline: how long to wait. A task that is cancelled returns at once.
  package static func unix(path: String, deadline: Duration) async throws(StackError) -> Int32 {
    let address = try SocketAddress(unix: path)
    do throws(SystemError) {
      return try await connect(to: address, deadline: deadline)
    } catch {
      throw .cannotOpen("unix:\(path)", SystemError.text(error.errno))
    }
  }

  /// Sends small packets at once; without effect on a Unix domain socket.
  static func setNoDelay(_ descriptor: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func connect(to address: SocketAddress, deadline: Duration) async throws(SystemError)
    -> Int32
  {
    let descriptor = try retryingInterrupts("socket") { SystemCall.socket(address.family, SOCK_STREAM, 0) }
    do throws(SystemError) {
      let result = address.withPointer { address, length in
        SystemCall.perform(.connect, descriptor, 0) { _ in Int(Glibc.connect(descriptor, address, length)) }
      }
      if result != 0 {
        guard errno == EINPROGRESS || errno == EINTR else { throw SystemError.last("connect") }
        try await writable(descriptor, deadline: deadline)
      }
      var failure: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
      guard failure == 0 else { throw SystemError("connect", errno: failure) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func writable(_ descriptor: Int32, deadline: Duration) async throws(SystemError) {
    try await awaitCallback { (done: @escaping (Result<Void, SystemError>) -> Void) in
      let loop = EpollLoop.shared
      var watch: EpollLoop.Watch?
      let end = OneShot<Result<Void, SystemError>> { result in
        watch?.cancel()
        done(result)
      }
      end.expire(
        after: deadline, in: loop.timers, with: .failure(SystemError("connect", errno: ETIMEDOUT)))
      do throws(SystemError) {
        watch = try loop.watch(descriptor, for: .writable) { _ in end(.success(())) }
      } catch {
        end(.failure(error))
      }
      return { end(.failure(SystemError("connect", errno: ECANCELED))) }
    }
  }
}

/// A socket address in the kernel's format.
struct SocketAddress: Sendable {
  let family: Int32
  private let bytes: [UInt8]

  /// The address of a Unix domain socket.
  init(unix path: String) throws(StackError) {
    var address = sockaddr_un()
    let utf8 = Array(path.utf8)
    guard !utf8.isEmpty, utf8.count < MemoryLayout.size(ofValue: address.sun_path), !utf8.contains(0) else {
      throw .cannotOpen("unix:\(path)", "the path is longer than a socket's may be (107 bytes)")
    }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: utf8) }
    family = AF_UNIX
    bytes = withUnsafeBytes(of: &address) { Array($0) }
  }

  private init(_ information: addrinfo) {
    family = information.ai_family
    bytes = Array(UnsafeRawBufferPointer(start: information.ai_addr, count: Int(information.ai_addrlen)))
  }

  /// Resolves a name on another thread, as this blocks.
  @BluetoothActor
  static func resolved(
    _ target: String, within time: Duration, in timers: Timers,
    _ lookUp: @escaping @Sendable () throws(StackError) -> [SocketAddress]
  ) async throws(StackError) -> [SocketAddress] {
    let result = await offTheLoop(deadline: time, in: timers) {
      Result { () throws(StackError) in try lookUp() }
    }
    guard let result else {
      let reason =
        Task.isCancelled ? "cancelled" : "the name was not resolved in \(Int(time.inSeconds.rounded())) s"
      throw .cannotOpen(target, reason)
    }
    return try result.get()
  }

  static func resolve(
    host: String, port: UInt16, isForListening: Bool, target: String
  ) throws(StackError) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = isForListening ? AI_PASSIVE : 0
    var first: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, String(port), &hints, &first)
    guard result == 0 else {
      throw .cannotOpen(target, String(cString: gai_strerror(result)).lowercased())
    }
    defer { freeaddrinfo(first) }
    var addresses: [SocketAddress] = []
    var next = first
    while let information = next?.pointee {
      addresses.append(SocketAddress(information))
      next = information.ai_next
    }
    return addresses
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    // A copy with the alignment of the largest address.
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }
}
