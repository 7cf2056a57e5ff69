import Glibc

/// The system calls on descriptors that carry data. All modules make them here, so that a test can make any of them
/// fail; see ``FaultPlan``. Results and `errno` are those of the calls themselves.
package enum SystemCall: Hashable, Sendable {
  case read, write, send, receive, connect

  package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    perform(.read, descriptor, count) { Glibc.read(descriptor, buffer, $0) }
  }

  package static func write(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    perform(.write, descriptor, count) { Glibc.write(descriptor, buffer, $0) }
  }

  /// `send` that never raises SIGPIPE.
  ///
  /// - Parameter waits: whether to wait for room even if the descriptor blocks
  package static func send(
    _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, waits: Bool = true
  ) -> Int {
    perform(.send, descriptor, count) {
      Glibc.send(descriptor, buffer, $0, Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT)))
    }
  }

  /// Makes a call, or what a test has put in its place.
  ///
  /// - Parameter make: makes the call with at most this many bytes
  @inline(__always)
  package static func perform(
    _ call: SystemCall, _ descriptor: Int32, _ count: Int, _ make: (Int) -> Int
  ) -> Int {
    guard FaultPlan.isActive, let outcome = FaultPlan.next(call, descriptor) else { return make(count) }
    switch outcome {
    case .error(let code):
      errno = code
      return -1
    case .limit(let limit): return make(min(count, limit))
    case .result(let result): return result
    }
  }
}
