import Glibc
import HaloBluetoothCore
import HaloFiles
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

  private func write(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
  }

  private func names() -> [String] { Disk.names(in: file.folder) }

  @Test func aJournalIsNotPlayedBackByAReader() throws {
    write(Disk.journal(naming: victim), to: path + "-journal")
    let before = (Disk.bytes(of: path), names())
    let store = try RingStore(path: path, access: .reading)
    #expect(try store.rings().map(\.name) == ["R02_BEEF"])
    #expect(Disk.text(of: victim) == "precious")
    #expect((Disk.bytes(of: path), names()) == before)
  }

  @Test func aStoreWithAJournalIsNotWritten() throws {
    let bytes = Disk.bytes(of: path)
    write(Disk.journal(naming: victim), to: path + "-journal")
    let error = #expect(throws: StoreError.file(FileError(path + "-journal", .journal))) {
      try RingStore(path: path)
    }
    #expect(error?.description.contains("move it away") == true)
    #expect(Disk.text(of: victim) == "precious" && Disk.bytes(of: path) == bytes)
    // One without contents, as programs leave it that truncate it, does nothing.
    truncate(path + "-journal", 0)
    #expect(try RingStore(path: path).rings().count == 1)
  }

  @Test(arguments: ["-journal", "-wal", "-shm"])
  func whatIsBesideAStoreHasToBeAFile(_ ending: String) throws {
    mkfifo(path + ending, 0o600)
    #expect(throws: StoreError.file(FileError(path + ending, .notRegular))) { try RingStore(path: path) }
    unlink(path + ending)
    symlink(victim, path + ending)
    #expect(throws: StoreError.file(FileError(path + ending, .notRegular))) { try RingStore(path: path) }
    unlink(path + ending)
    #expect(Disk.text(of: victim) == "precious")
  }

  @Test(.enabled(if: geteuid() == 0), arguments: ["-journal", "-wal", "-shm"])
  func whatIsBesideAStoreInASharedFolderHasToBeOnesOwn(_ ending: String) throws {
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

  @Test func aReaderHasWhatTheLogHasAndLeavesNothing() throws {
    let temporary = Disk.names(in: UserFolders.temporary).filter { $0.hasPrefix("halo-raw-\(getpid())-") }
    let writer = try RingStore(path: path)
    _ = try writer.ring(BluetoothAddress(1, .random), name: "R02_0001", firmware: nil)
    let before = names()
    #expect(before.contains("rings.sqlite-wal"))
    let reader = try RingStore(path: path, access: .reading)
    #expect(try reader.rings().map(\.name) == ["R02_BEEF", "R02_0001"])
    #expect(names() == before)
    // The copy has no name any more, and is of that moment.
    let copies = Disk.names(in: UserFolders.temporary).filter { $0.hasPrefix("halo-raw-\(getpid())-") }
    #expect(Set(copies).isSubset(of: temporary))
    _ = try writer.ring(BluetoothAddress(2, .random), name: "R02_0002", firmware: nil)
    #expect(try reader.rings().count == 2)
  }

  @Test func anOlderStoreIsReadAndStaysAsItIs() throws {
    let old = other.path
    do {
      let database = try Database(path: old)
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
