/// Why the operating system's adapter can't be used: what failed, and why.
package struct AdapterError: Error, Hashable, Sendable {
  /// Why the adapter can't be used.
  package enum Reason: Hashable, Sendable {
    /// The system has no Bluetooth.
    case noBluetooth
    case noSuchAdapter
    /// There is no adapter.
    case noAdapters
    /// The adapter was removed.
    case adapterRemoved
    case adapterDown(AdapterIndex?)
    /// The kernel has not finished setting the adapter up.
    case settingUp
    /// The controller did not answer when the kernel set it up, which offers the adapter to no program.
    case setUpFailed
    /// The adapter has no address, and the kernel waits for one.
    case unconfigured
    /// Exclusive access requires the adapter to be down.
    case adapterUp
    /// Another program has exclusive access to the adapter.
    case adapterTaken
    /// A switch or rfkill blocks the radio.
    case radioBlocked
    /// The process lacks a privilege: `CAP_NET_ADMIN`.
    case missing(String)
    /// Another program of this machine is already connected to the device.
    case deviceInUse
    /// The device did not answer in time.
    case timedOut
    /// The kernel, or the adapter's driver, did not complete the operation in time.
    case kernelSilent
    /// The controller does not answer; the recovery steps that were tried.
    case controllerSilent([String])
    /// The caller has cancelled the operation.
    case cancelled
    /// The kernel, which has the link, does not offer the operation to programs.
    case notOffered
    /// The device refused the connection.
    case refused
    /// The device or the system ended the connection.
    case connectionEnded
    /// Programs of this machine advertise as much as the adapter can; how much that is.
    case advertisingInUse(Int)
    /// Another program has switched on the one advertisement of an adapter that has no sets.
    case advertisingOverridden
    /// The system's answer can't be decoded.
    case malformedAnswer
    /// Any other error of the system: its number, and its text.
    case system(Int32, String)
  }

  /// The operation that failed: `open hci0`.
  package var operation: String
  package var reason: Reason

  package init(_ operation: String, _ reason: Reason) {
    self.operation = operation
    self.reason = reason
  }

  /// Whether a privilege is missing.
  package var isMissingPrivilege: Bool {
    if case .missing = reason { true } else { false }
  }
}

extension AdapterError: CustomStringConvertible {
  package var description: String { "cannot \(operation): \(reason)" }
}

extension AdapterError.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noBluetooth: "this system has no Bluetooth"
    case .noSuchAdapter: "there is no such adapter"
    case .noAdapters: "there is no Bluetooth adapter"
    case .adapterRemoved: "the adapter was removed; plug it in again"
    case .adapterDown: "the adapter is down"
    case .settingUp: "the kernel is still setting it up; try again in some seconds"
    case .setUpFailed:
      "the controller did not answer when the kernel set it up; unplug it and plug it in again, or, if it is built in, switch the machine off and on"
    case .unconfigured: "the controller has no address, and the kernel waits for one"
    case .adapterUp: "the adapter is up, and exclusive access needs it down"
    case .adapterTaken: "another program has the adapter for itself (user channel); end that program first"
    case .radioBlocked: "the radio is switched off"
    case .missing(let privilege): "\(privilege) is missing"
    case .deviceInUse: "another program of this machine is connected to it already; disconnect it there first"
    case .timedOut: "no answer in time; is it near, charged, and not held by a phone?"
    case .kernelSilent:
      "the kernel has not done it in time; unplug the adapter and plug it in again, or restart the machine"
    case .controllerSilent(let steps):
      "the controller does not answer (\(steps.joined(separator: "; "))); unplug it and plug it in again"
    case .cancelled: "cancelled"
    case .notOffered: "the kernel of this machine does not offer it to programs"
    case .refused: "it refused the connection; is it held by a phone?"
    case .connectionEnded: "the connection was ended before it was established; try again"
    case .advertisingOverridden:
      "another program has switched the adapter's own advertising on (btmgmt, bluetoothd), and this adapter sends one advertisement at a time, which is that; end it with: sudo btmgmt advertising off"
    case .advertisingInUse(let count):
      "there are \(count) advertisements already, the most that the adapter can have; end a program that advertises"
    case .malformedAnswer: "the kernel's answer can't be read"
    case .system(_, let text): text
    }
  }
}
