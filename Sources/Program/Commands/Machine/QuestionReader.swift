import Glibc
import HaloBluetoothCore
import HaloSystem

/// Reads the bytes that come with a question to a ``StatusServer``, until the other process has sent all of them. It does not
/// block the loop.
@BluetoothActor
final class QuestionReader {
  private let descriptor: Int32
  private let longest: Int
  private var bytes: [UInt8] = []
  private var watch: EpollLoop.Watch?
  private var timer: Timers.Token?
  private var done: ([UInt8]?) -> Void

  /// How long the other process may take. Its question is sent with the connection.
  private static let deadline = Duration.seconds(1)

  /// - Parameters:
  ///   - descriptor: the socket, non-blocking; it stays open
  ///   - longest: more bytes than this are no question
  ///   - done: called later, once: with all bytes, or nil for too many, none in time, or a failure
  init(_ descriptor: Int32, atMost longest: Int, _ done: @escaping ([UInt8]?) -> Void) {
    (self.descriptor, self.longest, self.done) = (descriptor, longest, done)
    timer = EpollLoop.shared.timers.schedule(after: Self.deadline) { [weak self] in self?.end(nil) }
    // Without a watch, the deadline ends it.
    watch = try? EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.read() }
  }

  /// Reads no more, and does not call `done`.
  func stop() {
    done = { _ in }
    end(nil)
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: longest + 1 - bytes.count)
    let count = SystemCall.read(descriptor, &buffer, buffer.count)
    guard count >= 0 else {
      if errno != EAGAIN, errno != EINTR { end(nil) }
      return
    }
    guard count > 0 else { return end(isAlone ? nil : bytes) }
    bytes += buffer[..<count]
    if bytes.count > longest { end(nil) }
  }

  /// Whether the other process waits for no answer any more. It may have asked long ago, if this process was stopped.
  private var isAlone: Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
  }

  private func end(_ result: [UInt8]?) {
    watch.take()?.cancel()
    EpollLoop.shared.timers.cancel(timer)
    let done = self.done
    self.done = { _ in }
    done(result)
  }
}
