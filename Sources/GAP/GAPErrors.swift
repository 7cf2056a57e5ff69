import HaloBluetoothCore

/// Why an adapter can't do something, or can't be used.
extension StackError {
  /// The system, which has the link, does not offer the operation to programs.
  package static let notOffered = StackError(
    .notOffered, .final, "the kernel of this machine does not offer it to programs")

  /// The system gives a device to one program at a time.
  package static let deviceInUse = StackError(
    .deviceInUse, .final,
    "another program of this machine is connected to it already; disconnect it there first")

  /// The controller does not answer; the recovery steps that were tried.
  package static func controllerSilent(_ steps: [String]) -> StackError {
    StackError(
      .controllerSilent, .final,
      "the controller does not answer (\(steps.joined(separator: "; "))); unplug it and plug it in again")
  }
}
