import Glibc
import HaloSystem
import TestSupport
import Testing

/// Every system call of the module fails, one at a time and with each error that it can have: what was there is whole,
/// nothing is left beside it, no descriptor leaks, the error names the file, and the next try works.
@Suite struct FaultTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let opening: [Int32] = [EMFILE, ENFILE, EACCES, EIO, ENOSPC, ENODEV, ENOMEM]
  private static let errors: [(calls: Set<SystemCall>, codes: [Int32])] = [
    ([.open], opening),
    ([.write], [ENOSPC, EIO, EDQUOT, EFBIG]),
    ([.read], [EIO, ENODEV]),
    ([.truncate, .synchronize], [EIO, ENOSPC, EROFS]),
    ([.rename], [EIO, ENOSPC, EACCES, EROFS]),
    ([.setMode, .setOwner], [EPERM, EIO, EROFS]),
    ([.makeFolder], [ENOSPC, EACCES, EROFS]),
    ([.lock], [ENOLCK, EIO]),
    ([.status], [EIO, ENOMEM]),
  ]

  /// How many of this process' descriptors lead to the folder.
  private var openCount: Int {
    (0..<1024).count { number in
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      let length = readlink("/proc/self/fd/\(number)", &target, target.count)
      guard length > 0 else { return false }
      return String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        .hasPrefix(folder.path)
    }
  }

  /// Runs `work` again and again, with the first call failing, the second, and so on, until it makes no more.
  ///
  /// - Parameter check: gets what it failed with; nil if it has overcome the fault
  private func sweep(
    _ path: String, _ work: () throws -> Void, check: (FileError?, Int32) throws -> Void
  ) throws {
    var count = 0
    for (calls, codes) in Self.errors {
      for code in codes {
        // Nothing makes so many calls.
        for number in 1..<100 {
          let script = FaultScript(calls, number: number, fails: code)
          var failure: FileError?
          do {
            try FaultPlan.during(script) { try work() }
          } catch let error as FileError {
            failure = error
          }
          #expect(openCount == 0, "\(calls) \(number) \(code) leaks")
          if let failure {
            #expect(failure.path.hasPrefix(folder.path) && failure.description.contains(failure.path))
            #expect(path.hasPrefix(failure.path), "\(failure) is not of \(path)")
          }
          try check(failure, code)
          guard script.isUsedUp else { break }
          count += 1
        }
      }
    }
    #expect(count > 10, "hardly anything failed")
  }

  @Test func aReplacementThatFailsLeavesTheOldFile() throws {
    let path = folder("a")
    try folder.write("old", to: "a", mode: 0o640)
    try sweep(path) {
      _ = try OutputFile.replace(path, with: Array("new".utf8))
    } check: { failure, code in
      // Where the folder takes no new file, it is written in place; a power cut then may leave nothing.
      #expect(folder.read("a") == (failure == nil ? "new" : "old"), "\(String(describing: failure))")
      #expect(folder.names == ["a"])
      #expect(try folder.status("a").st_mode & 0o777 == 0o640)
      if let failure, case .system(let number) = failure.reason { #expect(number == code) }
      try folder.write("old", to: "a", mode: 0o640)
    }
  }

  @Test func aNewFileThatFailsIsNotThere() throws {
    try sweep(folder("a")) {
      _ = try OutputFile.replace(folder("a"), with: Array("new".utf8))
    } check: { failure, _ in
      #expect(folder.names == (failure == nil ? ["a"] : []))
      unlink(folder("a"))
    }
  }

  @Test func aFileThatIsOpenedInPlaceKeepsItsContentsUntilItIsOpen() throws {
    let path = folder("a")
    try sweep(path) {
      close(try OutputFile.open(path: path))
    } check: { failure, _ in
      #expect(folder.read("a") ?? "" == "")
      unlink(path)
    }
    try folder.write("old", to: "a")
    let script = FaultScript([.open, .status], number: 2, fails: EIO)
    let error = failure { _ = try FaultPlan.during(script) { close(try OutputFile.open(path: path)) } }
    #expect(error == .system(EIO))
    #expect(folder.read("a") == "old")
  }

  @Test func failedUpdateKeepsState() throws {
    let file = StateFile(path: folder("state/rings.json"))
    func isWhole() throws -> Bool { try file.read() == [1] }
    try file.update { _ in [1] }
    try sweep(file.path + ".lock") {
      // What can't be read may not be replaced by this change.
      try file.update { found throws(FileError) in try found.get() == [1] ? [2] : nil }
    } check: { failure, code in
      #expect(try file.read() == (failure == nil ? [2] : [1]), "\(String(describing: failure))")
      #expect(try folder.status("state").st_mode & 0o777 == 0o700)
      try file.update { _ in [1] }
    }
  }

  @Test func readingFailsWithTheKernelsReason() throws {
    try folder.write("contents", to: "a")
    try sweep(folder("a")) {
      let bytes = try InputFile.read(folder("a"), limit: 100)
      let state = try StateFile(path: folder("a")).read()
      #expect(bytes == Array("contents".utf8) && state == bytes)
    } check: { failure, code in
      if let failure { #expect(failure.reason == .system(code)) }
    }
  }

  @Test func failedLockAttemptLeavesLockFree() throws {
    let path = folder("lock")
    try sweep(path) {
      _ = try FileLock.attempt(path)
    } check: { failure, code in
      #expect(failure == nil || failure?.reason == .system(code))
      // A process that another test starts may have the descriptor for a moment.
      _ = try FileLock.acquire(path, timeout: 2000)
    }
  }

  @Test func interruptedCallsAreMadeAgain() throws {
    let path = folder("state/a")
    let script = FaultScript(Set(SystemCall.allCases), Array(repeating: .error(EINTR), count: 3))
    try FaultPlan.during(script) { try StateFile(path: path).update { _ in [1] } }
    #expect(script.isUsedUp)
    for call in SystemCall.allCases {
      let script = FaultScript([call], Array(repeating: .error(EINTR), count: 5))
      try FaultPlan.during(script) {
        let file = StateFile(path: path)
        try file.update { found throws(FileError) in [(try found.get() ?? [0])[0] + 1] }
      }
    }
    #expect(try StateFile(path: path).read() == [UInt8(1 + SystemCall.allCases.count)])
  }

  /// Short writes and reads lose nothing.
  @Test func shortWritesAndReadsAreGoneOnWith() throws {
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
    let limits = [1, 7, 4095].map { FaultPlan.Outcome.limit($0) } + [.error(EINTR), .limit(100)]
    try FaultPlan.during(FaultScript([.write], limits)) {
      _ = try OutputFile.replace(folder("a"), with: bytes)
    }
    let read = try FaultPlan.during(FaultScript([.read], limits)) {
      try InputFile.read(folder("a"), limit: 100_000)
    }
    #expect(read == bytes)
  }

  @Test func errorDescriptionsNameTheRemedy() {
    for (code, advice) in [
      (EMFILE, "ulimit -n"), (ENFILE, "close other programs"), (ENOSPC, "free some space"),
      (EACCES, "permissions"), (EROFS, "another folder"), (EIO, "dmesg"), (ENODEV, "is there"),
    ] {
      let text = FileError("/a/b", .system(code)).description
      #expect(text.hasPrefix("/a/b: ") && text.contains(advice))
    }
  }

  /// Faults are those of one task: others, which run at the same time, do not meet them.
  @Test func faultsAreOfOneTask() async {
    let path = folder("a")
    let script = FaultScript([.open], Array(repeating: .error(EMFILE), count: 100))
    let (inside, outside) = await FaultPlan.during(script) {
      let inside = await Task { failure { _ = try InputFile.read(path, limit: 1) } }.value
      let outside = await Task.detached { failure { _ = try InputFile.read(path, limit: 1) } }.value
      return (inside, outside)
    }
    #expect(inside == .system(EMFILE) && outside == .system(ENOENT))
    #expect(failure { _ = try InputFile.read(path, limit: 1) } == .system(ENOENT))
  }
}
