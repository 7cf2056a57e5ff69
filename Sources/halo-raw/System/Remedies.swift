import Capture
import Glibc
import HCI
import LinuxBluetooth

/// What a user can do about an error of an adapter, in the words of this program's commands.
extension AdapterError {
  /// The error, followed by its remedy.
  var messageWithRemedy: String { "cannot \(operation): \(reason.textWithRemedy)" }
}

extension CaptureError {
  /// The error, followed by its remedy.
  var messageWithRemedy: String {
    switch reason {
    case .compressed(let format):
      "\(self); save it as a file and name that, or decompress it: \(format.reader) FILE | halo-raw decode -"
    case .noArchiveLibrary(let format):
      "\(self); sudo apt install libarchive13, or decompress it: \(format.reader) \(path ?? "FILE") > CAPTURE"
    case .holdsNoCapture:
      "\(self); a phone's report has one if the HCI snoop log was switched on before Bluetooth was"
    case .replaced: "\(self); start again to read it from its beginning"
    default: description
    }
  }
}

extension AdapterError.Reason {
  var textWithRemedy: String { description + (remedy.map { "; " + $0 } ?? "") }

  private var remedy: String? {
    switch self {
    case .noBluetooth: "try: sudo modprobe bluetooth, or use --adapter virtual"
    case .noSuchAdapter: "halo-raw adapters lists those that exist"
    case .noAdapters: "plug one in, or use --adapter virtual"
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
    "sudo setcap 'cap_net_raw,cap_net_admin+ep' \(path)"
  }

  /// The command that lets a user run the installed program with its privileges.
  static func joinCommand(_ group: String) -> String { "sudo usermod -aG \(group) $USER" }
}
