import GAP
import HaloBluetoothCore

/// Why there is no link, or no data: an error of a ``LinkUser``.
package protocol LinkFailure: Error {
  /// The consequence of the failure for the next try.
  var fault: StackError.Fault { get }

  init(_ error: StackError)

  /// The device was not ready in the time that opening may take.
  static func notReady(within time: Duration) -> Self
}

extension StackError: LinkFailure {
  package init(_ error: StackError) { self = error }

  package static func notReady(within time: Duration) -> StackError {
    StackError(.timedOut, .silence, "the device was not ready within \(Int(time.inSeconds)) s")
  }
}

/// When Service Changed is subscribed to on a new link.
package enum ServiceWatch: Sendable {
  /// Not at all: the user wants one answer.
  case never
  /// Before anything is discovered.
  case first
  /// After the requests that begin a stream: handles that are kept are proved on each link.
  case afterOthers
}

extension GATTLink {
  /// The steps that come before anything is discovered: the MTU is exchanged, and Service Changed subscribed to. Later requests
  /// wait for them. Another call does nothing.
  package func makeUsable() {
    gatt.exchangeMTU { _ in }
    gatt.watchServiceChanges()
  }
}

/// The user of a device over time: how the device is found and connected to, and the steps on a new link.
@BluetoothActor
package protocol LinkUser: AnyObject {
  associatedtype Failure: LinkFailure

  /// Finds the device by its advertising data.
  func find(within time: Duration) async throws(Failure) -> BluetoothAddress
  /// Makes a link to the device, or takes the one that there is.
  func connect(to peer: BluetoothAddress, within time: Duration) async throws(Failure) -> GATTLink
  /// Makes a new link usable, after the steps that each link has.
  func open(_ link: GATTLink) async throws(Failure)
  /// Waits until a lost adapter is back.
  func recoverAdapter(within time: Duration) async throws(Failure)
  /// Uses a link no longer. It returns when the link has ended, unless others use it.
  func release(_ link: GATTLink) async
  /// Carries out a step; an interruption may end it.
  func perform(_ step: @escaping @BluetoothActor () async throws(Failure) -> Void) async throws(Failure)
  /// Whether another attempt is made after a failure.
  var goesOn: Bool { get }
  /// A step, or a request, has failed.
  ///
  /// - Parameters:
  ///   - failure: why
  ///   - phase: which step
  ///   - hasFlowed: whether data have come on this link
  ///   - next: the next action; `.giveUp` for none
  /// - Returns: the error to throw in place of the failure, if there is no next action
  func failed(
    _ failure: Failure, in phase: ReconnectPolicy.Phase, hasFlowed: Bool, next: ReconnectPolicy.Action
  ) -> Failure
}

extension LinkUser {
  package var goesOn: Bool { true }
  package func perform(
    _ step: @escaping @BluetoothActor () async throws(Failure) -> Void
  ) async throws(Failure) { try await step() }
}

