import BluetoothCore
import GAP
import HaloEventLoop

extension ReplayedPeripheral {
  /// Runs a program on a radio with this peripheral, in a virtual time of its own, and ends all its links.
  ///
  /// Where the recording has nothing more for a program that waits, the program's task is cancelled: no test hangs.
  /// Cancelling the caller's task does the same.
  ///
  /// - Throws: what the program throws
  public func replay<Value: Sendable>(
    _ program: @escaping @BluetoothActor (Central) async throws -> Value
  ) async throws -> Value {
    let time = EpollLoop.shared.makeVirtualTime()
    defer { EpollLoop.shared.end(time) }
    let adapter = ReplayAdapter(self, time: time)
    let central = Central(adapter)
    // A task that leaves the loop between two steps would let the time jump.
    let task = Task(executorPreference: EpollLoop.shared) { try await central.run(program) }
    adapter.onInterrupt = { task.cancel() }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

extension Central {
  /// Runs a program from the start of the radio to its end.
  fileprivate func run<Value: Sendable>(
    _ program: @BluetoothActor (Central) async throws -> Value
  ) async throws -> Value {
    do {
      try await start()
      let value = try await program(self)
      await stop()
      return value
    } catch {
      await stop()
      throw error
    }
  }
}
