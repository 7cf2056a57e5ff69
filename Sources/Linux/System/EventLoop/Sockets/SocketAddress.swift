import Glibc
import HaloBluetoothCore

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