/// A device over time, for one user: a link that is made, made usable, and made again when it is lost.
///
/// It carries out the decisions of a `ReconnectPolicy`. Nothing else tries again.
@BluetoothActor
package final class ManagedLink<User: LinkUser> {
  /// Decides on the next action.
  package private(set) var policy: ReconnectPolicy
  /// The link that there is, or the last one.
  package private(set) var link: GATTLink?
  /// The device; nil until it was found.
  package private(set) var peer: BluetoothAddress?

  private let timers: Timers
  private let watch: ServiceWatch
  private var next: ReconnectPolicy.Action?

  /// - Parameters:
  ///   - peer: the address of the device, if it is known
  ///   - canSearch: whether the device can be found by its advertising data, if it is not at its address
  ///   - budget: how long a way to data may take
  ///   - watch: when Service Changed is subscribed to
  ///   - timers: the time of the radio
  package init(
    to peer: BluetoothAddress?, canSearch: Bool, _ budget: ReconnectPolicy.Budget, _ watch: ServiceWatch,
    timers: Timers
  ) {
    self.peer = peer
    self.timers = timers
    self.watch = watch
    policy = ReconnectPolicy(budget, isKnown: peer != nil, canSearch: canSearch)
  }

  // MARK: The way to data

  /// Makes the link usable, if it is not.
  package func open(for user: User) async throws(User.Failure) {
    try await drive(user) { action in
      if case .start = action { true } else { false }
    } start: {
    }
  }

  /// Makes the device send the data, or do the work, that the user is for. If the link is lost during `start`, it is made
  /// again, and `start` runs again.
  package func ask(for user: User, _ start: () async throws(User.Failure) -> Void) async throws(User.Failure)
  {
    if next == .flow { next = policy.ask() }
    try await drive(user, until: { $0 == .flow }, start: start)
  }

  /// Data have come: the next loss has the whole budget.
  package func dataFlow() { policy.dataFlow() }

  /// The link was lost while data flowed.
  ///
  /// - Returns: whether another one is made: call ``ask(for:_:)``
  package func lost(_ loss: LinkLoss) -> Bool {
    let fault: StackError.Fault = if case .adapter(let error) = loss { error.fault } else { .link }
    let action = policy.failed(fault, at: timers.current)
    next = action
    return action != .giveUp
  }

  /// Uses the link no longer.
  package func release(for user: User) async {
    if let link = link.take() { await user.release(link) }
  }

  private func drive(
    _ user: User, until isThere: (ReconnectPolicy.Action) -> Bool,
    start: () async throws(User.Failure) -> Void
  ) async throws(User.Failure) {
    var action = next ?? policy.begin(at: timers.current)
    while !isThere(action) {
      do throws(User.Failure) {
        if case .start = action {
          // It ends in order itself.
          try await start()
        } else {
          let step = action
          try await user.perform { () async throws(User.Failure) in
            try await self.perform(step, for: user)
            if Task.isCancelled { throw User.Failure(.cancelled) }
          }
        }
        action = policy.succeeded(action, at: timers.current)
      } catch {
        action = try await self.action(after: error, for: user)
      }
    }
    next = action
  }

  private func perform(_ action: ReconnectPolicy.Action, for user: User) async throws(User.Failure) {
    switch action {
    case .find(let time): peer = try await user.find(within: time)
    case .connect(let time):
      await release(for: user)
      guard let peer else { throw User.Failure(.notReady) }
      link = try await user.connect(to: peer, within: time)
    case .open(let time): try await open(within: time, for: user)
    case .pause(let time): await timers.sleep(for: time)
    case .recover(let time): try await user.recoverAdapter(within: time)
    case .start, .flow, .giveUp: break
    }
  }

  /// The steps that make a link usable. The parameters of the link were asked for when it was made.
  private func open(within time: Duration, for user: User) async throws(User.Failure) {
    guard let link else { throw User.Failure(.notConnected) }
    let watch = self.watch
    var result: Result<Void, User.Failure>?
    let isInTime = await timers.within(time) {
      do throws(User.Failure) {
        if watch == .first { link.makeUsable() }
        try await user.open(link)
        if watch == .afterOthers { link.gatt.watchServiceChanges(afterOthers: true) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
    }
    if Task.isCancelled { throw User.Failure(.cancelled) }
    guard isInTime, let result else { throw .notReady(within: time) }
    try result.get()
  }

  // MARK: Failures

  private func action(
    after failure: User.Failure, for user: User
  ) async throws(User.Failure) -> ReconnectPolicy.Action {
    let (phase, hasFlowed) = (policy.phase, policy.deadline == nil)
    let action =
      Task.isCancelled || !user.goesOn
      ? .giveUp
      : policy.failed(failure.fault, at: timers.current)
    let said = user.failed(failure, in: phase, hasFlowed: hasFlowed, next: action)
    guard action != .giveUp else {
      // Something else may be asked for on the same link.
      next = link?.isConnected == true && (phase == .start || phase == .flow) ? policy.ask() : nil
      throw said
    }
    if failure.fault != .unready { await release(for: user) }
    return action
  }
}
