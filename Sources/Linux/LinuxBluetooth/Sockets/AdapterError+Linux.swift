import HCI
import HaloSystemCalls

extension AdapterError.Reason {
  package static func system(_ error: SystemError) -> Self { .system(error.errno, error.description) }

  /// The management interface has answered with an error.
  static func management(_ status: ManagementStatus) -> Self {
    .system(Int32(status.rawValue), "the kernel's Bluetooth management says: \(status)")
  }

  static func missing(_ capability: Capability) -> Self { .missing(capability.description) }
}
