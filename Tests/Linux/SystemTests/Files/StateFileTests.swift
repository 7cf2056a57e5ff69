import Glibc
import HaloSystem
import Testing

struct StateFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func readsAndUpdatesStateFile() throws {
    let file = StateFile(path: folder("made/here/state.json"))
    #expect(try file.read() == nil)
    try file.update { found in
      #expect(found == .success(nil))
      return [1]
    }
    try file.update { found in
      #expect(found == .success([1]))
      return nil
    }
    #expect(try file.read() == [1])
    for part in ["made", "made/here"] { #expect(try folder.status(part).st_mode & 0o777 == 0o700) }
    for name in ["state.json", "state.json.lock"] {
      #expect(try folder.status("made/here/" + name).st_mode & 0o777 == 0o600)
    }
  }

  @Test func aFolderThatOthersCouldEnterIsClosed() throws {
    mkdir(folder("state"), 0o755)
    try StateFile(path: folder("state/a")).update { _ in [1] }
    #expect(try folder.status("state").st_mode & 0o777 == 0o700)
  }

  @Test func rejectsOversizedAndNonRegularFiles() throws {
    try folder.write(String(repeating: "x", count: 101), to: "a")
    #expect(failure { _ = try StateFile(path: folder("a"), limit: 100).read() } == .tooLarge(limit: 100))
    #expect(try StateFile(path: folder("a"), limit: 101).read()?.count == 101)
    #expect(failure { _ = try InputFile.read("/dev/zero", limit: 1000) } == .tooLarge(limit: 1000))
    mkfifo(folder("pipe"), 0o600)
    #expect(failure { _ = try StateFile(path: folder("pipe")).read() } == .notRegular)
    #expect(failure { _ = try StateFile(path: "/dev/null").read() } == .notRegular)
    #expect(failure { _ = try InputFile.read(folder("pipe"), limit: 10, timeout: 1) } == .noData)
    #expect(try StateFile(path: "/dev/null/x").read() == nil)
  }

  @Test func setAsideKeepsDamagedFile() throws {
    let file = StateFile(path: folder("state/a"))
    try file.update { _ in Array("damaged".utf8) }
    try file.update { _ throws(FileError) in
      #expect(try file.setAside() == folder("state/a.damaged"))
      return Array("good".utf8)
    }
    #expect(folder.read("state/a.damaged") == "damaged" && folder.read("state/a") == "good")
  }

  @Test(.enabled(if: geteuid() == 0)) func rejectsFilesOwnedByOthers() throws {
    mkdir(folder("theirs"), 0o777)
    try folder.write("x", to: "theirs/a")
    chown(folder("theirs/a"), 12345, 12345)
    let file = StateFile(path: folder("theirs/a"))
    #expect(failure { _ = try file.read() } == .foreign)
    chown(folder("theirs"), 12345, 12345)
    #expect(failure { try file.update { _ in [1] } } == .foreign)
    mkdir(folder("mine"), 0o700)
    try folder.write("", to: "mine/a.lock")
    chown(folder("mine/a.lock"), 12345, 12345)
    #expect(failure { try StateFile(path: folder("mine/a")).update { _ in [1] } } == .foreign)
  }

  // MARK: Locks

  @Test func aLockHasOneHolder() throws {
    let path = folder("lock")
    var first = try FileLock.attempt(path)
    #expect(first != nil)
    #expect(try FileLock.attempt(path) == nil)
    #expect(failure { _ = try FileLock.acquire(path, timeout: 20) } == .locked)
    first = nil
    _ = try FileLock.acquire(path, timeout: 2000)
  }

  @Test func lockOnRemovedFileDoesNotExclude() throws {
    let path = folder("lock")
    let first = try #require(try FileLock.attempt(path))
    first.remove()
    // The name is free: who comes now makes a new file, and the first lock has nothing to do with it.
    let second = try #require(try FileLock.attempt(path))
    #expect(try FileLock.attempt(path) == nil)
    withExtendedLifetime((first, second)) {}
  }

  @Test func aLockThatOthersCouldOpenIsClosed() throws {
    try folder.write("", to: "lock", mode: 0o666)
    let lock = try #require(try FileLock.attempt(folder("lock")))
    #expect(try folder.status("lock").st_mode & 0o777 == 0o600)
    symlink("lock", folder("link"))
    #expect(failure { _ = try FileLock.attempt(folder("link")) } == .system(ELOOP))
    withExtendedLifetime(lock) {}
  }

  /// A change that another thread's makes in between is not lost.
  @Test func changesDoNotOverwriteEachOther() async throws {
    let path = folder("state/count")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<12 {
        group.addTask {
          let file = StateFile(path: path, timeout: 10_000)
          try? file.update { found in ((try? found.get()) ?? []) + [1] }
        }
      }
    }
    #expect(try StateFile(path: path).read()?.count == 12)
  }
}
