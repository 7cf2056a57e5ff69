import Glibc
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestSupport
import Testing

@testable import HaloRingStore

/// SQLite opens files beside a database by their names, and does what they say: a rollback journal replaces pages of the file,
/// and deletes the file that it names as its super-journal.
@Suite struct StoreCompanionTests {
  private let file: TemporaryStore
  private let other: TemporaryStore
  private var path: String { file.path }
  private var victim: String { other.folder + "/victim" }
  private let address = BluetoothAddress(0x3035_3841_BEEF, .public)

  init() throws {
    file = try TemporaryStore()
    other = try TemporaryStore()
    do {
      let store = try RingStore(path: file.path)
      _ = try store.ring(address, name: "R02_BEEF", firmware: nil)
    }
    write(Array("precious".utf8), to: victim)
  }

  /// Work on a thread of its own.
  private final class Work: Sendable {
    private let isOver = LockedValue(false)
    private let hasEnded = LockedValue(false)

    init(_ work: @escaping @Sendable (_ isOver: () -> Bool) -> Void) {
      let (isOver, hasEnded) = (isOver, hasEnded)
      _ = HelperThread.start(stackSize: 1 << 20) {
        work { isOver.withLock { $0 } }
        hasEnded.withLock { $0 = true }
      }
    }

    /// Returns when it has ended.
    func end() {
      isOver.withLock { $0 = true }
      while !hasEnded.withLock({ $0 }) { usleep(1000) }
    }
  }

  private func write(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
  }

  private func names() -> [String] { Disk.names(in: file.folder) }

