import GAP
import HaloBluetoothCore
import HaloSecurityManager

/// An adapter over time, shared by all that use it: opened, watched, recovered when it has failed, and released. Nothing else
/// recovers an adapter.
///
/// ```
///            start                    failure
///   closed ---------> usable -----------------------> failed
///      ^                 ^                               |  wanted: recovered, for as long as it is
///      |                 +-------------------------------+
///      |                                                 |  a failure that waiting does not mend:
///      +-------------------------------------------------+  tried again after the pause of the policy, or not at all
/// ```
///
/// A failed adapter is wanted while a task waits in ``untilUsable(within:)``, and always if the policy demands it.
@BluetoothActor
package final class ManagedAdapter {
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

  /// The program's choices for a failed adapter.
  package struct Policy: Sendable {
    /// Whether it is recovered though no task waits for it.
    package var isNeededWhileIdle: Bool
    /// The pause after a failure that waiting does not repair, or that came while it was opened; nil if there is no other
    /// attempt.
    package var pause: Duration?

    package init(isNeededWhileIdle: Bool = false, pause: Duration? = nil) {
      self.isNeededWhileIdle = isNeededWhileIdle
      self.pause = pause
    }
  }

  /// Receives the changes of a state, until it is cancelled or released.
  @BluetoothActor
  package final class Observation {
    fileprivate let handler: (State) -> Void
    fileprivate weak var adapter: ManagedAdapter?

    fileprivate init(_ adapter: ManagedAdapter, _ handler: @escaping (State) -> Void) {
      self.adapter = adapter
      self.handler = handler
    }

    package func cancel() {
      adapter?.observations.removeAll { $0.value === self || $0.value == nil }
      adapter = nil
    }
  }

  private struct Observer {
    weak var value: Observation?
  }

  /// An adapter that is open, with its central, and the call that releases it.
  package struct Opened {
    let central: Central
    let finish: @BluetoothActor () -> Void

    package init(_ central: Central, finish: @escaping @BluetoothActor () -> Void = {}) {
      self.central = central
      self.finish = finish
    }
  }

  package private(set) var state = State.unknown
  /// Why it can't be used, as a text; nil while it can.
  package private(set) var obstacle: String?
  /// Why it has failed, until it is recovered.
  package private(set) var failure: StackError?
  /// Scans and connects; nil while the adapter is not open.
  package var central: Central? { opened?.central }
  /// The adapter itself, for the peripheral role; nil while it is not open.
  package var adapter: (any Adapter)? { central?.adapter }
  package var policy: Policy {
    didSet { recoverIfWanted() }
  }
  /// Called when the adapter has failed, and when it can't be recovered; with nil when it is usable again after that.
  package var onFailure: ((StackError?) -> Void)?

  /// The links of programs that do not know of each other.
  package let links = SharedLinks()

  private let timers: Timers
  private let open: @BluetoothActor () async throws -> Opened
  private var opened: Opened?
  private var observations: [Observer] = []
  private var waiting = Waiters<StackError>()
  /// Opens or recovers the adapter; nil when nothing is tried.
  private var attempt: Task<Void, Never>?
  private var pause: Timers.Token?
  /// Whether it was set up, so that it can be recovered.
  private var isStarted = false
  private var isClosed = false

  /// How long its links may take to end.
  private static let closingTime = Duration.seconds(5)

  /// - Parameters:
  ///   - policy: the program's choices for it
  ///   - timers: the clock of pauses while it is not open
  ///   - open: opens it; called again after it has failed to
  package init(_ policy: Policy, timers: Timers, open: @escaping @BluetoothActor () async throws -> Opened) {
    self.policy = policy
    self.timers = timers
    self.open = open
  }

  /// Uses an adapter that is open, and is not opened again.
  ///
  /// - Parameters:
  ///   - central: its central, which is not started yet
  ///   - policy: how it is recovered
  package convenience init(_ central: Central, _ policy: Policy = Policy()) {
    self.init(policy, timers: central.timers) { throw StackError.notReady }
    opened = Opened(central)
  }

  /// Opens an adapter as soon as it can be, and keeps it usable.
  package static func kept(
    timers: Timers, open: @escaping @BluetoothActor () async throws -> Opened
  ) -> ManagedAdapter {
    let policy = Policy(isNeededWhileIdle: true, pause: .seconds(1))
    let adapter = ManagedAdapter(policy, timers: timers, open: open)
    adapter.keepOpen()
    return adapter
  }

  /// Keeps an adapter usable that is open.
  package static func kept(_ adapter: any Adapter) -> ManagedAdapter {
    kept(timers: adapter.timers) { Opened(Central(adapter)) }
  }

  /// An adapter without users is released, as if it were closed.
  isolated deinit {
    attempt?.cancel()
    timers.cancel(pause)
    guard let opened else { return }
    BluetoothActor.run { await Self.release(opened) }
  }

  /// Opens it, if it is not open, and sets it up.
  ///
  /// - Throws: why it can't be used, or `BondStoreError`, as devices with a bond are not talked to in clear; it is released then
  @discardableResult
  package func start() async throws -> AdapterInformation {
    let opened: Opened
    if let open = self.opened { opened = open } else { opened = try await open() }
    self.opened = opened
    opened.central.onFailure = { [weak self] error in self?.failed(error) }
    do {
      guard !isClosed, !Task.isCancelled else { throw StackError.cancelled }
      if let security = opened.central.adapter.security { try security.checkBonds() }
      let information = try await opened.central.start()
      isStarted = true
      usable(opened.central)
      return information
    } catch {
      await release()
      throw error
    }
  }

  private func keepOpen() {
    guard attempt == nil, opened == nil, !isClosed else { return }
    attempt = BluetoothActor.run { [weak self] in
      do {
        try await self?.start()
        self?.attempt = nil
      } catch {
        self?.attempt = nil
        self?.couldNotOpen(error)
      }
    }
  }

  private func couldNotOpen(_ error: any Error) {
    guard !isClosed else { return }
    set(State(error), "\(error)")
    tryAgainLater()
  }

  /// Calls `handler` on the loop with each new state.
  package func observe(_ handler: @escaping (State) -> Void) -> Observation {
    let observation = Observation(self, handler)
    observations.removeAll { $0.value == nil }
    observations.append(Observer(value: observation))
    return observation
  }

  private func set(_ state: State, _ obstacle: String? = nil) {
    self.obstacle = obstacle
    guard state != self.state else { return }
    self.state = state
    for observer in observations { observer.value?.handler(state) }
  }

  // MARK: The end

  /// Ends all links and releases the adapter. Cancelling the task does not cancel this. Another call does nothing.
  ///
  /// - Returns: whether the links have ended in time; they end by their supervision timeout otherwise
  @discardableResult
  package func close() async -> Bool {
    guard !isClosed else { return true }
    isClosed = true
    attempt?.cancel()
    timers.cancel(pause)
    observations = []
    waiting.end(with: .failure(.cancelled))
    return await release()
  }

  @discardableResult
  private func release() async -> Bool {
    guard let opened = self.opened.take() else { return true }
    (failure, isStarted) = (nil, false)
    return await Self.release(opened)
  }

  @discardableResult
  private static func release(_ opened: Opened) async -> Bool {
    let central = opened.central
    // The central is stopped in a task of its own, which is not cancelled.
    var isInTime = false
    await BluetoothActor.run {
      isInTime = await central.timers.within(closingTime) { await central.stop() }
    }.value
    opened.finish()
    return isInTime
  }

  // MARK: Recovery

  /// Returns when the adapter can be used: at once, or when it was recovered. Several wait for one recovery.
  ///
  /// - Throws: why it has failed, after `limit`; why waiting does not help, at once; `.cancelled`
  package func untilUsable(within limit: Duration) async throws(StackError) {
    let timers = central?.timers ?? self.timers
    try await awaitCallback(unless: failure == nil) { (done: @escaping (Result<Void, StackError>) -> Void) in
      let failure = self.failure ?? .notReady
      var end: Timers.Token?
      let id = waiting.add { result in
        timers.cancel(end)
        done(result)
      }.id
      end = timers.schedule(after: limit) { [weak self] in self?.leave(id, failure) }
      recoverIfWanted()
      return { self.leave(id, .cancelled) }
    }
  }

  private func leave(_ id: UInt64, _ failure: StackError) {
    waiting.end(id, with: failure)
    if !isWanted { attempt?.cancel() }
  }

  package var isRecovering: Bool { attempt != nil }

  private var isWanted: Bool { policy.isNeededWhileIdle || !waiting.isEmpty }

  private func failed(_ error: StackError) {
    // Before that, ``start()`` throws it.
    guard isStarted else { return }
    failure = error
    set(State(error), "\(error)")
    onFailure?(error)
    recoverIfWanted()
  }

  private func recoverIfWanted() {
    guard failure != nil, isWanted, attempt == nil, !isClosed, let central else { return }
    timers.cancel(pause)
    attempt = BluetoothActor.run { [weak self] in
      do throws(StackError) {
        // For as long as it is wanted.
        try await central.recover(within: .forever)
        self?.recovered(central)
      } catch {
        self?.couldNotRecover(error)
      }
    }
  }

  private func recovered(_ central: Central) {
    attempt = nil
    guard !isClosed else { return }
    usable(central)
    if failure == nil { onFailure?(nil) }
    if failure == nil { waiting.end(with: .success(())) }
  }

  /// It answers; it may have failed again since its last answer.
  private func usable(_ central: Central) {
    failure = nil
    if let error = central.failure { failed(error) } else { set(.poweredOn) }
  }

  private func couldNotRecover(_ error: StackError) {
    attempt = nil
    guard !isClosed else { return }
    // No task waited any more; a later one may.
    guard error != .cancelled else { return recoverIfWanted() }
    set(State(error), "\(error)")
    onFailure?(error)
    waiting.end(with: .failure(error))
    // An ended transport cannot be opened again.
    if error.code == .transportEnded { return }
    if policy.isNeededWhileIdle { tryAgainLater() }
  }

  private func tryAgainLater() {
    guard let time = policy.pause else { return }
    timers.cancel(pause)
    pause = timers.schedule(after: time) { [weak self] in
      guard let self else { return }
      if opened == nil { keepOpen() } else { recoverIfWanted() }
    }
  }
}

/// An error of opening an adapter from which its state follows.
package protocol AdapterStateError: Error {
  var adapterState: ManagedAdapter.State { get }
}

extension StackError: AdapterStateError {
  package var adapterState: ManagedAdapter.State {
    switch code {
    case .noBluetooth, .noSuchAdapter, .noAdapters, .adapterRemoved, .cannotOpen, .lowEnergyNotSupported,
      .transportEnded:
      .unsupported
    case .missingPrivilege: .unauthorized
    case .adapterDown, .radioBlocked: .poweredOff
    default: .resetting
    }
  }
}

extension BondStoreError: AdapterStateError {
  package var adapterState: ManagedAdapter.State { .unauthorized }
}

extension ManagedAdapter.State {
  fileprivate init(_ error: any Error) {
    self = (error as? any AdapterStateError)?.adapterState ?? .resetting
  }
}
