import HCI
import HaloBluetoothCore
import HaloSystem

/// Why the kernel's adapter can't be used. An error names its operation, too: `StackError("open hci0", .radioBlocked)`.
extension StackError {
  package static let noBluetooth = StackError(.noBluetooth, .final, "this system has no Bluetooth")
  package static let noSuchAdapter = StackError(.noSuchAdapter, .controller, "there is no such adapter")
  package static let noAdapters = StackError(.noAdapters, .final, "there is no Bluetooth adapter")
  package static let adapterRemoved = StackError(
    .adapterRemoved, .controller, "the adapter was removed; plug it in again")

  package static func adapterDown(_ index: AdapterIndex?) -> StackError {
    StackError(
      .adapterDown, .controller, "the adapter is down", cause: index.map { .adapter($0.rawValue) })
  }

  /// The kernel has not finished setting the adapter up.
  package static let settingUp = StackError(
    .settingUp, .controller, "the kernel is still setting it up; try again in some seconds")

  /// The controller did not answer when the kernel set it up, which offers the adapter to no program.
  package static let setUpFailed = StackError(
    .setUpFailed, .controller,
    "the controller did not answer when the kernel set it up; unplug it and plug it in again, or, if it is built in, switch the machine off and on"
  )

  package static let unconfigured = StackError(
    .unconfigured, .final, "the controller has no address, and the kernel waits for one")

  /// Exclusive access requires the adapter to be down.
  package static let adapterUp = StackError(
    .adapterUp, .final, "the adapter is up, and exclusive access needs it down")

  package static let adapterTaken = StackError(
    .adapterTaken, .controller,
    "another program has the adapter for itself (user channel); end that program first")

  /// A switch or rfkill blocks the radio.
  package static let radioBlocked = StackError(.radioBlocked, .controller, "the radio is switched off")

  package static func missing(_ capability: Capability) -> StackError {
    StackError(.missingPrivilege, .final, "\(capability) is missing")
  }

  package static let noAnswer = StackError(
    .noAnswer, .absence, "no answer in time; is it near, charged, and not held by a phone?")

  /// The kernel, or the adapter's driver, did not complete the operation in time.
  package static let kernelSilent = StackError(
    .kernelSilent, .controller,
    "the kernel has not done it in time; unplug the adapter and plug it in again, or restart the machine")

  /// The device refused the connection.
  package static let connectionRefused = StackError(
    .connectionRefused, .link, "it refused the connection; is it held by a phone?")

  /// The device or the system ended the connection.
  package static let connectionEnded = StackError(
    .connectionEnded, .link, "the connection was ended before it was established; try again")

  /// Another program has switched on the one advertisement of an adapter that has no sets.
  package static let advertisingOverridden = StackError(
    .advertisingInUse, .refusal,
    "another program has switched the adapter's own advertising on (btmgmt, bluetoothd), and this adapter sends one advertisement at a time, which is that; end it with: sudo btmgmt advertising off"
  )

  package static let malformedAnswer = StackError(
    .malformedAnswer, .controller, "the kernel's answer can't be read")

  package static func system(_ error: SystemError) -> StackError {
    StackError(.system, .refusal, error.description, cause: .system(error.errno))
  }

  /// The management interface has answered with an error.
  static func management(_ status: ManagementStatus) -> StackError {
    StackError(
      .system, .refusal, "the kernel's Bluetooth management says: \(status)",
      cause: .system(Int32(status.rawValue)))
  }
}
