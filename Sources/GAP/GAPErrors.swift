import HaloBluetoothCore

/// Why an adapter can't do something, or can't be used.
extension StackError {
  /// The system, which has the link, does not offer the operation to programs.
  package static let notOffered = StackError(
    .notOffered, .final, "the kernel of this machine does not offer it to programs")

  /// The controller does not answer; the recovery steps that were tried.
  package static func controllerSilent(_ steps: [String]) -> StackError {
    StackError(
      .controllerSilent, .final,
      "the controller does not answer (\(steps.joined(separator: "; "))); unplug it and plug it in again")
  }
}
