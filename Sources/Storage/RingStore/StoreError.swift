import HaloSystem

/// Why the store cannot be used.
package enum StoreError: DatabaseFailure, Hashable, Sendable, CustomStringConvertible {
  /// An error of SQLite with this file.
  case database(String, message: String)
  /// The file was written by a newer version of this package.
  case newer(version: Int, known: Int)
  /// This file is not a store: a database of another program, or none.
  case foreign(String)
  /// The file, or its folder, cannot be used.
  case file(FileError)
  /// Another process is writing to it.
  case busy
  /// A value that no ring can report: its column, and the value.
  case impossible(column: String, value: String)

  package var description: String {
    switch self {
    case .database(let path, let message): "the store \(path.printable) failed: \(message)"
    case .newer(let version, let known):
      "the store was written by a newer version of this program (its schema is \(version), this one knows up to \(known)); update this one"
    case .file(let error): "cannot open the store \(error)"
    case .busy: "the store is locked: another program writes to it; try again when that is done"
    case .impossible(let column, let value):
      "the store is damaged: there is a \(column) of \(value); restore a copy, or delete that row"
    case .foreign(let path): "\(path.printable) is not a store of rings; name another file"
    }
  }
}
