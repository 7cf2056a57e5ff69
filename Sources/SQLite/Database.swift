import BluetoothCore
import CSQLite
import Files
import Glibc

/// Why a database cannot be used, in the words of what is kept in it.
package protocol DatabaseFailure: Error {
  /// An error of SQLite with this file.
  static func database(_ path: String, message: String) -> Self
  /// This file is no database.
  static func foreign(_ path: String) -> Self
  /// The file, or its folder, cannot be used.
  static func file(_ error: FileError) -> Self
  /// Another process is writing to it.
  static var busy: Self { get }
  /// A value that was never written: its column, and the value.
  static func impossible(column: String, value: String) -> Self
}

/// An open SQLite file. Errors have SQLite's messages.
package final class Database<Failure: DatabaseFailure> {
  private let handle: OpaquePointer

  /// How long opening waits for another process that writes, in milliseconds. Later calls do not wait: see
  /// ``DatabaseFailure/busy``.
  private static var openingPatience: Int32 { 1000 }

  /// How many other processes may open a new file at the same time.
  private static var logAttempts: Int { 100 }

  /// Whether the file is read-only: on a read-only file system, or of another user.
  package let isReadOnly: Bool
  /// The file, for messages.
  package let path: String

  /// Opens a file. A new file has mode 0600, as do the files that SQLite creates beside it.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - isWritten: whether it is opened for writing, which creates a missing file
  package init(path: String, isWritten: Bool = true) throws(Failure) {
    self.path = path
    do throws(FileError) {
      isReadOnly = try Self.prepare(path, isWritten)
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
      throw .database(path, message: message)
    }
    // SQLite reads what it cannot open for writing, and leaves its files beside it.
    guard isReadOnly || sqlite3_db_readonly(handle, nil) == 0 else {
      sqlite3_close_v2(handle)
      throw .database(path, message: "it cannot be opened for writing; try again")
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, Self.openingPatience)
    // The file is untrusted: do not run its views and triggers, and detect damaged pages.
    try run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
  }

  /// Creates the file if it is opened for writing, and verifies that it is a regular file: SQLite would wait forever for a
  /// FIFO.
  ///
  /// - Returns: whether it can only be read
  private static func prepare(_ path: String, _ isWritten: Bool) throws(FileError) -> Bool {
    if isWritten {
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

  /// Reads the file for the first time.
  ///
  /// - Throws: `.foreign` if it is not a database
  package func verifyFormat() throws(Failure) {
    guard
      sqlite3_exec(handle, "PRAGMA application_id; SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        != SQLITE_OK
    else { return }
    throw sqlite3_errcode(handle) & 0xFF == SQLITE_NOTADB ? .foreign(path) : error
  }

  /// Uses a write-ahead log, with which readers and a writer do not block each other. Commits survive a power failure.
  package func useWriteAheadLog() throws(Failure) {
    try run("PRAGMA synchronous = FULL")
    // SQLite does not wait for another process that writes before it changes the mode. A write waits.
    for _ in 0..<Self.logAttempts {
      do throws(Failure) {
        return try run("PRAGMA journal_mode = WAL")
      } catch {
        guard isBusy else { throw error }
        try transaction {}
      }
    }
    try run("PRAGMA journal_mode = WAL")
  }

  /// Disables waiting for other processes.
  package func stopWaiting() { sqlite3_busy_timeout(handle, 0) }

  deinit {
    sqlite3_close_v2(handle)
  }

  /// Runs statements without results.
  package func run(_ sql: String) throws(Failure) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error }
  }

  package func prepare(_ sql: String) throws(Failure) -> Statement<Failure> {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw error
    }
    return Statement(statement, of: self)
  }

  /// Runs `body` in one transaction.
  package func transaction<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(Failure) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  /// The number of rows that the last statement wrote.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  package var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The last error.
  package var error: Failure {
    isBusy ? .busy : .database(path, message: String(cString: sqlite3_errmsg(handle)))
  }

  private var isBusy: Bool { sqlite3_errcode(handle) & 0xFF == SQLITE_BUSY }
}

