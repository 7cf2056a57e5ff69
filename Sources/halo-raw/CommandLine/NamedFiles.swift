import BluetoothCore
import Files
import Glibc

/// The files that a command line names, as they are read and written. To write a file that is read, or to write one twice,
/// destroys it: that is refused before anything is opened for writing.
struct NamedFiles {
  private struct Use {
    /// As the user knows it: `--record session.btsnoop`.
    var label: String
    var identity: FileIdentity
    var isWritten: Bool
  }

  private var uses: [Use] = []

  /// Which option names a file, and whether that is written. What --store names is both.
  private static let options = [
    ("--record", true), ("--html", true), ("--export", true), ("--store", true), ("--import", false),
  ]

  init(_ invocation: Invocation, of command: CommandSpec) {
    for (option, isWritten) in Self.options {
      if let path = invocation.text(option), path != "-" {
        add("\(option) \(path.printable)", FileIdentity(path: path), isWritten)
      }
    }
    if let path = invocation.positionals.first, ["decode", "replay", "record"].contains(command.name) {
      let isWritten = command.name == "record"
      if path == "-", !isWritten {
        add("standard input", FileIdentity(descriptor: STDIN_FILENO), false)
      } else {
        add(path.printable, FileIdentity(path: path), isWritten)
      }
    }
    if command.usesAdapter, let text = invocation.adapterText,
      case .replay(let path, _)? = try? AdapterSpec(text)
    {
      add("the recording \(path.printable)", FileIdentity(path: path), false)
    }
    add("standard output", FileIdentity(descriptor: STDOUT_FILENO), true)
    // `> log 2>&1` is one output, and no mistake.
    let errors = FileIdentity(descriptor: STDERR_FILENO)
    if errors != FileIdentity(descriptor: STDOUT_FILENO) { add("standard error", errors, true) }
  }

  private mutating func add(_ label: String, _ identity: FileIdentity?, _ isWritten: Bool) {
    if let identity { uses.append(Use(label: label, identity: identity, isWritten: isWritten)) }
  }

  /// - Throws: a usage failure that names two uses of one file, one of which writes
  func check() throws(Failure) {
    for (index, use) in uses.enumerated() {
      for other in uses[..<index] where other.identity == use.identity && (other.isWritten || use.isWritten) {
        throw .usage("\(other.label) and \(use.label) are the same file; name another one")
      }
    }
  }
}
