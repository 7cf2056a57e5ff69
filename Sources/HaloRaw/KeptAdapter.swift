import GAP
import GATTClient
import HCI
import HaloBluetoothCore
import HaloEventLoop
import HaloLinuxBluetooth

/// An adapter over time. It is opened as soon as it can be, and again after it was switched off and on, pulled out and
/// plugged in, or reset; ``state`` says whether it can be used now.
@BluetoothActor
package final class KeptAdapter {
  package enum State: Hashable, Sendable {
    /// It is being opened.
    case unknown
    /// It will be back: its controller is set up again, or another program has it.
    case resetting
    /// There is no adapter, or none for Bluetooth LE.
    case unsupported
    /// The process lacks a privilege.
    case unauthorized
    /// It is switched off, or blocked.
    case poweredOff
    case poweredOn
  }

  /// Receives the changes of a state, until it is cancelled or released.
  @BluetoothActor
  package final class Observation {
    fileprivate let handler: (State) -> Void
    fileprivate weak var radio: KeptAdapter?

    fileprivate init(_ radio: KeptAdapter, _ handler: @escaping (State) -> Void) {
      self.radio = radio
      self.handler = handler
    }

    package func cancel() {
      radio?.observations.removeAll { $0.value === self || $0.value == nil }
      radio = nil
    }
  }

  private struct Observer {
    weak var value: Observation?
  }

  /// Whether the adapter can be used.
  package private(set) var state = State.unknown
  /// Why it can't be used; nil while it can.
  package private(set) var failure: String?
  /// Scans and connects, while the state is ``State/poweredOn``.
  package private(set) var central: Central?

  /// The radio itself, for the peripheral role; nil while it is not open.
  package var adapter: (any Adapter)? { opened?.adapter }

  /// The links of programs that do not know of each other.
  package let links = SharedLinks()

  private let open: @BluetoothActor () async throws -> OpenedAdapter
  private var opened: OpenedAdapter?
  private var observations: [Observer] = []
  private var task: Task<Void, Never>?
  /// Why the adapter has failed, until it is recovered.
  private var loss: GAPError?
  private var pause = Pause()

  /// What the task waits for, apart from the object, which can be released meanwhile.
  @BluetoothActor
  private final class Pause {
    private var end: OneShot<Void>?
    private var isOver = false

    nonisolated init() {}

    func callAsFunction() {
      isOver = true
      end?()
    }

    /// - Parameter limit: the end of the wait; nil for one that only a call ends
    func wait(atMost limit: Duration?) async {
      guard !isOver else { return }
      await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
        let end = OneShot { done(.success(())) }
        if let limit { end.expire(after: limit, in: EpollLoop.shared.timers, with: ()) }
        self.end = end
        return { end() }
      }
    }
  }

  /// How often an adapter that can't be opened is tried.
  private static let period = Duration.seconds(1)
  /// How long one recovery lasts.
  private static let recoveryTime = Duration.seconds(60)

  /// Opens an adapter, now and after each failure to open it.
  package init(_ open: @escaping @BluetoothActor () async throws -> OpenedAdapter) {
    self.open = open
    task = BluetoothActor.run { [weak self] in
      while !Task.isCancelled, let (pause, limit) = await self?.step() {
        await pause.wait(atMost: limit)
      }
    }
  }

  /// An adapter that nobody uses is released, as if it were closed.
  isolated deinit {
    task?.cancel()
    let (central, opened) = (self.central, self.opened)
    guard central != nil || opened != nil else { return }
    BluetoothActor.run { await Self.release(central, opened) }
  }

  /// Uses an adapter that is open.
  package convenience init(_ adapter: any Adapter) {
    self.init { OpenedAdapter(adapter) }
  }

  /// Calls `handler` on the loop with each new state.
  package func observe(_ handler: @escaping (State) -> Void) -> Observation {
    let observation = Observation(self, handler)
    observations.removeAll { $0.value == nil }
    observations.append(Observer(value: observation))
    return observation
  }

  /// Ends all links and releases the adapter.
  package func close() async {
    task?.cancel()
    pause()
    observations = []
    await release()
  }

  private func set(_ state: State, _ failure: String? = nil) {
    self.failure = failure
    guard state != self.state else { return }
    self.state = state
    for observer in observations { observer.value?.handler(state) }
  }

  // MARK: The way from state to state

  /// Opens the adapter, or recovers it.
  ///
  /// - Returns: what to wait for before the next step, and for how long; nil for as long as the adapter works
  private func step() async -> (Pause, Duration?) {
    pause = Pause()
    do {
      if let loss {
        set(State(loss), "\(loss)")
        try await central?.recover(within: Self.recoveryTime)
        self.loss = nil
      } else if central == nil {
        try await start()
      }
      if !Task.isCancelled, loss == nil { set(.poweredOn) }
      return (pause, nil)
    } catch GAPError.hci(.transportEnded) where loss != nil {
      return (pause, nil)
    } catch {
      guard !Task.isCancelled else { return (pause, nil) }
      if loss == nil { await release() }
      set(State(error), "\(error)")
      return (pause, Self.period)
    }
  }

  private func start() async throws {
    let opened = try await open()
    guard !Task.isCancelled else {
      await opened.adapter.close()
      return
    }
    self.opened = opened
    let central = Central(opened.adapter)
    central.onFailure = { [weak self] error in
      self?.loss = error
      self?.pause()
    }
    self.central = central
    try await central.start()
  }

  private func release() async {
    let (central, opened) = (self.central, self.opened)
    self.central = nil
    self.opened = nil
    await Self.release(central, opened)
  }

  private static func release(_ central: Central?, _ opened: OpenedAdapter?) async {
    await central?.stop()
    _ = opened?.finish()
  }
}

extension KeptAdapter.State {
  fileprivate init(_ error: any Error) {
    switch error {
    case GAPError.hci(.adapter(let error)): self.init(error.reason)
    case let error as AdapterError: self.init(error.reason)
    case GAPError.hci(.lowEnergyNotSupported), GAPError.hci(.transportEnded), is AdapterSpecificationError:
      self = .unsupported
    case is TransportError: self = .unsupported
    default: self = .resetting
    }
  }

  private init(_ reason: AdapterError.Reason) {
    switch reason {
    case .noBluetooth, .noSuchAdapter, .noAdapters, .adapterRemoved: self = .unsupported
    case .missing: self = .unauthorized
    case .adapterDown, .radioBlocked: self = .poweredOff
    default: self = .resetting
    }
  }
}
