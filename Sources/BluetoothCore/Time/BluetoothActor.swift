/// The global actor of the stack. Its executor is the platform's event loop, so calls between layers are synchronous
/// calls on one thread, and `async` is needed only at the public interface.
@globalActor
public actor BluetoothActor {
  public static let shared = BluetoothActor()

  /// The event loop. The layers do not know it: the one linked module that has a loop conforms this actor to
  /// ``EventLoopProvider``.
  package static let loop: any StackExecutor = {
    guard let provider = BluetoothActor.self as Any.Type as? any EventLoopProvider.Type else {
      fatalError(
        "no event loop: link a module that conforms BluetoothActor to EventLoopProvider, such as EventLoop")
    }
    return provider.eventLoop
  }()

  private static let executor = loop.asUnownedSerialExecutor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor }

  /// Starts a task that always stays on the loop. Any other task leaves it briefly after each suspension, as the runtime
  /// resumes it on the global pool before it returns to its actor.
  @discardableResult
  public nonisolated static func run(_ work: @escaping @Sendable @BluetoothActor () async -> Void) -> Task<
    Void, Never
  > {
    Task(executorPreference: loop) { await work() }
  }
}

/// The executor of the stack: one thread that runs one job after the other.
package typealias StackExecutor = SerialExecutor & TaskExecutor

/// Provides the event loop of the process. To run the stack on another platform, write a loop, and conform
/// ``BluetoothActor`` to this protocol.
package protocol EventLoopProvider {
  static var eventLoop: any StackExecutor { get }
}
