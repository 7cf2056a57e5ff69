import BluetoothCore
import CSQLite
import Files
import Glibc

/// An open SQLite file. Errors have SQLite's messages.
final class Database {
  private let handle: OpaquePointer

  /// How long opening waits for another process that writes, in milliseconds. Later calls do not wait: see
  /// ``StoreError/busy``.
  private static let openingPatience: Int32 = 1000

  /// Whether the file is read-only: on a read-only file system, or of another user.
  let isReadOnly: Bool

  /// Opens a file. A new file has mode 0600, as do the files that SQLite creates beside it.
  init(path: String, access: RingStore.Access = .writing) throws(StoreError) {
    do throws(FileError) {
      isReadOnly = try Self.prepare(path, access)
    } catch {
      throw .file(error)
    }
    var handle: OpaquePointer?
    let flags =
      SQLITE_OPEN_FULLMUTEX | (isReadOnly ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE)
    let status = sqlite3_open_v2(isReadOnly ? Self.immutable(path) : path, &handle, flags, nil)
    guard status == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw .database(doing: "opening \(path)", message: message)
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, Self.openingPatience)
  }

  /// Creates the file if it is opened for writing, and verifies that it is a regular file: SQLite would wait forever for a
  /// FIFO.
  ///
  /// - Returns: whether it can only be read
  private static func prepare(_ path: String, _ access: RingStore.Access) throws(FileError) -> Bool {
    if access == .writing {
      guard try OutputFile(path: path).isRegular else { throw FileError(path, .notRegular) }
      return false
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileError(path, .system(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(path, .notRegular) }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0
  }

  /// If SQLite cannot create files beside it, it must be opened as immutable.
  private static func immutable(_ path: String) -> String {
    let kept = Set("/-_.~".utf8)
    let name = path.utf8.map { byte in
      let isPlain =
        kept.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.string(CollectionOfOne(byte))
    }
    return "file:\(name.joined())?immutable=1"
  }

  /// Disables waiting for other processes.
  func stopWaiting() { sqlite3_busy_timeout(handle, 0) }

  deinit {
    sqlite3_close_v2(handle)
  }

  /// Runs statements without results.
  func run(_ sql: String) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(doing: sql) }
  }

  func prepare(_ sql: String) throws(StoreError) -> Statement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw error(doing: sql)
    }
    return Statement(statement, of: self, sql: sql)
  }

  /// Runs `body` in one transaction.
  func transaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  /// The number of rows that the last statement wrote.
  var changes: Int { Int(sqlite3_changes(handle)) }

  var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

  func error(doing: String) -> StoreError {
    sqlite3_errcode(handle) & 0xFF == SQLITE_BUSY
      ? .busy : .database(doing: doing, message: String(cString: sqlite3_errmsg(handle)))
  }
}
