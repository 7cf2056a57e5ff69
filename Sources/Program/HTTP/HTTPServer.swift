import Glibc
import HaloBluetoothCore
import HaloSystem

/// Answers requests of HTTP/1.1 on the loop: the sockets are those of the loop, and libmicrohttpd speaks the protocol on them.
/// It has no thread of its own.
@BluetoothActor
package final class HTTPServer {
  package typealias Handler = (HTTPRequest) -> HTTPResponse

  /// In bytes: a request with more in its body is refused.
  package static let largestBody = 4096
  /// A browser makes up to six. One more takes the place of a connection that has not asked for anything that is here.
  private static let mostConnections = 48
  /// How long a connection may take to its first request that is answered.
  private static let firstDeadline = Duration.seconds(10)
  /// In seconds: how long a connection may take nothing, or send no request.
  private static let idleTime: UInt32 = 30
  /// In bytes: for the headers of a request.
  private static let memory = 32 << 10
  /// In bytes: what the kernel keeps of an answer that is not read, which is out of date when it is.
  private static let sendBuffer: Int32 = 1 << 15
  /// The library works so often before the loop goes on with its other work.
  private static let mostRounds = 2

  private let library: MicroHTTPD
  private let handler: Handler
  private var daemon: OpaquePointer?
  private var listener: StreamListener?
  private var watch: EpollLoop.Watch?
  private var timer: Timers.Token?
  private var isRunning = false
  private var mustRunAgain = false
  /// The open connections.
  private var guests: [OpaquePointer: Guest] = [:]
  private var inspection: Timers.Token?
  /// The connections that wait for something to send.
  private var suspended: Set<OpaquePointer> = []

  private struct Guest {
    let descriptor: Int32
    let since: Instant
    /// Whether a request of it was answered, and not refused.
    var isAdmitted = false
  }

  /// - Throws: if libmicrohttpd is not installed, or has no room
  package init(_ handler: @escaping Handler) throws(LibraryError) {
    library = try MicroHTTPD.shared.get()
    self.handler = handler
  }

  // MARK: Beginning and end

  /// Listens.
  ///
  /// - Parameters:
  ///   - host: a name or an address of this machine
  ///   - port: 0 for any free port
  /// - Returns: the port
  package func start(host: String, port: UInt16) async throws(StackError) -> UInt16 {
    try startDaemon()
    let listener = try await StreamListener.tcp(host: host, port: port) { [weak self] in self?.add($0) }
    self.listener = listener
    return listener.port
  }

  private func startDaemon() throws(StackError) {
    let flags = MicroHTTPD.useNoListenSocket | MicroHTTPD.useEpoll | MicroHTTPD.allowSuspendResume
    let daemon = Linux.httpStart(
      library.startDaemon, flags, unsafeBitCast(HTTPCallbacks.answer, to: UnsafeMutableRawPointer.self),
      unsafeBitCast(HTTPCallbacks.completed, to: UnsafeMutableRawPointer.self),
      unsafeBitCast(HTTPCallbacks.connected, to: UnsafeMutableRawPointer.self),
      Unmanaged.passUnretained(self).toOpaque(),
      UInt32(Self.mostConnections), Self.idleTime, Self.memory)
    self.daemon = daemon.map { OpaquePointer($0) }
    guard daemon != nil else { throw .cannotOpen("HTTP", "libmicrohttpd does not start") }
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.run() }
    } catch {
      throw .cannotOpen("HTTP", SystemError.text(error.errno))
    }
  }

  /// The descriptor of the library's epoll, which stands for those of all its connections.
  private var descriptor: Int32 {
    var (readable, writable, failing) = (fd_set(), fd_set(), fd_set())
    var found: Int32 = -1
    _ = library.descriptors(daemon, &readable, &writable, &failing, &found, UInt32(FD_SETSIZE))
    return found
  }

  /// Sends what waits as far as the viewers take it, and closes all connections.
  package func stop() {
    guard let daemon else { return }
    listener.take()?.close()
    run()
    // The library frees no connection that is suspended.
    for connection in suspended { library.resume(connection) }
    suspended = []
    run()
    self.daemon = nil
    watch.take()?.cancel()
    EpollLoop.shared.timers.cancel(timer)
    EpollLoop.shared.timers.cancel(inspection)
    library.stopDaemon(daemon)
  }

  // MARK: Running

  private func add(_ connection: Int32) {
    guard daemon != nil else {
      Glibc.close(connection)
      return
    }
    if guests.count >= Self.mostConnections - 1 {
      close(guests.values.filter { !$0.isAdmitted }.min { $0.since < $1.since })
    }
    var size = Self.sendBuffer
    setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getpeername(connection, address, &length)
        // It closes the descriptor when it has too many.
        _ = library.addConnection(daemon, connection, address, length)
      }
    }
    run()
  }

  /// A connection has begun, or ended.
  func note(_ connection: OpaquePointer, hasBegun: Bool) {
    guard hasBegun else {
      guests[connection] = nil
      return
    }
    let descriptor = Linux.httpDescriptor(library.connectionInfo, UnsafeMutableRawPointer(connection))
    guests[connection] = Guest(descriptor: descriptor, since: EpollLoop.shared.timers.current)
    inspect()
  }

  /// Closes those that have not asked for anything in time. The library waits longer: for each byte anew, and for the end of a
  /// connection that came together with a part of a request.
  private func inspect() {
    guard inspection == nil else { return }
    inspection = EpollLoop.shared.timers.schedule(after: Self.firstDeadline / 2) { [weak self] in
      guard let self else { return }
      inspection = nil
      let strangers = guests.values.filter { !$0.isAdmitted }
      for guest in strangers where EpollLoop.shared.timers.current - guest.since >= Self.firstDeadline {
        close(guest)
      }
      if !strangers.isEmpty { inspect() }
    }
  }

  private func close(_ guest: Guest?) {
    guard let guest, guest.descriptor >= 0 else { return }
    shutdown(guest.descriptor, Int32(SHUT_RDWR))
    run()
  }

  /// Lets the library do what is due.
  private func run() {
    guard let daemon else { return }
    mustRunAgain = true
    guard !isRunning else { return }
    isRunning = true
    var rounds = 0
    var wait: UInt64?
    repeat {
      mustRunAgain = false
      _ = library.run(daemon)
      var milliseconds: UInt64 = 0
      wait = library.timeout(daemon, &milliseconds) == MicroHTTPD.yes ? milliseconds : nil
      rounds += 1
    } while (mustRunAgain || wait == 0) && rounds < Self.mostRounds
    isRunning = false
    EpollLoop.shared.timers.cancel(timer)
    timer = wait.map { wait in
      EpollLoop.shared.timers.schedule(after: .milliseconds(Int64(min(max(wait, 1), 60_000)))) {
        [weak self] in
        self?.run()
      }
    }
  }

  private func wake(_ connection: OpaquePointer) {
    guard suspended.remove(connection) != nil else { return }
    library.resume(connection)
    run()
  }

  // MARK: Requests

  /// Takes a part of a request; answers it when it is whole.
  func take(
    _ connection: OpaquePointer, _ path: String, _ method: String, _ part: UnsafeBufferPointer<UInt8>,
    _ state: RequestState
  ) -> Int32 {
    guard part.isEmpty else {
      if state.body.count + part.count > Self.largestBody { state.isTooLong = true }
      if !state.isTooLong { state.body += part }
      return MicroHTTPD.yes
    }
    let response =
      state.isTooLong
      ? HTTPResponse(413, "The request has more than \(Self.largestBody) bytes.")
      : handler(HTTPRequest(method, path, body: state.body, connection, library))
    if response.status < 400 { guests[connection]?.isAdmitted = true }
    return send(response, to: connection)
  }

  private func send(_ response: HTTPResponse, to connection: OpaquePointer) -> Int32 {
    let answer: OpaquePointer?
    switch response.body {
    case .bytes(var bytes):
      answer = bytes.withUnsafeMutableBytes {
        library.responseOfBytes($0.count, $0.baseAddress, MicroHTTPD.mustCopy)
      }
    case .events(let stream):
      stream.wake = { [weak self] in self?.wake(connection) }
      let reading = AnswerReading(stream) { [weak self] in
        guard let self else { return }
        suspended.insert(connection)
        library.suspend(connection)
      }
      answer = library.responseOfReader(
        MicroHTTPD.sizeUnknown, 1 << 14, HTTPCallbacks.read, Unmanaged.passRetained(reading).toOpaque(),
        HTTPCallbacks.release)
    }
    guard let answer else { return MicroHTTPD.no }
    for (name, value) in response.headers { _ = library.addHeader(answer, name, value) }
    defer { library.destroyResponse(answer) }
    return library.queue(connection, response.status, answer)
  }
}
