import CSQLite

/// An open SQLite file. Errors carry SQLite's own words.
final class Database {
  private let handle: OpaquePointer

  /// Opens a file, or makes it. Writers wait for each other for five seconds.
  init(path: String) throws(StoreError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &handle, flags, nil)
    guard status == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw .database(doing: "opening \(path)", message: message)
    }
    self.handle = handle
    sqlite3_busy_timeout(handle, 5000)
  }

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

  /// Runs `body` whole or not at all.
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

  /// How many rows the last statement has written.
  var changes: Int { Int(sqlite3_changes(handle)) }

  var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

  func error(doing: String) -> StoreError {
    .database(doing: doing, message: String(cString: sqlite3_errmsg(handle)))
  }
}
