import Files

/// Why the store cannot be used.
public enum StoreError: Error, Hashable, Sendable {
  /// An error of SQLite.
  case database(doing: String, message: String)
  /// The file was written by a newer version of this package.
  case newer(version: Int, known: Int)
  /// It is a database of another program.
  case foreign
  /// The file, or its folder, cannot be used.
  case file(FileError)
  /// Another process is writing to it.
  case busy
  /// A value that no ring can report: its column, and the value.
  case impossible(column: String, value: String)
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .database(let doing, let message): "the store failed (\(doing)): \(message)"
    case .newer(let version, let known):
      "the store was written by a newer version of this program (its schema is \(version), this one knows up to \(known)); update this one"
    case .file(let error): "cannot open the store \(error)"
    case .busy: "the store is locked: another program writes to it; try again when that is done"
    case .impossible(let column, let value):
      "the store is damaged: there is a \(column) of \(value); restore a copy, or delete that row"
    case .foreign: "the file is an SQLite database, but not a store of rings; name another file"
    }
  }
}
