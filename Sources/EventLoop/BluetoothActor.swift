/// The one actor of the stack. Its executor is the event loop, so that calls between layers are ordinary
/// synchronous calls on one thread, and `async` is only found where a person writes `try await`.
@globalActor
public actor BluetoothActor {
  public static let shared = BluetoothActor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    EventLoop.shared.asUnownedSerialExecutor()
  }
}
