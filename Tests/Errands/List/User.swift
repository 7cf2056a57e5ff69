import HaloBluetoothCore

package typealias Errand = @BluetoothActor (User) async throws -> Void

/// All errands, by their names.
package let errands = [centralErrands, sharedDeviceErrands, interruptedErrands, servingErrands].reduce(
  into: [:]) {
    all, some in
    all.merge(some) { first, _ in first }
  }

/// Somebody who does an errand by a door: gets a line for each result, and may interrupt it.
@BluetoothActor
package final class User {
  let door: any Door
  let argument: String
  private let show: (String) -> Void
  /// What was begun last that can be interrupted; it may have ended.
  private var task: Task<Void, any Error>?

  /// - Parameters:
  ///   - door: by which the errand is done, in whose time
  ///   - argument: that of the errand, if it has one
  ///   - show: gets each line at once
  package init(_ door: any Door, argument: String = "", show: @escaping (String) -> Void) {
    (self.door, self.argument, self.show) = (door, argument, show)
  }

  /// Shows a line: the items, with bytes in hex.
  func say(_ items: Any...) {
    let words = items.map { item in if let bytes = item as? [UInt8] { hex(bytes) } else { "\(item)" } }
    show(words.joined(separator: " "))
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
  }

  // MARK: Interruptions

  /// Interrupts what can be.
  ///
  /// - Returns: whether there is something, or was
  @discardableResult
  package func interrupt() -> Bool {
    task?.cancel()
    return task != nil
  }

  /// Runs something that the user interrupts, and says how it has ended.
  func interrupted(_ work: @escaping @BluetoothActor () async throws -> Void) async {
    let task = started { [self] in
      do {
        try await work()
        say("ended")
      } catch {
        say("error", (error as? DoorError)?.word ?? error)
      }
    }
    self.task = task
    _ = await task.result
  }
}

/// Starts a task that stays on the thread of the stack, as virtual time goes on when that has nothing to do.
@BluetoothActor
func started<Value: Sendable>(
  _ work: @escaping @BluetoothActor () async throws -> Value
) -> Task<Value, any Error> {
  Task(executorPreference: BluetoothActor.loop) { try await work() }
}

extension Door {
  /// Runs something that is cancelled after a time.
  ///
  /// - Throws: what it throws; `.timedOut` in place of the cancellation
  package func within<Result: Sendable>(
    _ limit: Duration, _ work: @escaping @BluetoothActor () async throws -> Result
  ) async throws -> Result {
    let task = started(work)
    var isOver = false
    let clock = started {
      try await self.sleep(for: limit)
      isOver = true
      task.cancel()
    }
    defer { clock.cancel() }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch let error as DoorError where error == .cancelled && isOver {
      throw DoorError.timedOut
    }
  }
}

func twoBytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
