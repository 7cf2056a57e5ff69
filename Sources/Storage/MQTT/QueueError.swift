import HaloSystem
import HaloRingStore

/// Why messages cannot be kept on disk.
package enum QueueError: DatabaseFailure, Hashable, CustomStringConvertible {
  case database(String, message: String)
  case foreign(String)
  case file(FileError)
  /// Another process uses the queue.
  case busy
  case impossible(column: String, value: String)
  /// The file has pages that SQLite can't read.
  case damaged(String)

  package var description: String {
    switch self {
    case .database(let path, let message): "the queue \(path.printable) failed: \(message)"
    case .foreign(let path): "\(path.printable) is not a queue of halo-raw; remove it"
    case .file(let error): "cannot open the queue \(error)"
    case .busy:
      "another halo-raw sends to this broker with this prefix; end it, or use another prefix"
    case .damaged(let path): "the queue \(path.printable) is damaged"
    case .impossible(let column, let value): "the queue is damaged: there is a \(column) of \(value)"
    }
  }

  /// Whether another file has to take its place.
  var isOfContents: Bool {
    switch self {
    case .damaged, .foreign, .impossible: true
    case .database, .file, .busy: false
    }
  }

  package static func damaged(_ path: String, message: String) -> QueueError { .damaged(path) }
}
