import Glibc
import HaloCapture
import TestSupport
import Testing

/// `#expect` cannot hold a reader.
func expect(
  _ expected: CaptureReader.Progress, of reader: inout CaptureReader,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let progress = try reader.advance()
  #expect(progress == expected, sourceLocation: sourceLocation)
}

@Suite struct FollowTests {
  /// A file that grows a byte at a time: each record comes with its last byte, as in the whole file.
  @Test(arguments: samples.indices) func followsGrowingFile(_ index: Int) throws {
    let sample = samples[index]
    let file = TemporaryFile()
    var reader = try CaptureReader(path: file.path, follow: true)
    let unknown = (isRegular: reader.isRegularFile, format: reader.format)
    #expect(unknown.isRegular && unknown.format == nil)
    var records: [CaptureRecord] = []
    for byte in sample.bytes {
      try expect(.needsMore, of: &reader)
      file.append([byte])
      while let record = try reader.next() { records.append(record) }
    }
    try expect(.needsMore, of: &reader)
    let whole = Reading(sample.bytes)
    #expect(records == whole.records)
    let format = reader.format
    #expect(format == whole.format)
  }

  /// What comes next is not the continuation of what was read.
  @Test func aFileThatShrinksIsReported() throws {
    let file = TemporaryFile(btsnoop(1002, btsnoopRecord([1, 2, 3], flags: 0)))
    var reader = try CaptureReader(path: file.path, follow: true)
    try expect(.record, of: &reader)
    try expect(.needsMore, of: &reader)
    truncate(file.path, 16)
    do throws(CaptureError) {
      _ = try reader.advance()
      Issue.record("no error")
    } catch {
      #expect(error.reason == .replaced(.shrunk(from: 43, to: 16)))
    }
  }

  @Test func aFileThatIsReplacedIsReported() throws {
    let file = TemporaryFile(btsnoop(1002, btsnoopRecord([1], flags: 0)))
    let other = TemporaryFile(btsnoop(1002, btsnoopRecord([1], flags: 0)))
    var reader = try CaptureReader(path: file.path, follow: true)
    try expect(.record, of: &reader)
    try expect(.needsMore, of: &reader)
    rename(other.path, file.path)
    do throws(CaptureError) {
      _ = try reader.advance()
      Issue.record("no error")
    } catch {
      #expect(error.reason == .replaced(.otherFile))
    }
    // Without `follow`, the file that was opened is read to its end.
    unlink(file.path)
  }

  /// A pipe tells its end; until then there may be more.
  @Test(arguments: samples.indices) func followsPipeUntilEndOfFile(_ index: Int) throws {
    let sample = samples[index]
    let pipe = Pipe()
    var reader = try CaptureReader(path: pipe.path, follow: true)
    let isRegular = reader.isRegularFile
    #expect(!isRegular)
    var records: [CaptureRecord] = []
    for byte in sample.bytes {
      try expect(.needsMore, of: &reader)
      pipe.write([byte])
      while let record = try reader.next() { records.append(record) }
    }
    pipe.write([0])
    try expect(.needsMore, of: &reader)
    pipe.closeWriting()
    try expect(.end, of: &reader)
    let truncated = reader.truncatedBytes
    #expect(truncated == 1)
    #expect(records == Reading(sample.bytes).records)
  }

  /// What is there is given, though the pipe has neither ended nor filled the buffer.
  @Test func aPipeIsNotHeldBack() throws {
    let pipe = Pipe()
    pipe.write(samples[1].bytes)
    var reader = try CaptureReader(path: pipe.path)
    for _ in 0..<3 { try expect(.record, of: &reader) }
    pipe.closeWriting()
    try expect(.end, of: &reader)
  }

  @Test func anEndBeforeTheFormatIsKnown() throws {
    let pipe = Pipe()
    var reader = try CaptureReader(path: pipe.path, follow: true)
    pipe.write(Array("btsnoo".utf8))
    try expect(.needsMore, of: &reader)
    pipe.closeWriting()
    let error = #expect(throws: CaptureError.self) { _ = try reader.advance() }
    #expect(error == CaptureError(.unknownFormat, path: pipe.path))
  }

  /// Packets are views into the buffer, with the type byte in front where the file has none.
  @Test func aViewHasTheBytesOfTheRecord() throws {
    let file = TemporaryFile(samples[0].bytes)
    var reader = try CaptureReader(path: file.path)
    var read: [[UInt8]] = []
    while try reader.advance() == .record { read.append(Array(reader.bytes)) }
    #expect(read == Reading(path: file).records.map(\.bytes))
    let rest = reader.bytes.byteCount
    #expect(rest == 0)
  }
}

/// Both ends of a pipe.
final class Pipe {
  private let ends: (read: Int32, write: Int32)
  private var isWriting = true

  init() {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    // No process that another test starts keeps an end.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.ends = (ends[0], ends[1])
  }

  /// Another way to the end that is read.
  var path: String { "/proc/self/fd/\(ends.read)" }

  func write(_ bytes: [UInt8]) {
    #expect(Glibc.write(ends.write, bytes, bytes.count) == bytes.count)
  }

  func closeWriting() {
    isWriting = false
    close(ends.write)
    // A process that another test is just starting has a copy until it runs its program.
    var hangUp = pollfd(fd: ends.read, events: 0, revents: 0)
    #expect(poll(&hangUp, 1, 10_000) == 1)
  }

  deinit {
    if isWriting { close(ends.write) }
    close(ends.read)
  }
}
