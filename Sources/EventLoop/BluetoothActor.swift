/// The global actor of the stack. Its executor is the event loop, so calls between layers are synchronous calls on one
/// thread, and `async` is needed only at the public interface.
@globalActor
public actor BluetoothActor {
  public static let shared = BluetoothActor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    EventLoop.shared.asUnownedSerialExecutor()
  }
}
