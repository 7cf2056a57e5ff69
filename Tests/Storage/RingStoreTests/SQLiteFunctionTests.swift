import CHaloSQLite
import Testing

@testable import HaloRingStore

/// What is declared in Swift is what sqlite3.h says: what no compiler checks.
@Suite struct SQLiteFunctionTests {
  @Test func functionsAreThoseOfTheHeader() {
    let pairs: [(PartialKeyPath<SQLite3>, PartialKeyPath<halo_sqlite>)] = [
      (\.open, \.open),
      (\.close, \.close),
      (\.busyTimeout, \.busy_timeout),
      (\.isReadOnly, \.is_read_only),
      (\.errorCode, \.error_code),
      (\.errorMessage, \.error_message),
      (\.execute, \.execute),
      (\.changes, \.changes),
      (\.lastRow, \.last_row),
      (\.prepare, \.prepare),
      (\.finalize, \.finalize),
      (\.step, \.step),
      (\.reset, \.reset),
      (\.bindNull, \.bind_null),
      (\.bindInt64, \.bind_int_64),
      (\.bindDouble, \.bind_double),
      (\.bindText, \.bind_text),
      (\.bindBlob, \.bind_blob),
      (\.columnType, \.column_type),
      (\.columnInt64, \.column_int_64),
      (\.columnDouble, \.column_double),
      (\.columnText, \.column_text),
      (\.columnBlob, \.column_blob),
      (\.columnBytes, \.column_bytes),
      (\.columnName, \.column_name),
    ]
    for (ours, header) in pairs {
      #expect(type(of: ours).valueType == type(of: header).valueType, "\(ours)")
    }
  }

  @Test func numbersAreThoseOfTheHeader() {
    #expect(SQLite3.ok == SQLITE_OK && SQLite3.busy == SQLITE_BUSY && SQLite3.notADatabase == SQLITE_NOTADB)
    #expect(SQLite3.corrupt == SQLITE_CORRUPT)
    #expect(SQLite3.row == SQLITE_ROW && SQLite3.done == SQLITE_DONE)
    #expect(SQLite3.openReadWrite == SQLITE_OPEN_READWRITE && SQLite3.openFullMutex == SQLITE_OPEN_FULLMUTEX)
    #expect(SQLite3.integer == SQLITE_INTEGER && SQLite3.float == SQLITE_FLOAT && SQLite3.null == SQLITE_NULL)
  }
}
