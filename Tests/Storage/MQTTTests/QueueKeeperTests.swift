import Glibc
import HaloSystem
import TestSupport
import Testing

@testable import HaloMQTT

@Suite struct QueueKeeperTests {
  private let file: TemporaryQueue

  init() throws { file = try TemporaryQueue() }

  /// The disk damages a queue that a program has open: what it adds from then on goes to a new one.
  @Test func aQueueThatIsDamagedWhileItIsOpenIsReplaced() throws {
    // More than SQLite keeps in memory, so that it reads the first pages again.
    let text = String(repeating: "x", count: 1400)
    do {
      let queue = try MessageQueue(path: file.path)
      for _ in 0..<40 { _ = try queue.add((0..<100).map { _ in Message(topic: "old", text: text) }) }
    }
    let exchange = Exchange(kept: 4000, aside: 0)
    let events = LockedValue<[Publisher.Event]>([])
    // Nothing else holds the queue, and with it its lock.
    let keeper = QueueKeeper(exchange, try MessageQueue(path: file.path)) { event in
      events.withLock { $0.append(event) }
    }
    let descriptor = open(file.path, O_WRONLY)
    let size = lseek(descriptor, 0, SEEK_END)
    let damage = [UInt8](repeating: 0xA5, count: 4096)
    for page in 8..<Int(size) / 4096 { _ = pwrite(descriptor, damage, damage.count, off_t(page * 4096)) }
    close(descriptor)

    exchange.setConnected(true)
    exchange.add(Message(topic: "new", text: "1"))
    nonisolated(unsafe) let work = { keeper.run() }
    #expect(HelperThread.start(stackSize: 1 << 20) { work() } == 0)
    var sent: [String] = []
    while !sent.contains("new"), events.withLock({ $0.count < 2 }) {
      var ready = pollfd(fd: exchange.signal, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, 30_000) > 0 else { break }
      var count: UInt64 = 0
      _ = read(exchange.signal, &count, 8)
      for entry in exchange.take().entries {
        sent.append(entry.message.topic)
        exchange.acknowledge(entry.message, MessageQueue.Receipt(entry))
      }
    }
    #expect(sent.contains("new"))
    #expect(events.withLock(\.self) == [.damaged(file.path + ".damaged")])
    exchange.stop()
    _ = exchange.waitForClose(30)
  }
}
