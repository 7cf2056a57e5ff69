import Glibc

/// Sockets between processes of this machine (unix(7)).
package enum LocalSocket {
  /// The bytes that a process sends to each connection to its socket.
  package struct Answer: Sendable {
    /// The user of the process, as the kernel knows it.
    package var user: uid_t
    /// Empty if the process did not answer in time, or does not want to.
    package var bytes: [UInt8]
  }

  /// In bytes.
  private static let largestAnswer = 1 << 16
  /// Connections that wait to be accepted.
  private static let backlog: Int32 = 64

  /// Creates a listening socket. An abstract name ends with the last descriptor of the socket; a path stays.
  ///
  /// - Parameter name: a path, or `@` and an abstract name
  /// - Returns: the descriptor, non-blocking; nil if the name is too long or taken, or there is no descriptor left: `errno`
  ///   says why
  package static func listen(at name: String) -> Int32? {
    let socket = SystemCall.socket(AF_UNIX, SOCK_STREAM, 0)
    guard socket >= 0 else { return nil }
    let result = withAddress(name) { address, length in
      SystemCall.bind(socket, address, length) == 0 ? SystemCall.listen(socket, backlog) : -1
    }
    guard result == 0 else {
      let error = result == nil ? ENAMETOOLONG : errno
      close(socket)
      errno = error
      return nil
    }
    return socket
  }

  /// The most bytes of a name.
  package static let longestName = 107

  /// Accepts a connection.
  ///
  /// - Returns: its descriptor, non-blocking, and the user who connected; nil if there is none
  package static func accept(on listener: Int32) -> (descriptor: Int32, user: uid_t)? {
    let descriptor = SystemCall.perform(.accept, on: listener) { Linux.accept(listener) }
    guard descriptor >= 0 else { return nil }
    guard let user = peer(of: descriptor) else {
      close(descriptor)
      return nil
    }
    return (descriptor, user)
  }

  /// Connects to sockets, asks all of them, and reads from all at once until the other processes close.
  ///
  /// - Parameters:
  ///   - question: the bytes to send to each, and their end; none for a socket that is asked by the connection alone
  ///   - users: for each socket, the user whose it has to be: a socket of another one is left out
  ///   - most: how many sockets of one user are read; those after them are left out
  ///   - milliseconds: how long to wait for all of them
  ///   - connect: connects the descriptor to the socket with this index; false, and `errno`, if that fails
  /// - Returns: for each socket, nil if there is none, or it is left out
  package static func answers(
    to question: [UInt8] = [], of users: [uid_t], atMost most: Int, within milliseconds: Int32,
    connect: (_ descriptor: Int32, _ index: Int) -> Bool
  ) -> [Answer?] {
    var answers = [Answer?](repeating: nil, count: users.count)
    var sockets: [(index: Int, descriptor: Int32)] = []
    defer { for socket in sockets { close(socket.descriptor) } }
    var counts: [uid_t: Int] = [:]
    for (index, user) in users.enumerated() where counts[user, default: 0] < most {
      let socket = SystemCall.socket(AF_UNIX, SOCK_STREAM, 0)
      guard socket >= 0 else { break }
      // It does not block: a listener that accepts nothing would keep us waiting.
      guard connect(socket, index) else {
        // Its queue is full: it listens, and accepts nothing.
        if errno == EAGAIN { answers[index] = Answer(user: user, bytes: []) }
        close(socket)
        continue
      }
      guard peer(of: socket) == user else {
        close(socket)
        continue
      }
      if !question.isEmpty {
        // A new socket has room for it, so that nothing waits.
        _ = question.withUnsafeBytes { SystemCall.send(socket, $0.baseAddress, $0.count, waits: false) }
        shutdown(socket, Int32(SHUT_WR))
      }
      sockets.append((index, socket))
      counts[user, default: 0] += 1
      answers[index] = Answer(user: user, bytes: [])
    }
    let end = now + Int(milliseconds)
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !sockets.isEmpty {
      var ready = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      let count = poll(&ready, nfds_t(ready.count), Int32(max(0, end - now)))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      var open: [(index: Int, descriptor: Int32)] = []
      for (socket, state) in zip(sockets, ready) {
        let count = state.revents == 0 ? -1 : SystemCall.read(socket.descriptor, &buffer, buffer.count)
        if count > 0 { answers[socket.index]?.bytes += buffer[..<count] }
        let waits = state.revents == 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        let isFull = answers[socket.index].map { $0.bytes.count >= largestAnswer } ?? true
        if waits || count > 0 && !isFull { open.append(socket) } else { close(socket.descriptor) }
      }
      sockets = open
    }
    return answers
  }

  /// In milliseconds of the kernel's monotonic clock.
  private static var now: Int {
    let time = Monitor.time(after: 0)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  /// Connects to the socket with a name: a path, or `@` and an abstract name.
  ///
  /// - Returns: whether it is connected; if not, `errno` says why
  package static func connect(_ socket: Int32, _ name: String) -> Bool {
    guard let result = withAddress(name, { Glibc.connect(socket, $0, $1) }) else {
      errno = ENAMETOOLONG
      return false
    }
    return result == 0
  }

  /// - Parameter name: a path, or `@` and an abstract name
  /// - Returns: nil if the name is malformed or too long
  private static func withAddress<Result>(
    _ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    guard let start = MemoryLayout.offset(of: \sockaddr_un.sun_path), bytes.count > 1,
      bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "@"), !bytes.contains(0),
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return nil }
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(start + bytes.count)) }
    }
  }

  private static func peer(of descriptor: Int32) -> uid_t? {
    var user: uid_t = 0
    return Linux.peer(descriptor, &user) == 0 ? user : nil
  }
}

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
