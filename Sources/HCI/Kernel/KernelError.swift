import BluetoothCore
import EventLoop
import Glibc

/// An error of a kernel operation: what failed, why, and how to fix it.
public struct KernelError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// The kernel has no Bluetooth, or its module is not loaded.
    case noBluetooth
    case noSuchAdapter
    /// There is no adapter.
    case noAdapters
    /// The adapter was removed.
    case adapterRemoved
    case adapterDown(AdapterIndex?)
    /// The user channel requires the adapter to be down.
    case adapterUp
    /// Another program has exclusive access to the adapter, through the user channel.
    case adapterTaken
    /// A switch or rfkill blocks the radio.
    case radioBlocked
    case missing(Capability)
    /// Another socket of this machine is already connected to the device.
    case deviceInUse
    /// The device did not answer in time.
    case timedOut
    /// The kernel, or the adapter's driver, did not complete the operation in time.
    case kernelSilent
    /// The controller does not answer; the recovery steps that were tried.
    case controllerSilent([String])
    /// The caller has cancelled the operation.
    case cancelled
    /// The device refused the connection.
    case refused
    /// The device or the kernel ended the connection.
    case connectionEnded
    /// The management interface answered with an error.
    case management(ManagementStatus)
    /// The kernel's answer can't be decoded.
    case malformedAnswer
    /// Any other error from the kernel.
    case system(SystemError)
  }

  /// The operation that failed: `open hci0`.
  public var operation: String
  public var reason: Reason

  public init(_ operation: String, _ reason: Reason) {
    self.operation = operation
    self.reason = reason
  }

  /// Whether a capability is missing.
  public var isMissingPrivilege: Bool {
    if case .missing = reason { true } else { false }
  }
}

extension KernelError: CustomStringConvertible {
  public var description: String { "cannot \(operation): \(reason)" }
}

extension KernelError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noBluetooth: "this kernel has no Bluetooth; try: sudo modprobe bluetooth, or use --adapter virtual"
    case .noSuchAdapter: "there is no such adapter; halo-raw adapters lists those that exist"
    case .noAdapters: "there is no Bluetooth adapter; plug one in, or use --adapter virtual"
    case .adapterRemoved: "the adapter was removed; plug it in again"
    case .adapterDown(let index):
      "the adapter is down; bring it up with: sudo halo-raw adapters up \(index?.description ?? "hciN")"
    case .adapterUp:
      "the adapter is up, and the user channel wants it down; add --take, which brings it down and up again afterwards"
    case .adapterTaken:
      "another program has the adapter for itself (user channel); end that program first"
    case .radioBlocked: "the radio is switched off; try: sudo rfkill unblock bluetooth"
    case .missing(let capability): "\(capability) is missing; \(capability.remedy)"
    case .deviceInUse:
      "another program of this machine is connected to it already; disconnect it there, bluetoothd included"
    case .timedOut: "no answer in time; is it near, charged, and not held by a phone?"
    case .kernelSilent:
      "the kernel has not done it in time; unplug the adapter and plug it in again, or restart the machine"
    case .controllerSilent(let steps):
      "the controller does not answer (\(steps.joined(separator: "; "))); unplug it and plug it in again"
    case .cancelled: "cancelled"
    case .refused: "it refused the connection; is it held by a phone?"
    case .connectionEnded: "the connection was ended before it was established; try again"
    case .management(let status): "the kernel's Bluetooth management says: \(status)"
    case .malformedAnswer: "the kernel's answer can't be read"
    case .system(let error): error.description
    }
  }
}
