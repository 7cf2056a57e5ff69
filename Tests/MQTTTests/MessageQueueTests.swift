import Glibc
import MQTT
import TestSupport
import Testing

@Suite struct MessageQueueTests {
  private let file: TemporaryQueue

  init() throws { file = try TemporaryQueue() }

  private func messages(_ numbers: Range<Int>) -> [Message] {
    numbers.map { Message(topic: "a/\($0)", text: "payload \($0)", isRetained: $0 % 2 == 1) }
  }

  @Test func messagesComeInOrderOnceEach() throws {
    let queue = try MessageQueue(path: file.path)
    #expect(try queue.add(messages(0..<5)) == 0)
    #expect(queue.count == 5)
    #expect(try queue.next(3).map(\.message) == messages(0..<3))
    #expect(try queue.add(messages(5..<7)) == 0)
    #expect(try queue.next(10).map(\.message) == messages(3..<7))
    #expect(try queue.next(10).isEmpty)
    // None was removed.
    #expect(queue.count == 7)
  }

  @Test func onlyWhatIsRemovedIsGoneAfterARestart() throws {
    var client = ""
    do {
      let queue = try MessageQueue(path: file.path)
      client = queue.client
      _ = try queue.add(messages(0..<6))
      let entries = try queue.next(4)
      try queue.remove([entries[0], entries[2]].map { MessageQueue.Receipt($0) })
      // Twice is once.
      try queue.remove([MessageQueue.Receipt(entries[0])])
      #expect(queue.count == 4)
    }
    let queue = try MessageQueue(path: file.path)
    #expect(queue.client == client)
    #expect(queue.count == 4)
    let all = messages(0..<6)
    #expect(try queue.next(10).map(\.message) == [all[1], all[3], all[4], all[5]])
  }

  @Test func numbersAreNotUsedAgain() throws {
    var first: [MessageQueue.Entry] = []
    do {
      let queue = try MessageQueue(path: file.path)
      _ = try queue.add(messages(0..<3))
      first = try queue.next(3)
      try queue.remove(first.map { MessageQueue.Receipt($0) })
      try queue.compact()
    }
    let queue = try MessageQueue(path: file.path)
    _ = try queue.add(messages(3..<4))
    let next = try queue.next(1)
    #expect(next.count == 1)
    #expect(next.allSatisfy { entry in !first.contains { $0.id == entry.id } })
  }

  @Test func theOldestAreDroppedBeyondTheLimit() throws {
    let size = "payload 0".utf8.count
    let queue = try MessageQueue(path: file.path, limit: 5 * size)
    #expect(try queue.add(messages(0..<5)) == 0)
    #expect(try queue.add(messages(5..<7)) == 2)
    #expect(queue.count == 5)
    #expect(try queue.next(10).map(\.message) == messages(2..<7))
    // One that was handed out and dropped is acknowledged all the same.
    #expect(try queue.add(messages(7..<8)) == 1)
    #expect(queue.count == 5)
  }

  @Test func aMessageThatWasDroppedCanBeAcknowledged() throws {
    let queue = try MessageQueue(path: file.path, limit: 20)
    _ = try queue.add(messages(0..<2))
    let entries = try queue.next(2)
    #expect(try queue.add(messages(2..<3)) == 1)
    try queue.remove(entries.map { MessageQueue.Receipt($0) })
    #expect(queue.count == 1)
    // The bytes are counted right: two fit again, a third does not.
    #expect(try queue.add(messages(3..<4)) == 0)
    #expect(try queue.add(messages(4..<5)) == 1)
  }

  @Test func oneProcessAtATimeUsesAQueue() throws {
    let queue = try MessageQueue(path: file.path)
    #expect(throws: QueueError.busy) { try MessageQueue(path: file.path) }
    withExtendedLifetime(queue) {}
  }

  @Test func aQueueIsForItsOwnerOnly() throws {
    let queue = try MessageQueue(path: file.path)
    _ = try queue.add(messages(0..<1))
    let names = Disk.names(in: file.folder)
    #expect(names.count >= 2)
    for name in names {
      var status = stat()
      #expect(stat("\(file.folder)/\(name)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
  }

  @Test func anotherFileIsNotTouched() throws {
    let text = String(repeating: "no database\n", count: 100)
    let descriptor = open(file.path, O_WRONLY | O_CREAT, 0o600)
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    #expect(throws: QueueError.foreign(file.path)) { try MessageQueue(path: file.path) }
    #expect(Disk.text(of: file.path) == text)
  }
}
