import HaloBluetoothCore

/// Reads values of a ring now and every few minutes, beside a stream.
@BluetoothActor
final class PeriodicReading {
  private let timers: Timers
  private let pause: Duration
  private let read: @BluetoothActor () async -> Void
  private var timer: Timers.Token?
  private var task: Task<Void, Never>?

  /// - Parameters:
  ///   - timers: the time
  ///   - pause: the time from the end of a reading to the next one
  ///   - read: reads the values
  init(_ timers: Timers, every pause: Duration, _ read: @escaping @BluetoothActor () async -> Void) {
    self.timers = timers
    self.pause = pause
    self.read = read
  }

  /// Begins, until ``end()``.
  ///
  /// - Parameter first: the task to wait for before the first reading
  func begin(after first: Task<Void, Never>?) {
    task = BluetoothActor.run { [self] in
      await first?.value
      await read()
      guard task?.isCancelled == false else { return }
      timer = timers.schedule(after: pause) { self.begin(after: nil) }
    }
  }

  /// Cancels the next reading, and waits for one that has begun.
  func end() async {
    timers.cancel(timer)
    task?.cancel()
    await task?.value
  }
}
