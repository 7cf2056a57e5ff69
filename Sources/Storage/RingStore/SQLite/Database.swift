import HaloSystem

/// The reason for which a database cannot be used, in the words of its contents.
package protocol DatabaseFailure: Error {
  /// An error of SQLite with this file.
  static func database(_ path: String, message: String) -> Self
  /// The same with one whose pages can't be read.
  static func damaged(_ path: String, message: String) -> Self
  /// This file is no database.
  static func foreign(_ path: String) -> Self
  /// The file, or its folder, cannot be used.
  static func file(_ error: FileError) -> Self
  /// Another process is writing to it.
  static var busy: Self { get }
  /// A value that was never written: its column, and the value.
  static func impossible(column: String, value: String) -> Self
}

extension DatabaseFailure {
  package static func damaged(_ path: String, message: String) -> Self { .database(path, message: message) }
}

/// An open SQLite file. Errors have SQLite's messages.
package final class Database<Failure: DatabaseFailure> {
  fileprivate let sqlite: SQLite3
  private let handle: OpaquePointer

  /// How long opening waits for another process that writes, in milliseconds. Later calls do not wait: see
  /// ``DatabaseFailure/busy``.
  private static var openingPatience: Int32 { 1000 }

  /// How many other processes may open a new file at the same time.
  private static var logAttempts: Int { 100 }

  /// The file, for messages.
  package let path: String
  private let isNew: Bool

  /// Opens a file. A new file has mode 0600, as do the files that SQLite creates beside it.
  ///
  /// The files beside it are untrusted, too: a rollback journal replaces any part of the file, and names another file, which
  /// SQLite deletes. So a file is refused if there is a journal. One that is only read is copied together with its log, and
  /// nothing changes in its folder; one that is written is refused if a file beside it could be another user's.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - isWritten: whether it is opened for writing, which creates a missing file
  package init(path: String, isWritten: Bool = true) throws(Failure) {
    self.path = path
    let sqlite: SQLite3
    do throws(LibraryError) { sqlite = try SQLite3.shared.get() } catch {
      throw .database(path, message: "\(error)\(error.isMissing ? "; sudo apt install libsqlite3-0" : "")")
    }
    self.sqlite = sqlite
    let copy: FileCopy?
    do throws(FileError) {
      copy = isWritten ? nil : try CompanionFiles.copy(path)
      isNew = isWritten ? try Self.prepare(path) : false
    } catch {
      throw error.reason == .beingWritten ? .busy : .file(error)
    }
    var handle: OpaquePointer?
    let status = sqlite.open(
      copy?.path ?? path, &handle, SQLite3.openFullMutex | SQLite3.openReadWrite, nil)
    guard status == SQLite3.ok, let handle else {
      let message = handle.flatMap { sqlite.errorMessage($0) }.map { String(cString: $0) } ?? "out of memory"
      _ = sqlite.close(handle)
      throw .database(path, message: message)
    }
    // SQLite opens for reading what it cannot open for writing, and leaves its files beside it.
    guard sqlite.isReadOnly(handle, nil) == 0 else {
      _ = sqlite.close(handle)
      throw .database(path, message: "it cannot be opened for writing; try again")
    }
    self.handle = handle
    _ = sqlite.busyTimeout(handle, Self.openingPatience)
    // The file is untrusted: do not run its views and triggers, and detect damaged pages.
    try run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    if let copy { try takeOver(copy) }
  }

  /// Creates the file, and verifies that it is a regular file: SQLite would wait forever for a FIFO.
  ///
  /// - Returns: whether it is empty
  private static func prepare(_ path: String) throws(FileError) -> Bool {
    let file = try OutputFile(path: path)
    guard file.isRegular else { throw FileError(path, .notRegular) }
    try CompanionFiles.check(beside: path)
    return try file.length == 0
  }

  /// Moves the contents of a copy's log into the copy, which from then on needs no name: its folder is deleted.
  private func takeOver(_ copy: FileCopy) throws(Failure) {
    defer { withExtendedLifetime(copy) {} }
    try verifyFormat()
    // SQLite keeps the lock then, and does not look for a journal again.
    try run(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; "
        + "SELECT count(*) FROM sqlite_schema")
  }

  /// Reads the file for the first time.
  ///
  /// - Throws: `.foreign` if it is not a database
  package func verifyFormat() throws(Failure) {
    guard
      sqlite.execute(handle, "PRAGMA application_id; SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        != SQLite3.ok
    else { return }
    throw sqlite.errorCode(handle) & 0xFF == SQLite3.notADatabase ? .foreign(path) : error
  }

  /// Uses a write-ahead log, with which readers and a writer do not block each other. Commits survive a power failure.
  package func useWriteAheadLog() throws(Failure) {
    try run("PRAGMA synchronous = FULL")
    do throws(Failure) {
      try setWriteAheadLog()
    } catch {
      if isNew { emptyIfTorn() }
      throw error
    }
    // SQLite has opened the files beside this one by now: another user may have made them after they were looked for.
    do throws(FileError) { try CompanionFiles.check(beside: path) } catch { throw .file(error) }
  }

  /// Empties a file that is shorter than its first page, as the disk was full when it was made: SQLite would take it for damaged.
  private func emptyIfTorn() {
    guard let file = try? OutputFile(path: path), let length = try? file.length, length < Self.pageSize else {
      return
    }
    try? file.truncate()
  }

  /// In bytes, as SQLite chooses it for new files.
  private static var pageSize: Int { 4096 }

  private func setWriteAheadLog() throws(Failure) {
    // The change of a new file is one page, and needs no journal, which would stay if the program is killed now.
    // Another process may have made the change already.
    if isNew { try? run("PRAGMA journal_mode = MEMORY") }
    // SQLite does not wait for another process that writes before it changes the mode. A write waits.
    for _ in 0..<Self.logAttempts {
      do throws(Failure) {
        return try run("PRAGMA journal_mode = WAL")
      } catch {
        guard sqlite.errorCode(handle) & 0xFF == SQLite3.busy else { throw error }
        try transaction {}
      }
    }
    try run("PRAGMA journal_mode = WAL")
  }

  /// Disables waiting for other processes.
  package func stopWaiting() { _ = sqlite.busyTimeout(handle, 0) }

  deinit {
    _ = sqlite.close(handle)
  }

  /// Runs statements without results.
  package func run(_ sql: String) throws(Failure) {
    guard sqlite.execute(handle, sql, nil, nil, nil) == SQLite3.ok else { throw error }
  }

  package func prepare(_ sql: String) throws(Failure) -> Statement<Failure> {
    var statement: OpaquePointer?
    guard sqlite.prepare(handle, sql, -1, &statement, nil) == SQLite3.ok, let statement else {
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
  package var changes: Int { Int(sqlite.changes(handle)) }

  package var lastRow: Int64 { sqlite.lastRow(handle) }

  /// The last error.
  package var error: Failure {
    let message = sqlite.errorMessage(handle).map { String(cString: $0) } ?? "out of memory"
    return switch sqlite.errorCode(handle) & 0xFF {
    case SQLite3.busy: .busy
    case SQLite3.corrupt: .damaged(path, message: message)
    default: .database(path, message: message)
    }
  }
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

  private var sqlite: SQLite3 { database.sqlite }

  fileprivate init(_ handle: OpaquePointer, of database: Database<Failure>) {
    self.handle = handle
    self.database = database
  }

  deinit {
    _ = sqlite.finalize(handle)
  }

  /// Runs it for its effect.
  ///
  /// - Returns: the number of rows written
  @discardableResult
  package func run(_ values: Value...) throws(Failure) -> Int { try run(values) }

  @discardableResult
  package func run(_ values: [Value]) throws(Failure) -> Int {
    try bind(values)
    defer { _ = sqlite.reset(handle) }
    guard sqlite.step(handle) == SQLite3.done else { throw database.error }
    return database.changes
  }

  /// Runs it for its rows.
  ///
  /// - Throws: the errors of SQLite and of `read`
  @inline(never)  // The optimizer of Swift 6.3 ends with a signal where it inlines this.
  package func rows<Row>(
    _ values: Value..., read: (borrowing Columns) throws(Failure) -> Row?
  ) throws(Failure) -> [Row] {
    try bind(values)
    defer { _ = sqlite.reset(handle) }
    var rows: [Row] = []
    while true {
      switch sqlite.step(handle) {
      case SQLite3.row: if let row = try read(Columns(sqlite: sqlite, handle: handle)) { rows.append(row) }
      case SQLite3.done: return rows
      default: throw database.error
      }
    }
  }

  /// The columns of a row, by index.
  package struct Columns: ~Copyable {
    fileprivate let sqlite: SQLite3
    fileprivate let handle: OpaquePointer

    package func integer(_ column: Int32) -> Int { Int(sqlite.columnInt64(handle, column)) }

    /// A number that must be in a range; SQLite does not enforce it.
    package func integer(_ column: Int32, in range: ClosedRange<Int>) throws(Failure) -> Int {
      let number = integer(column)
      guard sqlite.columnType(handle, column) == SQLite3.integer, range.contains(number) else {
        throw impossible(column)
      }
      return number
    }

    package func isNull(_ column: Int32) -> Bool { sqlite.columnType(handle, column) == SQLite3.null }

    /// The same, or nil.
    package func optionalInteger(_ column: Int32, in range: ClosedRange<Int>) throws(Failure) -> Int? {
      isNull(column) ? nil : try integer(column, in: range)
    }

    /// A decimal number in units of 10^-places; in these units it must be in a range.
    package func decimal(_ column: Int32, places: Int, in range: ClosedRange<Int>) throws(Failure) -> Int {
      let type = sqlite.columnType(handle, column)
      var number = sqlite.columnDouble(handle, column)
      for _ in 0..<places { number *= 10 }
      guard type == SQLite3.float || type == SQLite3.integer,
        let whole = Int(exactly: number.rounded()),
        range.contains(whole)
      else { throw impossible(column) }
      return whole
    }

    private func impossible(_ column: Int32) -> Failure {
      let name = sqlite.columnName(handle, column).map { String(cString: $0) } ?? "value"
      return .impossible(column: name, value: String((text(column) ?? "nothing").printable.prefix(40)))
    }

    package func text(_ column: Int32) -> String? {
      sqlite.columnText(handle, column).map { String(cString: $0) }
    }

    package func bytes(_ column: Int32) -> [UInt8] {
      let start = sqlite.columnBlob(handle, column)
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite.columnBytes(handle, column))))
    }
  }

  private func bind(_ values: [Value]) throws(Failure) {
    // SQLite must copy the text: the pointer is valid only during the call.
    let copy = unsafeBitCast(-1, to: SQLite3.Destructor.self)
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let status =
        switch value {
        case .optionalInteger(nil): sqlite.bindNull(handle, place)
        case .integer(let number), .optionalInteger(let number?):
          sqlite.bindInt64(handle, place, Int64(number))
        case .decimal(let number, let places):
          sqlite.bindDouble(
            handle, place, Double(number) / (0..<places).reduce(1.0) { unit, _ in unit * 10 })
        case .text(nil): sqlite.bindNull(handle, place)
        case .text(let text?): sqlite.bindText(handle, place, text, -1, copy)
        case .bytes(let bytes): sqlite.bindBlob(handle, place, bytes, Int32(bytes.count), copy)
        }
      guard status == SQLite3.ok else { throw database.error }
    }
  }
}
