/// Why the store can't be used.
public enum StoreError: Error, Hashable, Sendable {
  /// SQLite says no.
  case database(doing: String, message: String)
  /// The file was written by a newer version of this package.
  case newer(version: Int, known: Int)
  /// It is a database, of something else.
  case foreign
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .database(let doing, let message): "the store failed (\(doing)): \(message)"
    case .newer(let version, let known):
      "the store was written by a newer halo-raw (its schema is \(version), this one knows up to \(known)); update this one"
    case .foreign: "the file is an SQLite database, but none of halo-raw; name another file"
    }
  }
}
