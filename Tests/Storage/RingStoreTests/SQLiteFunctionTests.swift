import CHaloSQLite
import Testing

@testable import HaloRingStore

/// What is declared in Swift is what sqlite3.h says: what no compiler checks.
@Suite struct SQLiteFunctionTests {
  @Test func functionsAreThoseOfTheHeader() {
    #expect(type(of: SQLite3.open) == type(of: sqlite3_open_v2))
    #expect(type(of: SQLite3.close) == type(of: sqlite3_close_v2))
    #expect(type(of: SQLite3.busyTimeout) == type(of: sqlite3_busy_timeout))
    #expect(type(of: SQLite3.isReadOnly) == type(of: sqlite3_db_readonly))
    #expect(type(of: SQLite3.errorCode) == type(of: sqlite3_errcode))
    #expect(type(of: SQLite3.errorMessage) == type(of: sqlite3_errmsg))
    #expect(type(of: SQLite3.execute) == type(of: sqlite3_exec))
    #expect(type(of: SQLite3.changes) == type(of: sqlite3_changes))
    #expect(type(of: SQLite3.lastRow) == type(of: sqlite3_last_insert_rowid))
    #expect(type(of: SQLite3.prepare) == type(of: sqlite3_prepare_v2))
    #expect(type(of: SQLite3.finalize) == type(of: sqlite3_finalize))
    #expect(type(of: SQLite3.step) == type(of: sqlite3_step))
    #expect(type(of: SQLite3.reset) == type(of: sqlite3_reset))
    #expect(type(of: SQLite3.bindNull) == type(of: sqlite3_bind_null))
    #expect(type(of: SQLite3.bindInt64) == type(of: sqlite3_bind_int64))
    #expect(type(of: SQLite3.bindDouble) == type(of: sqlite3_bind_double))
    #expect(type(of: SQLite3.bindText) == type(of: sqlite3_bind_text))
    #expect(type(of: SQLite3.bindBlob) == type(of: sqlite3_bind_blob))
    #expect(type(of: SQLite3.columnType) == type(of: sqlite3_column_type))
    #expect(type(of: SQLite3.columnInt64) == type(of: sqlite3_column_int64))
    #expect(type(of: SQLite3.columnDouble) == type(of: sqlite3_column_double))
    #expect(type(of: SQLite3.columnText) == type(of: sqlite3_column_text))
    #expect(type(of: SQLite3.columnBlob) == type(of: sqlite3_column_blob))
    #expect(type(of: SQLite3.columnBytes) == type(of: sqlite3_column_bytes))
    #expect(type(of: SQLite3.columnName) == type(of: sqlite3_column_name))
  }

  @Test func numbersAreThoseOfTheHeader() {
    #expect(SQLite3.ok == SQLITE_OK && SQLite3.busy == SQLITE_BUSY && SQLite3.notADatabase == SQLITE_NOTADB)
    #expect(SQLite3.corrupt == SQLITE_CORRUPT)
    #expect(SQLite3.row == SQLITE_ROW && SQLite3.done == SQLITE_DONE)
    #expect(SQLite3.openReadWrite == SQLITE_OPEN_READWRITE && SQLite3.openFullMutex == SQLITE_OPEN_FULLMUTEX)
    #expect(SQLite3.integer == SQLITE_INTEGER && SQLite3.float == SQLITE_FLOAT && SQLite3.null == SQLITE_NULL)
  }
}
