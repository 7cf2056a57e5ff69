import Glibc
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloLinuxBluetooth

/// A user's remedies for an error of an adapter, in the words of this program's commands.
extension StackError {
  /// The error, followed by its remedy.
  var messageWithRemedy: String { adding(remedy, to: description) }
  /// The reason alone, followed by its remedy.
  var reasonWithRemedy: String { adding(remedy, to: reason) }

  private func adding(_ remedy: String?, to text: String) -> String {
    remedy.map { "\(text); \($0)" } ?? text
  }

  private var remedy: String? {
    switch code {
    case .noBluetooth: "try: sudo modprobe bluetooth"
    case .noSuchAdapter: "halo-raw adapters lists those that exist"
    case .noAdapters: "plug one in; see halo-raw help troubleshooting"
    case .adapterDown: "bring it up with: sudo halo-raw adapters up \(adapter?.description ?? "hciN")"
    case .adapterUp: "add --take, which brings it down and up again afterwards"
    case .unconfigured: "give it one with: sudo btmgmt --index N public-addr ADDRESS"
    case .radioBlocked: "try: sudo rfkill unblock bluetooth"
    case .missingPrivilege: Capability.remedy
    default: nil
    }
  }

  private var adapter: AdapterIndex? {
    if case .adapter(let index) = cause { AdapterIndex(rawValue: index) } else { nil }
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
