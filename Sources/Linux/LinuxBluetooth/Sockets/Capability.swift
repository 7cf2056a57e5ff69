import HaloSystem

/// A Linux capability, capabilities(7).
package struct Capability: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The bit number.
  package var rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Required to open the user channel, to switch adapters on and off, and to set the parameters of new links.
  package static let netAdmin = Capability(rawValue: 12)
  /// Required to send HCI commands, and to capture all traffic.
  package static let netRaw = Capability(rawValue: 13)

  /// Whether the capability is effective for this thread.
  package var isEffective: Bool {
    Linux.hasCapability(rawValue) != 0
  }

  package var description: String {
    switch self {
    case .netAdmin: "CAP_NET_ADMIN"
    case .netRaw: "CAP_NET_RAW"
    default: "capability \(rawValue)"
    }
  }
}
