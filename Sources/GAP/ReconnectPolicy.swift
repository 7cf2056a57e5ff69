import HCI
import HaloBluetoothCore

/// Decides how a link is made, and made again, until data flow. A value without I/O; events and their times go in, and the next
/// action comes out.
///
/// The way to data has phases. Each has a deadline, and the way as a whole has a ``Budget``, which begins anew when data have
/// flowed. A failure in any phase leads back to the phase that can repair it: see `StackError.Fault`. A failure passes time,
/// as it is followed by a pause, or ends the way: only the first one after data have flowed is followed by another action at
/// once.
///
/// ```
/// find -> connect -> open -> start -> flow
///   ^        ^         |       |  ^     |
///   |        +---------+-------+--+-----+   the link is lost, or silent
///   +-- not heard twice        +- - - - +   the peer is not ready, or sends nothing
/// ```
package struct ReconnectPolicy: Sendable {
  /// A part of the way to data.
  package enum Phase: Hashable, Sendable {
    /// Finding the peer among those that advertise.
    case find
    /// Connecting to its address.
    case connect
    /// The procedures that make the link usable: MTU, discovery, subscriptions.
    case open
    /// Asking for data, on a link that is open.
    case start
    /// Data flow, or are about to.
    case flow
  }

  /// How long the way to data may take.
  package struct Budget: Hashable, Sendable {
    /// Until data flow for the first time.
    package var first: Duration
    /// Until they flow again; zero to make no second link.
    package var later: Duration
    /// Whether a peer that is not ready is also waited for the first time.
    package var waitsUntilReady: Bool
    /// How long a link on which data may be rare has to last to count as data; nil if only data count.
    package var steadyTime: Duration?
    /// The longest pause after a failure.
    package var longestPause: Duration

    package init(
      first: Duration, later: Duration, waitsUntilReady: Bool = false, steadyTime: Duration? = nil,
      longestPause: Duration = .seconds(30)
    ) {
      self.first = first
      self.later = later
      self.waitsUntilReady = waitsUntilReady
      self.steadyTime = steadyTime
      self.longestPause = longestPause
    }
  }

  /// The next action. Its result is given to `succeeded(_:at:)` or `failed(_:at:)`.
  package enum Action: Hashable, Sendable {
    case find(within: Duration)
    case connect(within: Duration)
    case open(within: Duration)
    case start
    /// Data are expected: ``dataFlow()`` reports them.
    case flow
    case pause(Duration)
    /// The controller is made usable again, by the steps of `RecoverySteps`.
    case recover(within: Duration)
    /// The way is at its end: the last failure is the cause.
    case giveUp
  }

  private(set) package var phase: Phase
  /// The end of the current way to data; nil while data flow.
  private(set) package var deadline: Instant?

  private let budget: Budget
  /// Whether the peer can be found again by its advertising data.
  private let canSearch: Bool
  private var hasFlowed = false
  /// Failures since data have flowed.
  private var failures = 0
  /// How often in a row the peer was not found at its address.
  private var missCount = 0
  /// How often in a row the controller refused a command.
  private var refusals = 0
  /// Whether the controller has to be recovered before anything else.
  private var needsRecovery = false
  /// When a failure was last followed by an action without a pause.
  private var repeatedAtOnce: Instant?
  /// Since when the link is open.
  private var openSince: Instant?

  /// How long each phase may take.
  private static let longestSearch = Duration.seconds(30)
  private static let longestConnecting = Duration.seconds(10)
  private static let longestOpening = Duration.seconds(45)
  /// A link that has just been made is used, even if the budget ends now.
  private static let shortestOpening = Duration.seconds(5)
  private static let shortestAttempt = Duration.milliseconds(500)
  /// The number of missCount after which the peer may have another address. Before data have flowed, one is enough: there is no
  /// sign that the peer was in range a moment ago.
  private var missesUntilSearch: Int { hasFlowed ? 2 : 1 }
  /// A controller that refuses as often in a row is reset.
  private static let refusalsUntilReset = 3

  /// - Parameters:
  ///   - budget: how long it may take
  ///   - isKnown: whether the peer's address is known, so that the first link needs no search
  ///   - canSearch: whether the peer can be found by its advertising data, if it is not at its address
  package init(_ budget: Budget, isKnown: Bool, canSearch: Bool) {
    self.budget = budget
    self.canSearch = canSearch
    phase = isKnown ? .connect : .find
  }

  /// The first action.
  package mutating func begin(at now: Instant) -> Action {
    deadline = now + budget.first
    return action(at: now)
  }

  /// The last action has succeeded.
  package mutating func succeeded(_ last: Action, at now: Instant) -> Action {
    switch last {
    case .find:
      missCount = 0
      phase = .connect
    case .connect:
      missCount = 0
      refusals = 0
      phase = .open
    case .open:
      phase = .start
      openSince = now
    case .start: phase = .flow
    case .recover: needsRecovery = false
    case .pause, .flow, .giveUp: break
    }
    return action(at: now)
  }

  /// Data are asked for again on the link that there is.
  package mutating func ask() -> Action {
    phase = .start
    return .start
  }

  /// Data have come: the next failure has the whole budget.
  package mutating func dataFlow() {
    hasFlowed = true
    deadline = nil
    failures = 0
  }

  /// The last action, or the flow of data, has failed.
  ///
  /// - Parameters:
  ///   - fault: the consequence of the failure for the link
  ///   - now: the time
  package mutating func failed(_ fault: StackError.Fault, at now: Instant) -> Action {
    if let steady = budget.steadyTime, let openSince, now - openSince >= steady { dataFlow() }
    openSince = nil
    let deadline = self.deadline ?? now + (hasFlowed ? budget.later : budget.first)
    self.deadline = deadline
    guard isRepeated(fault), now < deadline else { return .giveUp }
    failures += 1
    let isFirst = failures == 1 && (phase == .flow || phase == .start && hasFlowed)
    regress(after: fault)
    if fault == .controller || refusals >= Self.refusalsUntilReset {
      refusals = 0
      needsRecovery = true
    }
    if isFirst && fault != .unready || failures == 1 && needsRecovery, mayRepeatAtOnce(at: now) {
      return action(at: now)
    }
    let pause = RetryPause.duration(after: failures, longest: budget.longestPause)
    guard now + pause < deadline else { return .giveUp }
    return .pause(pause)
  }

  /// Data that have flowed for a moment make the next failure a first one: that is no reason to repeat at the rate of these
  /// failures.
  private mutating func mayRepeatAtOnce(at now: Instant) -> Bool {
    if let last = repeatedAtOnce, now - last < RetryPause.duration(after: 1) { return false }
    repeatedAtOnce = now
    return true
  }

  private func isRepeated(_ fault: StackError.Fault) -> Bool {
    switch fault {
    case .final: false
    case .unready: hasFlowed || budget.waitsUntilReady
    default: true
    }
  }

  /// Sets the phase that can repair a fault.
  private mutating func regress(after fault: StackError.Fault) {
    refusals = fault == .refusal ? refusals + 1 : 0
    if fault == .absence { missCount += 1 }
    switch (fault, phase) {
    case (.unready, _): phase = .start
    case (_, .find): break
    case (.absence, _) where canSearch && missCount >= missesUntilSearch: phase = .find
    default: phase = .connect
    }
  }

  private func action(at now: Instant) -> Action {
    let rest = max(Self.shortestAttempt, (deadline ?? now) - now)
    if needsRecovery { return .recover(within: rest) }
    return switch phase {
    case .find: .find(within: hasFlowed ? min(rest, Self.longestSearch) : rest)
    case .connect: .connect(within: min(rest, Self.longestConnecting))
    case .open: .open(within: min(max(rest, Self.shortestOpening), Self.longestOpening))
    case .start: .start
    case .flow: .flow
    }
  }
}
