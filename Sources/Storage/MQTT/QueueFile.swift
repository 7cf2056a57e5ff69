import Glibc
import HaloBluetoothCore
import HaloRingStore
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

/// Stores the messages, and removes those that the broker has. For one thread.
final class QueueKeeper {
  private let exchange: Exchange
  private let report: @Sendable (Publisher.Event) -> Void
  private let path: String
  /// Nil if none could be made in place of a damaged one.
  private var queue: MessageQueue?

  /// In seconds, after an error.
  private static let pause = 5.0

  init(_ exchange: Exchange, _ queue: MessageQueue?, _ report: @escaping @Sendable (Publisher.Event) -> Void)
  {
    self.exchange = exchange
    self.queue = queue
    path = queue?.path ?? ""
    self.report = report
  }

  /// Works until the exchange is stopped.
  func run() {
    while let work = exchange.waitForWork() {
      let (error, progress) = store(work)
      exchange.done(work, progress, kept: queue?.count ?? 0, aside: queue?.asideCount ?? 0)
      guard let error else { continue }
      report(.notStored(error))
      if !exchange.pause(Self.pause) { break }
    }
    try? queue?.compact()
    queue = nil
    exchange.setClosed()
  }

  private func store(_ work: Exchange.Work) -> (QueueError?, Exchange.Progress) {
    var progress = Exchange.Progress()
    do throws(QueueError) {
      try store(work, &progress)
      return (nil, progress)
    } catch {
      guard error.isOfContents || queue == nil else { return (error, progress) }
    }
    // Messages of the damaged queue that were handed out are in memory, and are sent.
    do throws(QueueError) {
      let wasOpen = queue != nil
      queue = nil
      let (new, damaged) = try MessageQueue.openOrReplace(path: path, isDamaged: wasOpen)
      queue = new
      exchange.beginAgain()
      if let damaged { report(.damaged(damaged)) }
      // The messages that were stored a moment ago are in the damaged file.
      progress.isAdded = false
      try store(work, &progress)
      return (nil, progress)
    } catch {
      return (error, progress)
    }
  }

  private func store(_ work: Exchange.Work, _ progress: inout Exchange.Progress) throws(QueueError) {
    guard let queue else { throw .damaged(path) }
    if !progress.isAdded, !work.messages.isEmpty {
      progress.dropped = try queue.add(work.messages)
      if progress.dropped > 0 { report(.dropping) }
    }
    progress.isAdded = true
    if !work.receipts.isEmpty { try queue.remove(work.receipts) }
    progress.isRemoved = true
    if !work.refusals.isEmpty { try queue.setAside(work.refusals) }
    progress.isSetAside = true
    if work.room > 0 { progress.entries = try queue.next(work.room) }
    progress.hasRead = true
  }
}

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
