import BluetoothCore
import EventLoop
import Glibc

/// Why the kernel did not do what was asked of it: what failed, why, and what to do about it.
public struct KernelError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// The kernel has no Bluetooth, or its module is not loaded.
    case noBluetooth
    case noSuchAdapter
    /// There is no adapter at all.
    case noAdapters
    /// The adapter was there and is not any more.
    case adapterRemoved
    case adapterDown(AdapterIndex?)
    /// The user channel wants the adapter down.
    case adapterUp
    /// Another program has the adapter for itself, through the user channel.
    case adapterTaken
    /// A switch, or rfkill, keeps the radio off.
    case radioBlocked
    case missing(Capability)
    /// Another socket of this machine is connected to the device already.
    case deviceInUse
    /// The device, or its owner, did not answer in time.
    case timedOut
    /// The kernel, or the adapter's driver, has not done it in time.
    case kernelSilent
    /// The controller does not answer; what was done about it, step by step.
    case controllerSilent([String])
    /// The caller waits no longer.
    case cancelled
    /// The device refused.
    case refused
    /// The device or the kernel ended the connection.
    case connectionEnded
    /// The management interface answered with an error.
    case management(ManagementStatus)
    /// The kernel's answer can't be read.
    case malformedAnswer
    /// Anything else, as the kernel put it.
    case system(SystemError)
  }

  /// What was to be done: `open hci0`.
  public var operation: String
  public var reason: Reason

  public init(_ operation: String, _ reason: Reason) {
    self.operation = operation
    self.reason = reason
  }

  /// Whether a privilege is missing.
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
    case .missing(let capability): "\(capability) is missing; \(Capability.remedy)"
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
