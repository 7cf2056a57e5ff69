import Glibc
import TestSupport
import Testing

@testable import HaloSystem

@Suite struct OutputQueueTests {
  /// A line of 100 bytes that starts with its number.
  private func line(_ number: Int) -> String {
    let digits = "\(number)"
    return digits + String(repeating: ".", count: 99 - digits.count) + "\n"
  }

  private func numbers(_ bytes: [UInt8]) -> [Int] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int($0.prefix { $0 != "." }) }
  }

  @Test func aRecordLeavesWithinTheCallWhileThereIsRoom() {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing)
    #expect(queue.write("one\n"))
    #expect(pipe.read() == Array("one\n".utf8))
  }

  /// Passes lines on in one call.
  private func write(_ numbers: Range<Int>, to queue: OutputQueue) -> Int {
    let ends = numbers.indices.map { ($0 - numbers.lowerBound + 1) * 100 }
    var text = numbers.map(line).joined()
    return text.withUTF8 { queue.write(RawSpan(_unsafeElements: $0), ends: ends.span) }
  }

  @Test func recordsOfOneCallLeaveWithOneWrite() {
    var pair: [Int32] = [0, 0]
    // Its reader gets what each write has written.
    socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair)
    defer { for descriptor in pair { close(descriptor) } }
    let queue = OutputQueue(descriptor: pair[1])
    #expect(write(0..<100, to: queue) == 100)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    #expect(read(pair[0], &buffer, buffer.count) == 10_000)
    #expect(numbers(Array(buffer[..<10_000])) == Array(0..<100))
  }

  /// Another program may write to the same pipe: what is not queued ends with a whole record.
  @Test func recordsOfOneCallAreSplitBetweenThemOnly() {
    let pipe = Pipe(capacity: 1 << 16)
    let queue = OutputQueue(descriptor: pipe.writing)
    #expect(write(0..<150, to: queue) == 150)
    var count: Int32 = 0
    #expect(ioctl(pipe.reading, UInt(FIONREAD), &count) == 0)
    #expect(count == 15_000)
    #expect(numbers(pipe.read(15_000)) == Array(0..<150))
  }

  @Test func theLastRecordsOfACallAreDropped() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing, capacity: 10_000, overflow: .drop)
    let accepted = write(0..<1000, to: queue)
    #expect(accepted > 100 && accepted < 200)
    #expect(queue.droppedRecords == 1000 - accepted)
    #expect(numbers(pipe.read(accepted * 100)) == Array(0..<accepted))
    await queue.drained()
    #expect(write(1000..<1010, to: queue) == 10)
    #expect(numbers(pipe.read(1000)) == Array(1000..<1010))
  }

  @Test func theSharedOpenFileStaysBlocking() {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing)
    queue.write("one\n")
    #expect(fcntl(pipe.writing, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test func slowReaderDoesNotBlockWriter() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing, capacity: 10_000, overflow: .drop)
    var accepted: [Int] = []
    for number in 0..<1000 where queue.write(line(number)) { accepted.append(number) }
    #expect(accepted.count < 200)
    #expect(queue.droppedRecords == 1000 - accepted.count)
    // What was accepted arrives whole and in order once the reader goes on.
    #expect(numbers(pipe.read(accepted.count * 100)) == accepted)
    await queue.drained()
    #expect(queue.write(line(1000)))
    #expect(numbers(pipe.read(100)) == [1000])
  }

  @Test func afterAnOverflowHalfOfTheRoomIsFreeBeforeMoreIsTaken() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing, capacity: 10_000, overflow: .drop)
    while queue.write(line(1)) {}
    // A page is read, not half of what waits.
    _ = pipe.read(4000)
    #expect(!queue.write(line(2)))
  }

  @Test func outputThatHasAnEndIsKeptWhole() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing, capacity: 1000, overflow: .keep)
    for number in 0..<5000 { #expect(queue.write(line(number))) }
    #expect(numbers(pipe.read(500_000)) == Array(0..<5000))
    await queue.drained()
  }

  @Test func aCallerThatWaitsIsReleasedByAbandoning() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: pipe.writing, capacity: 1000, overflow: .wait)
    await confirmation { finished in
      await withCheckedContinuation { continuation in
        let result = HelperThread.start {
          var number = 0
          while queue.write(self.line(number)) { number += 1 }
          continuation.resume()
        }
        #expect(result == 0)
        // The first page is in the pipe: from here on the writer waits.
        _ = pipe.read()
        queue.abandon()
      }
      finished()
    }
  }

  @Test func aReaderThatHasGoneEndsTheOutput() {
    signal(SIGPIPE, SIG_IGN)
    var pair: [Int32] = [0, 0]
    pipe(&pair)
    let queue = OutputQueue(descriptor: pair[1], owned: true)
    close(pair[0])
    #expect(!queue.write("one\n"))
    #expect(queue.failure == .readerGone)
  }

  @Test func aSocketIsWrittenToWithoutWaiting() async {
    var pair: [Int32] = [0, 0]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
    let queue = OutputQueue(descriptor: pair[1], owned: true, capacity: 100_000, overflow: .drop)
    while queue.write(line(1)) {}
    #expect(queue.droppedRecords == 1)
    close(pair[0])
    await queue.drained()
    #expect(queue.failure == .readerGone)
  }

  // MARK: Faults

  /// Without a descriptor left, the shared open file is written to as it is, by the queue's thread: the caller does not
  /// wait.
  @Test(arguments: [EMFILE, ENFILE, EACCES])
  func writesToSharedPipeWhenReopenFails(_ code: Int32) async {
    let pipe = Pipe()
    let script = FaultScript([.open], fails: code)
    let queue = FaultPlan.during(script) { OutputQueue(descriptor: pipe.writing) }
    #expect(script.isUsedUp && queue.target.descriptor == pipe.writing)
    for number in 0..<1000 { #expect(queue.write(line(number))) }
    #expect(numbers(pipe.read(100_000)) == Array(0..<1000))
    await queue.drained()
    #expect(fcntl(pipe.writing, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test func handlesInterruptedAndShortWrites() async {
    let pipe = Pipe(capacity: 1 << 16)
    let queue = OutputQueue(descriptor: pipe.writing)
    let descriptor = queue.target.descriptor
    defer { FaultPlan.removeAll(on: descriptor) }
    FaultPlan.add(
      [.error(EINTR), .limit(7), .error(EAGAIN), .error(EINTR), .limit(1), .limit(0), nil, .limit(50)],
      to: .write, on: descriptor)
    for number in 0..<20 { queue.write(line(number)) }
    #expect(numbers(pipe.read(2000)) == Array(0..<20))
  }

  @Test(arguments: [ENOSPC, EIO, EDQUOT, EFBIG])
  func aFullDiskLeavesWholeRecords(_ code: Int32) async {
    let file = TemporaryFile()
    let queue = OutputQueue(descriptor: file.descriptor)
    // The first four lines and a part of the fifth fit.
    FaultPlan.add([.limit(430), .error(code)], to: .write, on: file.descriptor)
    defer { FaultPlan.removeAll(on: file.descriptor) }
    for number in 0..<10 { queue.write(line(number)) }
    await queue.drained()
    #expect(queue.failure == .system(SystemError("write", errno: code)))
    let kept = numbers(file.bytes)
    #expect(kept == Array(0..<kept.count))
    #expect(file.bytes.count == kept.count * 100)
    #expect(!queue.write(line(10)))
  }

  @Test func aRegularFileIsWrittenByAnotherThread() async {
    let file = TemporaryFile()
    let queue = OutputQueue(descriptor: file.descriptor)
    for number in 0..<100 { queue.write(line(number)) }
    await queue.drained()
    #expect(numbers(file.bytes) == Array(0..<100))
  }

  /// Waits for the queue's thread.
  ///
  /// - Returns: false after ten seconds, so that a fault fails the test and does not keep it
  private func isSoon(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
      guard ContinuousClock.now < end else { return false }
      sched_yield()
    }
    return true
  }

  /// Collected for an hour, unless something else makes the thread write.
  private func collecting(_ file: TemporaryFile) -> OutputQueue {
    OutputQueue(descriptor: dup(file.descriptor), owned: true, collectionTime: 3600)
  }

  @Test func recordsForAFileAreCollectedForOneWrite() {
    let file = TemporaryFile()
    let queue = collecting(file)
    for number in 0..<100 { queue.write(line(number)) }
    #expect(file.bytes.isEmpty)
    queue.waitUntilDrained()
    #expect(numbers(file.bytes) == Array(0..<100))
    queue.write(line(100))
    #expect(queue.waitUntilDrained(for: 3600))
    #expect(numbers(file.bytes) == Array(0...100))
  }

  @Test func collectedRecordsAreWrittenForAHandlerAndAtTheEnd() async {
    let file = TemporaryFile()
    let queue = collecting(file)
    queue.write(line(0))
    await queue.drained()
    #expect(numbers(file.bytes) == [0])
    queue.write(line(1))
    queue.close()
    #expect(isSoon { file.bytes.count >= 200 })
    #expect(numbers(file.bytes) == [0, 1])
  }

  @Test func manyCollectedRecordsAreWrittenAtOnce() {
    let file = TemporaryFile()
    let queue = collecting(file)
    for number in 0..<656 { queue.write(line(number)) }
    #expect(isSoon { file.bytes.count >= 65_536 })
    #expect(numbers(file.bytes).starts(with: 0..<655))
  }

  @Test func closeFlushesQueuedRecords() async {
    let pipe = Pipe()
    let queue = OutputQueue(descriptor: dup(pipe.writing), owned: true)
    for number in 0..<500 { queue.write(line(number)) }
    queue.close()
    #expect(!queue.write(line(500)))
    #expect(numbers(pipe.read(50_000)) == Array(0..<500))
  }

  /// Whoever is told of the end may have the file: it has all records, and no lock. Once more is told at once.
  @Test(arguments: [0, 100]) func reportsCloseAfterFileIsClosed(_ count: Int) async {
    let file = TemporaryFile()
    let place = "/proc/self/fd/\(file.descriptor)"
    let descriptor = open(place, O_RDWR)
    let other = open(place, O_RDWR)
    defer { close(other) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0 && flock(other, LOCK_EX | LOCK_NB) == -1)
    let queue = OutputQueue(descriptor: descriptor, owned: true, collectionTime: 3600)
    for number in 0..<count { queue.write(line(number)) }
    for _ in 0..<2 {
      await withCheckedContinuation { continuation in queue.close { continuation.resume() } }
      #expect(numbers(file.bytes) == Array(0..<count))
      #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }
  }

  @Test func releasesQueueAfterClose() async {
    weak var gone: OutputQueue?
    do {
      let file = TemporaryFile()
      let queue = OutputQueue(descriptor: dup(file.descriptor), owned: true)
      gone = queue
      queue.write("one\n")
      await queue.drained()
      queue.close()
    }
    #expect(isSoon { gone == nil })
  }
}

private final class TemporaryFile {
  let descriptor: Int32

  init() {
    var template = Array("/tmp/halo-output-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    unlink(template)
  }

  deinit { close(descriptor) }

  var bytes: [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return Array(buffer[..<max(0, count)])
  }
}
