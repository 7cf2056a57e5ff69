import HaloSystem
import HaloGATT
import HaloRecording

/// A recorded device in a test of a program.
extension ReplayedPeripheral {
  /// The ring of a capture. It knows the services of rings, also if they were discovered before the capture, and which of their
  /// commands are alike.
  ///
  /// - Parameter path: a capture of the HCI, in any of the formats of `halo-raw decode`
  /// - Throws: `.file` if the capture cannot be read, or has no such device
  public static func ring(path: String) throws -> ReplayedPeripheral {
    do {
      return try ReplayOptions().peripheral(of: path)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Runs a program on a radio with this device, in a virtual time of its own, and closes the radio.
  ///
  /// Where the recording has nothing more for a program that waits, the program's task is cancelled: no test hangs.
  /// Cancelling the caller's task does the same.
  ///
  /// - Parameter program: the program; it may belong to no other actor than `BluetoothActor`, as the time goes on while it is
  ///   elsewhere
  /// - Throws: the errors of the program
  public func replay<Value: Sendable>(
    _ program: @escaping @Sendable (Radio) async throws -> Value
  ) async throws -> Value {
    let time = EpollLoop.shared.makeVirtualTime()
    defer { EpollLoop.shared.end(time) }
    let adapter = ReplayAdapter(self, time: time)
    // A task that leaves the loop between two steps would let the time jump.
    let task = Task(executorPreference: EpollLoop.shared) {
      let radio = try await Radio.start(OpenedAdapter(adapter))
      do {
        let value = try await program(radio)
        try await radio.close()
        return value
      } catch {
        try? await radio.close()
        throw error
      }
    }
    adapter.onInterrupt = { task.cancel() }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Expects that the program writes this value, in any way: with or without response, or in parts. If it is expected several
  /// times, it must be written as often.
  public func expect<Value>(write value: Value, to id: CharacteristicID<Value>) {
    expect(write: value.encoded, to: id.uuid)
  }

  /// Expects that the program reads the characteristic.
  public func expect<Value>(readOf id: CharacteristicID<Value>) { expect(readOf: id.uuid) }

  /// Expects that the program subscribes to the characteristic.
  public func expect<Value>(subscriptionTo id: CharacteristicID<Value>) { expect(subscriptionTo: id.uuid) }
}
