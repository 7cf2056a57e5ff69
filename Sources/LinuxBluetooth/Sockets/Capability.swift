import CLinux

/// A Linux capability, capabilities(7).
public struct Capability: RawRepresentable, Hashable, Sendable {
  /// The bit number.
  public var rawValue: Int32

  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Required to open the user channel, to switch adapters on and off, and to set the parameters of new links.
  public static let netAdmin = Capability(rawValue: CAP_NET_ADMIN)
  /// Required to send HCI commands, and to capture all traffic.
  public static let netRaw = Capability(rawValue: CAP_NET_RAW)

  /// Whether the capability is effective for this thread.
  public var isEffective: Bool {
    var capabilities = halo_capabilities()
    return halo_capabilities_get(&capabilities) == 0 && capabilities.effective >> UInt64(rawValue) & 1 == 1
  }
}

extension Capability: CustomStringConvertible {
  public var description: String {
    switch self {
    case .netAdmin: "CAP_NET_ADMIN"
    case .netRaw: "CAP_NET_RAW"
    default: "capability \(rawValue)"
    }
  }
}
