import Glibc
import Synchronization

/// The system calls on descriptors, and those that open descriptors and change files. All modules make them here, so
/// that a test can make any of them fail: `intercept(_:)`, which debug builds have. Results and `errno` are those of the calls
/// themselves.
package enum SystemCall: Hashable, Sendable, CaseIterable {
  // On a descriptor that carries data.
  case read, write, send, receive, connect
  // Calls that open a descriptor.
  case open, socket, accept, epoll, event, timer
  // Calls that prepare or query a descriptor.
  case bind, listen, status, lock, control
  // Calls that change files.
  case makeFolder, setMode, setOwner, truncate, synchronize, rename, remove

  package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    perform(.read, descriptor, count) { Glibc.read(descriptor, buffer, $0) }
  }

  package static func write(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    perform(.write, descriptor, count) { Glibc.write(descriptor, buffer, $0) }
  }

  /// `send` that never raises SIGPIPE. With `waits`, it waits for room even if the descriptor blocks.
  package static func send(
    _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, waits: Bool = true
  ) -> Int {
    perform(.send, descriptor, count) {
      Glibc.send(descriptor, buffer, $0, Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT)))
    }
  }

  /// Makes a call: `make` makes it with at most the bytes that it gets.
  @inline(__always)
  package static func perform(
    _ call: SystemCall, _ descriptor: Int32, _ count: Int, _ make: (Int) -> Int
  ) -> Int {
    #if DEBUG
      if let interceptor { return interceptor(call, descriptor, count, make) }
    #endif
    return make(count)
  }
}

/// Calls that open a descriptor or change a file. They are repeated when a signal interrupts them.
extension SystemCall {
  /// Opens a file relative to a folder, with O_CLOEXEC.
  package static func open(
    _ path: String, _ flags: Int32, mode: mode_t = 0, in folder: Int32 = AT_FDCWD
  ) -> Int32 {
    perform(.open) { openat(folder, path, flags | O_CLOEXEC, mode) }
  }

  /// Opens a new file without a name for reading and writing, with mode 0600 and O_CLOEXEC: on the disk of `folder`, or in
  /// memory if its file system has no such files.
  package static func openUnnamed(in folder: String) -> Int32 {
    perform(.open) { Linux.openUnnamed(folder) }
  }

  /// Creates a non-blocking socket with SOCK_CLOEXEC.
  package static func socket(_ family: Int32, _ type: __socket_type, _ protocolNumber: Int32) -> Int32 {
    let type = Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return perform(.socket) { Glibc.socket(family, type, protocolNumber) }
  }

  package static func bind(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t
  ) -> Int32 {
    perform(.bind, on: descriptor) { Glibc.bind(descriptor, address, length) }
  }

  /// ioctl(2), made by `make`.
  package static func control(_ descriptor: Int32, _ make: () -> Int32) -> Int32 {
    perform(.control, on: descriptor, make)
  }

  package static func listen(_ descriptor: Int32, _ backlog: Int32) -> Int32 {
    perform(.listen, on: descriptor) { Glibc.listen(descriptor, backlog) }
  }

  package static func status(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    perform(.status, on: descriptor) { fstat(descriptor, status) }
  }

  /// flock(2).
  package static func lock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    perform(.lock, on: descriptor) { flock(descriptor, operation) }
  }

  package static func makeFolder(_ path: String, mode: mode_t) -> Int32 {
    perform(.makeFolder) { mkdir(path, mode) }
  }

  package static func setMode(_ descriptor: Int32, _ mode: mode_t) -> Int32 {
    perform(.setMode, on: descriptor) { fchmod(descriptor, mode) }
  }

  package static func setOwner(_ descriptor: Int32, _ user: uid_t, _ group: gid_t) -> Int32 {
    perform(.setOwner, on: descriptor) { fchown(descriptor, user, group) }
  }

  package static func truncate(_ descriptor: Int32, _ length: Int) -> Int32 {
    perform(.truncate, on: descriptor) { ftruncate(descriptor, off_t(length)) }
  }

  package static func synchronize(_ descriptor: Int32) -> Int32 {
    perform(.synchronize, on: descriptor) { fsync(descriptor) }
  }

  /// Renames a file in the same folder.
  package static func rename(_ name: String, to target: String, in folder: Int32 = AT_FDCWD) -> Int32 {
    perform(.rename) { renameat(folder, name, folder, target) }
  }

  /// Removes the name of a file in a folder.
  package static func remove(_ name: String, in folder: Int32) -> Int32 {
    perform(.remove) { unlinkat(folder, name, 0) }
  }

  /// Makes a call.
  package static func perform(_ call: SystemCall, on descriptor: Int32? = nil, _ make: () -> Int32) -> Int32 {
    while true {
      #if DEBUG
        let result =
          interceptor.map { Int32(truncatingIfNeeded: $0(call, descriptor, 0, { _ in Int(make()) })) }
          ?? make()
      #else
        let result = make()
      #endif
      if result >= 0 || errno != EINTR { return result }
    }
  }
}

#if DEBUG
  extension SystemCall {
    /// Gets a call, its descriptor, the most bytes that it carries, and a closure that makes it with at most a number of bytes;
    /// and returns its result.
    package typealias Interceptor = @Sendable (SystemCall, Int32?, Int, (Int) -> Int) -> Int

    private static let isIntercepted = Atomic<Bool>(false)
    private static let interceptors = LockedValue<Interceptor?>(nil)

    private static var interceptor: Interceptor? {
      isIntercepted.load(ordering: .acquiring) ? interceptors.withLock(\.self) : nil
    }

    /// Has a test make all calls of this process from now on.
    package static func intercept(_ interceptor: @escaping Interceptor) {
      interceptors.withLock { $0 = interceptor }
      isIntercepted.store(true, ordering: .releasing)
    }
  }
#endif
