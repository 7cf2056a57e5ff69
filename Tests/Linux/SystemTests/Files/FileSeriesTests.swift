import Glibc
import HaloSystem
import TestSupport
import Testing

@testable import HaloSystem

@Suite struct FileSeriesTests {
  private let folder: TemporaryFolder
  /// 2026-11-22T22:45:00Z.
  private static let start = 1_795_387_500

  /// A clock that was never set.
  private static func time(_ seconds: Int = 0) -> FileTime {
    FileTime(unix: start + seconds, steady: 4711 + seconds)
  }

  init() throws { folder = try TemporaryFolder() }

  private func series(hasLines: Bool = true) throws -> FileSeries {
    try FileSeries(folder: folder("data"), stem: "stream", suffix: "csv", hasLines: hasLines)
  }

  private func names() -> [String] { Disk.names(in: folder("data")).sorted() }

  @Test func filesHaveTheirTimesAsNames() throws {
    let series = try series()
    close(try series.next(at: Self.time(), beginning: Array("a,b\n".utf8)))
    #expect(names() == ["stream-20261122T224500Z.csv.part"])
    #expect(series.currentPath == folder("data/stream-20261122T224500Z.csv"))
    close(try series.next(at: Self.time(3600)))
    #expect(names() == ["stream-20261122T224500Z.csv", "stream-20261122T234500Z.csv.part"])
    try series.complete()
    #expect(names() == ["stream-20261122T224500Z.csv", "stream-20261122T234500Z.csv"])
    #expect(series.currentPath == nil)
    #expect(folder.read("data/stream-20261122T224500Z.csv") == "a,b\n")
    #expect(try folder.status("data").st_mode & 0o777 == 0o700)
    #expect(try folder.status("data/stream-20261122T224500Z.csv").st_mode & 0o777 == 0o600)
  }

  /// Names with the same second are in the order in which the files were made.
  @Test func noFileIsReplaced() throws {
    let series = try series()
    for _ in 0..<3 { close(try series.next(at: Self.time())) }
    try series.complete()
    let start = "stream-20261122T224500Z"
    #expect(names() == ["\(start).csv", "\(start)_001.csv", "\(start)_002.csv"])
  }

  @Test func theFileOfAKilledProgramIsCompleted() throws {
    close(try series().next(at: Self.time(), beginning: Array("a,b\n1,2\n3,".utf8)))
    _ = try series()
    #expect(names() == ["stream-20261122T224500Z.csv"])
    #expect(folder.read("data/stream-20261122T224500Z.csv") == "a,b\n1,2\n")
  }

  @Test func theFileOfAnotherProgramIsLeftAlone() throws {
    let descriptor = try series().next(at: Self.time())
    defer { close(descriptor) }
    let second = try series()
    close(try second.next(at: Self.time()))
    #expect(names() == ["stream-20261122T224500Z.csv.part", "stream-20261122T224500Z_001.csv.part"])
  }

