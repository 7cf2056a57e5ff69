import HaloBluetoothCore
import HaloDevices

/// A sensor that runs while it has listeners: the first listener starts it, the others share it, and the last one stops it.
///
/// A start and a stop take time, and a listener may come or go during both:
///
/// ```
/// idle -> starting -> running -> stopping -> idle
///            |           |          |
///            |           |          +--> starting (a new listener)
///            +--> idle (failed, ended)
///            +--> interrupted -> starting (the link is there again)
/// ```
@BluetoothActor
final class SharedSource<Element: Sendable> {
  private enum State {
    case idle
    case starting(Task<Void, Never>)
    case running
    case stopping
    /// The link is lost, and will be made again.
    case interrupted(since: Instant)
  }

  /// Starts it, and returns when it runs. Elements go to `deliver`; `end` is called when it has ended on its own, and may be
  /// called after a stop. After an interruption, `gap` gets its length.
  typealias Start =
    @BluetoothActor (
      _ gap: Duration?, _ deliver: @escaping (Element) -> Void, _ end: @escaping (BluetoothError?) -> Void
    ) async throws(BluetoothError) -> Void

  private let start: Start
  private let stop: @BluetoothActor () async -> Void
  private var state = State.idle
  private var listeners = Feeds<Element>()
  private var waiting = Waiters<BluetoothError>()

  init(start: @escaping Start, stop: @escaping @BluetoothActor () async -> Void) {
    self.start = start
    self.stop = stop
  }

  /// Adds a listener, and returns when the sensor runs.
  ///
  /// - Returns: ends the listening
  func listen(_ feed: ValueFeed<Element>) async throws(BluetoothError) -> () -> Void {
    let id = listeners.add(feed)
    if case .idle = state { begin() }
    try await awaitCallback { (done: @escaping (Result<Void, BluetoothError>) -> Void) in
      switch state {
      // It runs, or the feed has learned why it does not.
      case .running, .idle:
        done(.success(()))
        return {}
      case .starting, .stopping, .interrupted: break
      }
      let wait = waiting.add(done)
      return {
        self.waiting.end(wait.id, with: .cancelled)
        self.leave(id)
      }
    }
    return { self.leave(id) }
  }

  private func begin(after gap: Duration? = nil) {
    let task = BluetoothActor.run {
      do throws(BluetoothError) {
        try await self.start(gap, { self.listeners.send($0) }, { self.end($0) })
        self.started()
      } catch {
        self.failed(error)
      }
    }
    state = .starting(task)
  }

  private func started() {
    guard case .starting = state else { return }
    state = .running
    waiting.end(with: .success(()))
    stopIfUnused()
  }

  private func failed(_ error: BluetoothError) {
    guard case .starting = state else { return }
    state = .idle
    // The last listener had left, and another one has come since.
    if error.code == .cancelled, !listeners.isEmpty { return begin() }
    finish(error)
  }

  /// It has ended on its own.
  func end(_ error: BluetoothError?) {
    switch state {
    case .running, .starting, .interrupted: finish(error)
    case .idle, .stopping: break
    }
  }

  /// The link is lost, and will be made again: those who listen wait.
  func interrupt(at time: Instant) {
    switch state {
    case .interrupted: break
    case .idle, .running, .starting, .stopping: state = .interrupted(since: time)
    }
  }

  /// The link is there again.
  func resume(at time: Instant) {
    guard case .interrupted(let start) = state else { return }
    state = .idle
    if !listeners.isEmpty { begin(after: time - start) }
  }

  private func finish(_ error: BluetoothError?) {
    state = .idle
    waiting.end(with: .failure(error ?? .closed))
    listeners.finish(error)
  }

  private func leave(_ id: UInt64) {
    guard listeners.remove(id) else { return }
    stopIfUnused()
  }

  private func stopIfUnused() {
    guard listeners.isEmpty else { return }
    switch state {
    case .starting(let task): task.cancel()
    case .running:
      state = .stopping
      BluetoothActor.run {
        await self.stop()
        self.stopped()
      }
    case .idle, .stopping, .interrupted: break
    }
  }

  private func stopped() {
    guard case .stopping = state else { return }
    state = .idle
    if !listeners.isEmpty { begin() }
  }
}