  /// Without the journal of a program that was interrupted, half of what it has written would be read.
  @Test(arguments: [RingStore.Access.reading, .writing])
  func aStoreWithAJournalIsRefused(_ access: RingStore.Access) throws {
    write(Disk.journal(naming: victim), to: path + "-journal")
    let before = (Disk.bytes(of: path), names())
    let error = #expect(throws: StoreError.file(FileError(path + "-journal", .journal))) {
      try RingStore(path: path, access: access)
    }
    #expect(error?.description.contains("move the journal away") == true)
    #expect(Disk.text(of: victim) == "precious")
    #expect((Disk.bytes(of: path), names()) == before)
    // One without contents, as programs leave it that truncate it, does nothing.
    truncate(path + "-journal", 0)
    #expect(try RingStore(path: path, access: access).rings().count == 1)
  }

  /// Another program has a journal while it writes to a store that has no log, as one that was made by `VACUUM INTO`.
  @Test func aJournalThatIsThereForAMomentIsWaitedFor() throws {
    write([1], to: path + "-journal")
    let journal = path + "-journal"
    let removal = Work { _ in unlink(journal) }
    #expect(try RingStore(path: path, access: .reading).rings().count == 1)
    removal.end()
  }

  /// It goes on while the store is copied, and moves its log into the file now and then.
  @Test func aStoreIsReadWhileItIsWritten() throws {
    let store = path
    do {
      let database = try Database<StoreError>(path: store)
      try database.run("CREATE TABLE pairs (a INTEGER, b INTEGER); INSERT INTO pairs VALUES (0, 0)")
    }
    let writer = Work { isOver in
      guard let database = try? Database<StoreError>(path: store) else { return }
      var number = 0
      while !isOver() {
        number += 1
        try? database.run(
          "BEGIN; UPDATE pairs SET a = \(number); UPDATE pairs SET b = \(number); COMMIT"
            + (number % 50 == 0 ? "; PRAGMA wal_checkpoint(TRUNCATE)" : ""))
      }
    }
    defer { writer.end() }
    var written: Set<Int> = []
    for _ in 0..<2000 where written.count < 20 {
      do throws(StoreError) {
        let database = try Database<StoreError>(path: path, isWritten: false)
        let pairs = try database.prepare("SELECT a, b FROM pairs").rows { columns in
          (columns.integer(0), columns.integer(1))
        }
        #expect(pairs.count == 1 && pairs.allSatisfy { $0 == $1 })
        written.formUnion(pairs.map(\.0))
      } catch {
        // The writer has begun a log at each attempt.
        #expect(error == .busy)
      }
    }
    #expect(written.count == 20)
  }

  @Test func copiesOfKilledProgramsAreDeletedByTheNextReader() throws {
    let left = "\(UserFolders.temporary)/halo-raw-copy-left-\(UInt64.random(in: 0 ... .max))"
    mkdir(left, 0o700)
    write(Array("health".utf8), to: left + "/copy")
    defer { unlink(left + "/copy"); rmdir(left) }
    _ = try RingStore(path: path, access: .reading)
    #expect(Disk.names(in: left) == ["copy"], "a program may have just made it")
    var times = [
      timeval(tv_sec: time(nil) - 3600, tv_usec: 0), timeval(tv_sec: time(nil) - 3600, tv_usec: 0),
    ]
    utimes(left, &times)
    let held = open(left, O_RDONLY | O_DIRECTORY)
    flock(held, LOCK_EX)
    _ = try RingStore(path: path, access: .reading)
    #expect(Disk.names(in: left) == ["copy"], "a program uses it")
    close(held)
    _ = try RingStore(path: path, access: .reading)
    #expect(access(left, F_OK) != 0)
  }

  @Test(arguments: ["-journal", "-wal", "-shm"])
  func aCompanionHasToBeARegularFile(_ ending: String) throws {
    mkfifo(path + ending, 0o600)
    #expect(throws: StoreError.file(FileError(path + ending, .notRegular))) { try RingStore(path: path) }
    unlink(path + ending)
    symlink(victim, path + ending)
    #expect(throws: StoreError.file(FileError(path + ending, .notRegular))) { try RingStore(path: path) }
    unlink(path + ending)
    #expect(Disk.text(of: victim) == "precious")
  }

  @Test(.enabled(if: geteuid() == 0), arguments: ["-journal", "-wal", "-shm"])
  func aCompanionInASharedFolderHasToBeTheUsers(_ ending: String) throws {
    chmod(file.folder, 0o1777)
    chown(file.folder, 4711, 4711)
    write([], to: path + ending)
    chown(path + ending, 4712, 4712)
    #expect(throws: StoreError.file(FileError(path + ending, .foreign))) { try RingStore(path: path) }
    if ending == "-wal" {
      #expect(throws: StoreError.file(FileError(path + ending, .foreign))) {
        try RingStore(path: path, access: .reading)
      }
    }
    unlink(path + ending)
    #expect(try RingStore(path: path).rings().count == 1)
  }

  private func copyNames() -> Set<String> {
    Set(
      Disk.names(in: UserFolders.temporary).filter { $0.hasPrefix("halo-raw-copy-") && !$0.contains("left") })
  }

  @Test func readerSeesWALContentsAndLeavesNoFiles() throws {
    let writer = try RingStore(path: path)
    _ = try writer.ring(BluetoothAddress(1, .random), name: "R02_0001", firmware: nil)
    let before = names()
    #expect(before.contains("rings.sqlite-wal"))
    let reader = try RingStore(path: path, access: .reading)
    #expect(try reader.rings().map(\.name) == ["R02_BEEF", "R02_0001"])
    #expect(names() == before)
    // The copy has no name any more, and is of that moment. Those of other tests go soon.
    var copies = copyNames()
    for _ in 0..<3000 where !copies.isEmpty {
      usleep(1000)
      copies.formIntersection(copyNames())
    }
    #expect(copies.isEmpty)
    _ = try writer.ring(BluetoothAddress(2, .random), name: "R02_0002", firmware: nil)
    #expect(try reader.rings().count == 2)
  }

  @Test func readsOlderStoreWithoutMigration() throws {
    let old = other.path
    do {
      let database = try Database<StoreError>(path: old)
      try database.run(Schema.migrations[0])
      try database.run(
        """
        PRAGMA application_id = 0x68616C6F; PRAGMA user_version = 1;
        INSERT INTO rings VALUES (1, '30:35:38:41:BE:EF', 'public', 'R02_BEEF', NULL)
        """)
    }
    let bytes = Disk.bytes(of: old)
    #expect(try RingStore(path: old, access: .reading).rings().map(\.address) == [address])
    #expect(Disk.bytes(of: old) == bytes)
  }
}
