import HaloBluetoothCore

/// Why an adapter can't do something, or can't be used.
extension StackError {
  /// The system, which has the link, does not offer the operation to programs.
  package static let notOffered = StackError(
    .notOffered, .final, "the kernel of this machine does not offer it to programs")

  /// A device with private addresses is to be called by its own, which only its controller could find out.
  static func addressUnknown(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .featureNotSupported, .final,
      "its address changes, and the controller does not know it at others; advertise for all devices instead",
      operation: "cannot call \(peer)")
  }

  /// The kernel chooses the address of an adapter that it drives.
  package static func kernelOwnsAddress(_ adapter: String) -> StackError {
    StackError(
      .notOffered, .final,
      "the kernel chooses the address of \(adapter); drive the adapter from here, as user:\(adapter), or have bluetoothd turn it on: Privacy = device in /etc/bluetooth/main.conf",
      operation: "cannot use private addresses")
  }

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
