import Glibc
import HaloSystem

/// The files that a command line names, with their uses. Writing a file that is also read or written would destroy it;
/// this is refused before anything is opened for writing.
package struct NamedFiles {
  private struct Use {
    /// As the user knows it: `--record session.btsnoop`.
    var label: String
    var identity: FileIdentity
    var isWritten: Bool
  }

  private var uses: [Use] = []

  /// - Parameter recording: a file that is read besides those of the command line, as an adapter
  package init(_ invocation: Invocation, recording: String?) {
    let command = invocation.command
    for file in invocation.files where file.path != "-" {
      add("\(file.option) \(file.path.printable)", FileIdentity(path: file.path), file.use == .writes)
    }
    let use = command.file
    let isWritten = use == .writes
    let named = use == nil || command.wrapsCommand || isWritten ? 1 : invocation.positionals.count
    for path in invocation.positionals.prefix(named) where use != nil {
      if path == "-", !isWritten {
        add("standard input", FileIdentity(descriptor: STDIN_FILENO), false)
      } else {
        add(path.printable, FileIdentity(path: path), isWritten)
      }
    }
    if let recording { add("the recording \(recording.printable)", FileIdentity(path: recording), false) }
    add("standard output", FileIdentity(descriptor: STDOUT_FILENO), true)
    // `> log 2>&1` is one output.
    let errors = FileIdentity(descriptor: STDERR_FILENO)
    if errors != FileIdentity(descriptor: STDOUT_FILENO) { add("standard error", errors, true) }
  }

  private mutating func add(_ label: String, _ identity: FileIdentity?, _ isWritten: Bool) {
    if let identity { uses.append(Use(label: label, identity: identity, isWritten: isWritten)) }
  }

  /// - Throws: a usage failure that names two uses of one file, one of which writes
  package func check() throws(Failure) {
    for (index, use) in uses.enumerated() {
      for other in uses[..<index] where other.identity == use.identity && (other.isWritten || use.isWritten) {
        throw .usage("\(other.label) and \(use.label) are the same file; name another one")
      }
    }
  }
}
