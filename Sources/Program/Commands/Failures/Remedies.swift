import Glibc
import HCI
import HaloCommandLine
import HaloLinuxBluetooth

/// What a user can do about an error of an adapter, in the words of this program's commands.
extension AdapterError {
  /// The error, followed by its remedy.
  var messageWithRemedy: String { "cannot \(operation): \(reason.textWithRemedy)" }
}

extension AdapterError.Reason {
  var textWithRemedy: String { description + (remedy.map { "; " + $0 } ?? "") }

  private var remedy: String? {
    switch self {
    case .noBluetooth: "try: sudo modprobe bluetooth"
    case .noSuchAdapter: "halo-raw adapters lists those that exist"
    case .noAdapters: "plug one in"
    case .adapterDown(let index):
      "bring it up with: sudo halo-raw adapters up \(index?.description ?? "hciN")"
    case .adapterUp: "add --take, which brings it down and up again afterwards"
    case .unconfigured: "give it one with: sudo btmgmt --index N public-addr ADDRESS"
    case .radioBlocked: "try: sudo rfkill unblock bluetooth"
    case .missing: Capability.remedy
    default: nil
    }
  }
}

extension Capability {
  /// How to grant the capabilities that this program can use.
  fileprivate static var remedy: String {
    guard let group = PrivilegedProgram.group else {
      let path = PrivilegedProgram.executable ?? "/path/to/halo-raw"
      return "run it with sudo, or once: \(setcapCommand(path))"
    }
    return "run it with sudo, or join the group that may: \(joinCommand(group)), then log in again"
  }

  /// The command that grants a program its capabilities permanently; with the resolved path, as `setcap` does not
  /// follow links.
  static func setcapCommand(_ path: String) -> String {
    "sudo setcap 'cap_net_raw,cap_net_admin+ep' \(shellWord(path))"
  }

  /// The command that lets a user run the installed program with its privileges.
  static func joinCommand(_ group: String) -> String { "sudo usermod -aG \(group) $USER" }
}
