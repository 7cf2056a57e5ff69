import Glibc
import HaloBluetoothCore
import HaloSystem

/// A file in the folder of the queues: a queue, or the rest of a damaged one.
package struct QueueFile: Hashable, Sendable {
  /// The state of the messages in it.
  package enum State: Hashable, Sendable {
    /// - Parameter reason: why the newest message that is set aside was not taken
    case messages(waiting: Int, aside: Int, reason: String?)
    /// A running command uses it.
    case inUse
    /// It can't be read as a queue.
    case damaged
  }

  /// The file.
  package let path: String
  /// The broker and the prefix, as far as the name of the file has them: `broker.home:1883/rings`.
  package let name: String

  /// The end of the names of queues.
  package static let suffix = ".queue"

  /// - Parameters:
  ///   - file: a name in the folder
  ///   - folder: where the queues are
  /// - Returns: nil if it is another file, or one that belongs to a queue
  package init?(_ file: String, in folder: String) {
    guard let end = file.firstRange(of: Self.suffix) else { return nil }
    let rest = file[end.upperBound...]
    guard rest.isEmpty || rest.hasPrefix(MessageQueue.damagedSuffix),
      !CompanionFiles.endings.contains(where: rest.hasSuffix)
    else { return nil }
    path = "\(folder)/\(file)"
    name = Self.decoded(file[..<end.lowerBound]) + (rest.isEmpty ? "" : " (\(rest.dropFirst()))")
  }

  /// Reverses ``BrokerAddress/fileName``; a name that was cut keeps its digits.
  private static func decoded(_ name: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "_"), let value = Hex.bytes(String(Substring(rest.prefix(2)))), value.count == 1
      {
        bytes += value
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private var parts: [String] { ([""] + CompanionFiles.endings).map { path + $0 } }

  /// The number of bytes on disk.
  package var size: Int {
    parts.reduce(0) { sum, part in
      var status = stat()
      return lstat(part, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  private var isQueue: Bool { path.hasSuffix(Self.suffix) }

  /// - Throws: if the file can't be opened
  package func state() throws(QueueError) -> State {
    guard isQueue else { return .damaged }
    do throws(QueueError) {
      let queue = try MessageQueue(path: path)
      return .messages(waiting: queue.count, aside: queue.asideCount, reason: try queue.lastReason())
    } catch {
      if error == .busy { return .inUse }
      if error.isOfContents { return .damaged }
      throw error
    }
  }

  /// Has the messages that are set aside sent again.
  ///
  /// - Throws: `.busy` if a command uses it
  package func retry() throws(QueueError) {
    guard isQueue else { throw .damaged(path) }
    try MessageQueue(path: path).takeBack()
  }

  /// Deletes it.
  ///
  /// - Throws: `.busy` if a command uses it
  package func delete() throws(QueueError) {
    do throws(FileError) {
      let lock = isQueue ? try FileLock.attempt(path + ".lock") : nil
      guard !isQueue || lock != nil else { throw FileError(path, .locked) }
      for part in parts where unlink(part) != 0 && errno != ENOENT { throw FileError(part, .system(errno)) }
      lock?.remove()
    } catch {
      throw error.reason == .locked ? .busy : .file(error)
    }
  }
}
