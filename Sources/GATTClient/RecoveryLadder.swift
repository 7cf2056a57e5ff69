import BluetoothCore
import HCI

/// What is done to a radio that does not answer, one step after the other. It is climbed once a minute at most: a radio
/// that is broken is reported, not switched off and on for ever.
struct RecoveryLadder: Hashable {
  enum Step: String, Hashable, CaseIterable {
    /// What is open is given up: the scan, connections that are being made.
    case cancel
    /// Our links are ended.
    case disconnect
    /// HCI Reset. On an adapter that the kernel drives it is left out: the kernel would not know of it.
    case reset
    /// The adapter is switched off and on by the kernel. That ends the links of all programs.
    case powerCycle = "off and on"
  }

  static let period = Duration.seconds(60)

  private var last: Instant?
  /// What was done, and what came of it: `off and on: permission denied`.
  private(set) var report: [String] = []

  /// - Returns: whether it may be climbed now
  mutating func begin(at now: Instant) -> Bool {
    if let last, now - last < Self.period { return false }
    last = now
    report = []
    return true
  }

  /// Notes a step.
  ///
  /// - Returns: what a person reads of it
  mutating func note(_ step: Step, _ outcome: String) -> String {
    report.append("\(step.rawValue): \(outcome)")
    return "radio: \(step.rawValue): \(outcome)"
  }
}