/// A prepared statement, which can run any number of times.
package final class Statement<Failure: DatabaseFailure> {
  /// The value of a parameter or a column.
  package enum Value: ExpressibleByIntegerLiteral {
    case integer(Int)
    case optionalInteger(Int?)
    case text(String?)
    case bytes([UInt8])
    /// In units of 10^-places.
    case decimal(Int, places: Int)

    package init(integerLiteral value: Int) { self = .integer(value) }
  }

  private let handle: OpaquePointer
  private let database: Database<Failure>

  fileprivate init(_ handle: OpaquePointer, of database: Database<Failure>) {
    self.handle = handle
    self.database = database
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Runs it for its effect.
  ///
  /// - Returns: the number of rows written
  @discardableResult
  package func run(_ values: Value...) throws(Failure) -> Int { try run(values) }

  @discardableResult
  package func run(_ values: [Value]) throws(Failure) -> Int {
    try bind(values)
    defer { sqlite3_reset(handle) }
    guard sqlite3_step(handle) == SQLITE_DONE else { throw database.error }
    return database.changes
  }

  /// Runs it for its rows.
  ///
  /// - Throws: what SQLite or `read` throws
  package func rows<Row>(
    _ values: Value..., read: (borrowing Columns) throws(Failure) -> Row?
  ) throws(Failure) -> [Row] {
    try bind(values)
    defer { sqlite3_reset(handle) }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if let row = try read(Columns(handle: handle)) { rows.append(row) }
      case SQLITE_DONE: return rows
      default: throw database.error
      }
    }
  }

  /// The columns of a row, by index.
  package struct Columns: ~Copyable {
    fileprivate let handle: OpaquePointer

    package func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    /// A number that must be in a range; SQLite does not enforce it.
    package func integer(_ column: Int32, in range: ClosedRange<Int>) throws(Failure) -> Int {
      let number = integer(column)
      guard sqlite3_column_type(handle, column) == SQLITE_INTEGER, range.contains(number) else {
        throw impossible(column)
      }
      return number
    }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The same, or nil.
    package func optionalInteger(_ column: Int32, in range: ClosedRange<Int>) throws(Failure) -> Int? {
      isNull(column) ? nil : try integer(column, in: range)
    }

    /// A decimal number in units of 10^-places; in these units it must be in a range.
    package func decimal(_ column: Int32, places: Int, in range: ClosedRange<Int>) throws(Failure) -> Int {
      let type = sqlite3_column_type(handle, column)
      var number = sqlite3_column_double(handle, column)
      for _ in 0..<places { number *= 10 }
      guard type == SQLITE_FLOAT || type == SQLITE_INTEGER, let whole = Int(exactly: number.rounded()),
        range.contains(whole)
      else { throw impossible(column) }
      return whole
    }

    private func impossible(_ column: Int32) -> Failure {
      let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "value"
      return .impossible(column: name, value: String((text(column) ?? "nothing").printable.prefix(40)))
    }

    package func text(_ column: Int32) -> String? {
      sqlite3_column_text(handle, column).map { String(cString: $0) }
    }

    package func bytes(_ column: Int32) -> [UInt8] {
      let start = sqlite3_column_blob(handle, column)
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
  }

  private func bind(_ values: [Value]) throws(Failure) {
    // SQLite must copy the text: the pointer is valid only during the call.
    let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let status =
        switch value {
        case .optionalInteger(nil): sqlite3_bind_null(handle, place)
        case .integer(let number), .optionalInteger(let number?):
          sqlite3_bind_int64(handle, place, Int64(number))
        case .decimal(let number, let places):
          sqlite3_bind_double(
            handle, place, Double(number) / (0..<places).reduce(1.0) { unit, _ in unit * 10 })
        case .text(nil): sqlite3_bind_null(handle, place)
        case .text(let text?): sqlite3_bind_text(handle, place, text, -1, copy)
        case .bytes(let bytes): sqlite3_bind_blob(handle, place, bytes, Int32(bytes.count), copy)
        }
      guard status == SQLITE_OK else { throw database.error }
    }
  }
}