  @Test func oldFilesOfTheSeriesAreDeleted() throws {
    let series = try series()
    for hour in 0..<5 { close(try series.next(at: Self.time(hour * 3600))) }
    try folder.write("mine", to: "data/notes.csv")
    try folder.write("theirs", to: "data/stream-2026.csv")
    try folder.write("{}", to: "data/stream-20261122T224500Z.csv.json")
    // The second has ended half an hour before that, the third has not ended by then.
    let removal = series.removeFiles(olderThan: 1800, at: Self.time(3 * 3600), beside: [".json"])
    #expect(removal.deleted == ["stream-20261122T224500Z.csv", "stream-20261122T234500Z.csv"])
    #expect(
      names() == [
        "notes.csv", "stream-2026.csv", "stream-20261123T004500Z.csv", "stream-20261123T014500Z.csv",
        "stream-20261123T024500Z.csv.part",
      ])
  }

  @Test(.enabled(if: geteuid() == 0)) func theLinkOfAnotherUserInASharedFolderIsNotFollowed() throws {
    for name in ["data", "shared"] { mkdir(folder(name), 0o700) }
    chmod(folder("shared"), 0o1777)
    chown(folder("shared"), 4711, 4711)
    symlink(folder("data"), folder("shared/link"))
    let path = folder("shared/link")
    _ = try FileSeries(folder: path, stem: "stream", suffix: "csv", hasLines: true)
    lchown(path, 12345, 12345)
    for path in [path, path + "/"] {
      #expect(
        failure { _ = try FileSeries(folder: path, stem: "stream", suffix: "csv", hasLines: true) }
          == .foreign)
    }
  }

  // MARK: Rotation

  private func write(_ line: String, to queue: OutputQueue) {
    var line = line
    _ = line.withUTF8 { queue.write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes lines of ten bytes through a queue, each at a time. `steps` says by how much the clock is set, and when.
  private func write(
    _ times: [Int], limit: FileRotation.Limit, keepTime: Int? = nil, steps: [Int: Int] = [:],
    synchronizedFrom: Int = 0, removals: LockedValue<[FileRotation.Removal]> = LockedValue([])
  ) throws -> FileRotation {
    var now = Self.time()
    now.unix += steps[0] ?? 0
    let files = FileRotation(
      try series(), limit: limit, keepTime: keepTime, now: { now },
      synchronizedTime: { now.steady - Self.time().steady < synchronizedFrom ? nil : now.unix })
    files.onRemoval = { removal in removals.withLock { $0.append(removal) } }
    files.beginning = Array("head\n".utf8)
    files.description = { Array("{}".utf8) }
    let queue = OutputQueue(descriptor: try files.begin(), owned: true, rotation: files.change)
    for time in times {
      now = Self.time(time)
      now.unix += steps.filter { $0.key <= time }.map(\.value).reduce(0, +)
      write(String(time) + String(repeating: ".", count: 9 - String(time).utf8.count) + "\n", to: queue)
    }
    queue.waitUntilDrained()
    #expect(queue.failure == nil)
    queue.close()
    try files.completion()
    return files
  }

  private func contents() -> [String] {
    names().filter { !$0.hasSuffix(".json") }.map { name in
      folder.read("data/" + name)?.split(separator: "\n").map { $0.prefix { $0 != "." } }.joined(
        separator: " ")
        ?? "missing"
    }
  }

  @Test func aFileEndsAtAMultipleOfTheTime() throws {
    // 22:45, then 22:59:59, 23:00, 23:59 and 01:30: no file for the hour without a record.
    _ = try write([0, 899, 900, 4499, 9900], limit: .seconds(3600))
    #expect(contents() == ["head 0 899", "head 900 4499", "head 9900"])
    #expect(names().contains("stream-20261123T013000Z.csv.json"))
  }

  /// The seconds of the two clocks do not begin at the same time.
  @Test func aFileEndsNoSecondEarlier() throws {
    var now = FileTime(unix: Self.start, steady: 0)
    let files = FileRotation(
      try series(), limit: .seconds(60), keepTime: nil, now: { now }, synchronizedTime: { nil })
    close(try files.begin())
    now = FileTime(unix: Self.start + 59, steady: 60)
    #expect(files.change(1) == nil)
    now = FileTime(unix: Self.start + 60, steady: 60)
    #expect(files.change(1) != nil)
  }

  @Test func aFileEndsWithAWholeRecord() throws {
    _ = try write([1, 2, 3, 4, 5], limit: .bytes(25))
    #expect(contents() == ["head 1 2", "head 3 4", "head 5"])
  }

  /// The first line counts, too: a limit is one.
  @Test func theBeginningIsAPartOfTheSize() throws {
    _ = try write([1, 2, 3, 4, 5], limit: .bytes(24))
    #expect(contents() == ["head 1", "head 2", "head 3", "head 4", "head 5"])
  }

  // The situations of jomjol/AI-on-the-edge-device 2106, guysoft/OctoPi 606, marcone/teslausb 41 and PiSupply/PiJuice 370:
  // computers without a clock of their own, whose time of day is that of the last shutdown, or wrong, until the network is up.

  /// Forty days forward, and back after two seconds.
  @Test func briefClockJumpDeletesNothing() throws {
    _ = try write(
      [0, 3600, 7200, 7201, 7202, 10800], limit: .seconds(3600), keepTime: 86400,
      steps: [7200: 40 * 86400, 7202: -40 * 86400])
    #expect(contents().joined(separator: " ").split(separator: " ").filter { $0 != "head" }.count == 6)
  }

  /// A file of 1970 is as old as the run says, and the files of an earlier run as old as they were at its begin.
  @Test func clockAdjustmentDeletesNothing() throws {
    mkdir(folder("data"), 0o700)
    try folder.write("earlier", to: "data/stream-20261122T214500Z.csv")
    _ = try write([0, 10, 20, 3620], limit: .seconds(3600), keepTime: 86400, steps: [10: 40 * 86400])
    #expect(contents().first == "earlier" && contents().count == 4)
  }

  /// The clock is forty days ahead when the program starts, until a time server is found.
  @Test func fastClockAtStartDeletesNothing() throws {
    mkdir(folder("data"), 0o700)
    for hour in ["19", "20", "21"] {
      try folder.write("earlier", to: "data/stream-20261122T\(hour)4500Z.csv")
    }
    let removals = LockedValue<[FileRotation.Removal]>([])
    _ = try write(
      [0, 10, 3620, 7220], limit: .seconds(3600), keepTime: 86400, steps: [0: 40 * 86400, 5000: -40 * 86400],
      synchronizedFrom: 5000, removals: removals)
    #expect(contents().filter { $0 == "earlier" }.count == 3)
    // Twice it was not known whether the two are that old; then it was known that they are not.
    #expect(removals.withLock(\.self) == [.init(undecided: 2), .init(undecided: 2)])
  }

  @Test func filesOfEarlierRunsAreDeletedOnceTheTimeIsKnown() throws {
    mkdir(folder("data"), 0o700)
    for day in ["17", "18", "20"] { try folder.write("earlier", to: "data/stream-202611\(day)T204500Z.csv") }
    let removals = LockedValue<[FileRotation.Removal]>([])
    _ = try write(
      [0, 3620, 7220], limit: .seconds(3600), keepTime: 2 * 86400, synchronizedFrom: 7000, removals: removals)
    // It is not known when the last one ended.
    #expect(contents().filter { $0 == "earlier" }.count == 1)
    let names = ["stream-20261117T204500Z.csv", "stream-20261118T204500Z.csv"]
    #expect(
      removals.withLock(\.self) == [.init(undecided: 2), .init(undecided: 2), .init(deleted: names)])
  }

  /// Its files are as old as the clock says that is never set.
  @Test func ownFilesAreDeletedWhereTheTimeIsNeverKnown() throws {
    _ = try write(
      [0, 3600, 7200, 10800], limit: .seconds(3600), keepTime: 3600, synchronizedFrom: .max)
    #expect(contents() == ["head 3600", "head 7200", "head 10800"])
  }

  @Test func ownFilesAreDeletedByTheClockThatIsNeverSet() throws {
    _ = try write(
      [0, 3600, 7200, 10800, 14400], limit: .seconds(3600), keepTime: 3600, steps: [3600: -40 * 86400])
    #expect(contents() == ["head 7200", "head 10800", "head 14400"])
  }

  /// Two hours back: the file ends an hour after it began.
  @Test func aClockThatIsSetBackDoesNotStopTheRotation() throws {
    _ = try write([0, 900, 1000, 2000, 4501, 4600], limit: .seconds(3600), steps: [950: -7200])
    #expect(contents().sorted() == ["head 0", "head 4501 4600", "head 900 1000 2000"])
  }

  @Test func filesAreDeletedWithTheirDescriptions() throws {
    _ = try write([0, 3600, 7200, 10800], limit: .seconds(3600), keepTime: 3600)
    #expect(contents() == ["head 3600", "head 7200", "head 10800"])
    #expect(names().count == 6)
  }

  @Test func aFolderThatIsGoneEndsTheOutput() throws {
    var now = Self.time()
    let files = FileRotation(
      try series(), limit: .seconds(60), keepTime: nil, now: { now }, synchronizedTime: { nil })
    let queue = OutputQueue(descriptor: try files.begin(), owned: true, rotation: files.change)
    write("one\n", to: queue)
    queue.waitUntilDrained()
    Disk.remove(folder("data"))
    now = Self.time(60)
    write("two\n", to: queue)
    queue.waitUntilDrained()
    guard case .system(let error) = queue.failure else {
      Issue.record("written: \(String(describing: queue.failure))")
      return
    }
    #expect(error.errno == ENOENT)
  }
}
