import Glibc
import HaloSystem
import HaloMQTT
import TestSupport
import Testing

@Suite struct MessageQueueTests {
  private let file: TemporaryQueue

  init() throws { file = try TemporaryQueue() }

  private func messages(_ numbers: Range<Int>) -> [Message] {
    numbers.map { Message(topic: "a/\($0)", text: "payload \($0)", kind: $0 % 2 == 1 ? .state : .record) }
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

  @Test func onlyRemovedMessagesAreGoneAfterRestart() throws {
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

  /// The newest value of a state counts: an older one that waits is removed. (SAIC-iSmart-API/saic-python-mqtt-gateway 402)
  @Test func aStateReplacesTheOneOfItsTopic() throws {
    let queue = try MessageQueue(path: file.path, limit: 100)
    func state(_ text: String, of topic: String = "s") -> Message {
      Message(topic: topic, text: text, kind: .state)
    }
    for number in 0..<50 { #expect(try queue.add([state("\(number)"), state("x\(number)", of: "t")]) == 0) }
    #expect(queue.count == 2)
    let read = try queue.next(10)
    #expect(read.map(\.message) == [state("49"), state("x49", of: "t")])
    // A record of the same topic stays, and one that was handed out is acknowledged all the same.
    #expect(try queue.add([Message(topic: "s", text: "record"), state("50")]) == 0)
    try queue.remove(read.map { MessageQueue.Receipt($0) })
    #expect(try queue.next(10).map(\.message) == [Message(topic: "s", text: "record"), state("50")])
    #expect(queue.count == 2)
    // The bytes are counted right: 92 more fit, and no more.
    #expect(try queue.add([Message(topic: "a", text: String(repeating: "x", count: 92))]) == 0)
    #expect(try queue.add([Message(topic: "a", text: "y")]) > 0)
  }

  @Test func refusedMessagesCanBeRequeued() throws {
    do {
      let queue = try MessageQueue(path: file.path)
      _ = try queue.add(messages(0..<4))
      let entries = try queue.next(4)
      let refused = [entries[1], entries[3]].map {
        MessageQueue.Refusal(MessageQueue.Receipt($0), reason: "no")
      }
      try queue.setAside(refused)
      // Twice is once.
      try queue.setAside(refused)
      #expect(queue.count == 2 && queue.asideCount == 2)
    }
    let queue = try MessageQueue(path: file.path)
    #expect(queue.count == 2 && queue.asideCount == 2)
    let all = messages(0..<4)
    #expect(try queue.next(9).map(\.message) == [all[0], all[2]])
    try queue.takeBack()
    #expect(queue.count == 4 && queue.asideCount == 0)
    #expect(try queue.next(9).map(\.message) == [all[1], all[3]])
  }

  @Test func limitsRefusedMessages() throws {
    let queue = try MessageQueue(path: file.path, limit: 16 * 30)
    _ = try queue.add(messages(0..<5))
    try queue.setAside(try queue.next(5).map { MessageQueue.Refusal(MessageQueue.Receipt($0), reason: "no") })
    // Three of nine bytes each fit into a sixteenth.
    #expect(queue.asideCount == 3 && queue.count == 0)
  }

  @Test func rejectsForeignJournal() throws {
    do { _ = try MessageQueue(path: file.path).add(messages(0..<1)) }
    let victim = file.folder + "/victim"
    for (path, bytes) in [(victim, Array("x".utf8)), (file.path + "-journal", Disk.journal(naming: victim))] {
      let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
      #expect(write(descriptor, bytes, bytes.count) == bytes.count)
      close(descriptor)
    }
    #expect(throws: QueueError.file(FileError(file.path + "-journal", .journal))) {
      try MessageQueue.openOrReplace(path: file.path)
    }
    #expect(Disk.text(of: victim) == "x")
    unlink(file.path + "-journal")
    #expect(try MessageQueue(path: file.path).count == 1)
  }

  /// One damaged page would end each command from then on.
  @Test(arguments: [0, 1, 2])
  func aDamagedQueueIsKeptUnderAnotherName(_ page: Int) throws {
    do {
      let queue = try MessageQueue(path: file.path)
      _ = try queue.add((0..<200).map { Message(topic: "a", text: String(repeating: "\($0) ", count: 200)) })
      withExtendedLifetime(queue) {}
    }
    let descriptor = open(file.path, O_WRONLY)
    let damage = [UInt8](repeating: 0xA5, count: 4096)
    // All pages from this one on, but for the header of the file, which page 0 damages, too.
    for number in page..<60 { _ = pwrite(descriptor, damage, damage.count, off_t(number * 4096)) }
    close(descriptor)
    let (queue, damaged) = try MessageQueue.openOrReplace(path: file.path)
    #expect(damaged == file.path + ".damaged")
    #expect(queue.count == 0)
    _ = try queue.add(messages(0..<2))
    #expect(try queue.next(5).map(\.message) == messages(0..<2))
    #expect(Disk.names(in: file.folder).contains("broker.queue.damaged"))
  }

  @Test func damagedQueuesDoNotReplaceEachOther() throws {
    for number in 0..<3 {
      let (_, damaged) = try MessageQueue.openOrReplace(path: file.path, isDamaged: number > 0)
      #expect(damaged == [nil, file.path + ".damaged", file.path + ".damaged-2"][number])
    }
  }

  @Test func staleReceiptsDoNotAffectReplacedQueue() throws {
    var receipts: [MessageQueue.Receipt] = []
    do {
      let queue = try MessageQueue(path: file.path)
      _ = try queue.add(messages(0..<3))
      receipts = try queue.next(3).map { MessageQueue.Receipt($0) }
    }
    let (queue, _) = try MessageQueue.openOrReplace(path: file.path, isDamaged: true)
    _ = try queue.add(messages(5..<8))
    try queue.remove(receipts)
    try queue.setAside(receipts.map { MessageQueue.Refusal($0, reason: "no") })
    // Three could be read of the damaged one.
    #expect(queue.count == 6 && queue.asideCount == 0)
  }
}
