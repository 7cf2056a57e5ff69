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
