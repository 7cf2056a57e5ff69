import HCI
import HaloBluetoothCore

/// When a radio that has failed is tried again, and by which steps one is that does not answer. A value without I/O.
///
/// The steps run at most once a minute: a broken radio is reported, not power-cycled forever. In the rest of the minute it
/// is tried by the mildest way, ``RecoverableRadio/reopen(within:)``. A radio that fails again and again is left alone before
/// each try, for a time that doubles until it has worked for a minute.
package struct RecoverySteps: Hashable {
  package enum Step: String, Hashable, CaseIterable {
    /// Pending operations are cancelled: the scan, connections being established.
    case cancel
    /// The links of this program are ended.
    case disconnect
    /// HCI Reset.
    case reset
    /// The controller is switched off and on, or the way to it opened anew. Where the kernel shares the adapter, that
    /// ends the links of all programs.
    case powerCycle = "off and on"
  }

  /// The result of a step.
  package enum Outcome {
    case done(String = "done")
    case leftOut(String)
    case failed(String)
    /// It is impossible, or did not help, and waiting does not help either.
    case unrecoverable(String)
    /// The radio can be used again.
    case recovered(AdapterInformation)

    fileprivate var text: String {
      switch self {
      case .done(let text), .failed(let text), .unrecoverable(let text): text
      case .leftOut(let reason): "left out, as \(reason)"
      case .recovered: "done"
      }
    }
  }

  static let period = Duration.seconds(60)

  private var last: Instant?
  /// Since when the radio works; nil while it does not.
  private var usableSince: Instant?
  /// How often it has failed again within a minute of its recovery.
  private var relapses = 0
  /// The step and its result: `off and on: permission denied`.
  private(set) var report: [String] = []

  /// The radio has failed.
  ///
  /// - Returns: the pause before the next attempt
  mutating func failed(at now: Instant) -> Duration {
    guard let since = usableSince.take() else { return .zero }
    relapses = now - since < Self.period ? relapses + 1 : 0
    return relapses == 0 ? .zero : RetryPause.duration(after: relapses)
  }

  /// It can be used again.
  mutating func recovered(at now: Instant) { usableSince = now }

  /// How long it is until the steps may be tried.
  func rest(at now: Instant) -> Duration { last.map { max(.zero, $0 + Self.period - now) } ?? .zero }

  /// - Returns: whether the steps may be tried now
  mutating func begin(at now: Instant) -> Bool {
    guard rest(at: now) == .zero else { return false }
    last = now
    report = []
    return true
  }

  /// Notes a step.
  ///
  /// - Returns: a description for the user
  mutating func note(_ step: Step, _ outcome: Outcome) -> String {
    report.append("\(step.rawValue): \(outcome.text)")
    return "radio: \(step.rawValue): \(outcome.text)"
  }
}

/// A radio that ``AdapterRecovery`` recovers. It implements the steps.
@BluetoothActor
package protocol RecoverableRadio: AnyObject {
  /// The name shown to the user: `hci0`.
  var name: String { get }

  /// Performs a step.
  ///
  /// - Throws: `StackError.cancelled` if the task is cancelled, otherwise only errors that make further steps pointless
  func perform(_ step: RecoverySteps.Step) async throws(StackError) -> RecoverySteps.Outcome
  /// Sets the radio up by the mildest way, without a power cycle: where it is open, it is reset; where it is closed, it is
  /// opened if it is present and powered on.
  ///
  /// - Returns: nil if it cannot be used yet
  /// - Throws: an error that waiting does not change
  func reopen(within time: Duration) async throws(StackError) -> AdapterInformation?
  /// Waits until the state of the radio may have changed.
  func change() async
}

/// Recovers a radio that has failed. One that does not answer goes through the steps first; one that is gone or off is
/// waited for. A caller that tries again at once repeats nothing at the rate of the failures, as long as it gives a time.
@BluetoothActor
package final class AdapterRecovery {
  /// The timeout for one attempt to open the transport to a controller.
  package static let openingTime = Duration.seconds(10)

  package var onNote: ((String) -> Void)?

  private let timers: Timers
  private var steps = RecoverySteps()

  package init(timers: Timers) {
    self.timers = timers
  }

  /// - Parameters:
  ///   - radio: the radio
  ///   - failure: why it is unusable
  ///   - time: how long to wait for it
  /// - Throws: `failure` after that time; `StackError.cancelled`; an error that describes the steps tried
  package func recover(
    _ radio: some RecoverableRadio, from failure: StackError, within time: Duration
  ) async throws(StackError) -> AdapterInformation {
    let deadline = timers.now + time
    onNote?("\(failure); waiting for \(radio.name)")
    await pause(steps.failed(at: timers.now), until: deadline)
    let rest = steps.rest(at: timers.now)
    if failure.isOfController, rest > .zero {
      onNote?("radio: it is not switched off and on again in the next \(Int(rest.inSeconds.rounded(.up))) s")
    }
    var tries = 0
    while true {
      if Task.isCancelled { throw .cancelled }
      if failure.isOfController, let information = try await runSteps(radio) {
        return back(radio, information)
      }
      let rest = max(deadline - timers.now, .milliseconds(500))
      if let information = try await radio.reopen(within: rest) { return back(radio, information) }
      guard timers.now < deadline else { throw failure }
      await radio.change()
      tries += 1
      if failure.isOfController { await pause(RetryPause.duration(after: tries), until: deadline) }
    }
  }

  private func pause(_ time: Duration, until deadline: Instant) async {
    let time = min(time, deadline - timers.now)
    if time > .zero { await timers.sleep(for: time) }
  }

  private func back(_ radio: some RecoverableRadio, _ information: AdapterInformation) -> AdapterInformation {
    steps.recovered(at: timers.now)
    onNote?("\(radio.name) can be used again")
    return information
  }

  /// - Returns: nil if the radio is to be waited for
  private func runSteps(_ radio: some RecoverableRadio) async throws(StackError) -> AdapterInformation? {
    guard steps.begin(at: timers.now) else { return nil }
    for step in RecoverySteps.Step.allCases {
      if Task.isCancelled { throw .cancelled }
      let outcome = try await radio.perform(step)
      // The step is noted before the call, which does not evaluate its argument without a handler.
      let note = steps.note(step, outcome)
      onNote?(note)
      switch outcome {
      case .recovered(let information): return information
      case .unrecoverable:
        throw StackError("go on with \(radio.name)", .controllerSilent(steps.report))
      case .done, .leftOut, .failed: break
      }
    }
    return nil
  }
}

extension StackError {
  /// Whether the controller has failed, not the transport to it.
  fileprivate var isOfController: Bool {
    code == .commandTimedOut || code == .controllerFailed || code == .stateLost
  }
}
