import CBlueZHCI
import Glibc

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
  public var isEffective: Bool { halo_effective_capabilities() >> UInt64(rawValue) & 1 == 1 }

  /// How to grant the capabilities that this program can use.
  public var remedy: String {
    if self == .netAdmin, PrivilegedProgram.isInstalled {
      return "run it with sudo, or install it with: make install NET_ADMIN=1"
    }
    guard let group = PrivilegedProgram.group else {
      return "run it with sudo, or once: \(Self.setcapCommand(Self.executablePath))"
    }
    return "run it with sudo, or join the group that may: \(Self.joinCommand(group)), then log in again"
  }

  /// The command that grants a program its capabilities permanently; with the resolved path, as `setcap` does not
  /// follow links.
  public static func setcapCommand(_ path: String) -> String {
    "sudo setcap 'cap_net_raw,cap_net_admin+ep' \(path)"
  }

  /// The command that lets a user run the installed program with its privileges.
  public static func joinCommand(_ group: String) -> String { "sudo usermod -aG \(group) $USER" }

  private static var executablePath: String {
    guard let path = realpath("/proc/self/exe", nil) else { return "/path/to/halo-raw" }
    defer { free(path) }
    return String(cString: path)
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
