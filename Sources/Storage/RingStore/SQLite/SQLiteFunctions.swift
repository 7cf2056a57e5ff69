/// The functions and numbers of sqlite3.h that are used. They are declared here, and the header is not imported, for
/// the reason that SystemCalls/LinuxFunctions.swift gives. Tests compare them with the header.
enum SQLite3 {
  /// The function that frees a value that was bound.
  typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The function that `sqlite3_exec` calls for each row.
  typealias RowCallback =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32

  // MARK: Databases

  @_extern(c, "sqlite3_open_v2")
  static func open(
    _ path: UnsafePointer<CChar>?, _ handle: UnsafeMutablePointer<OpaquePointer?>?, _ flags: Int32,
    _ module: UnsafePointer<CChar>?
  ) -> Int32
  @_extern(c, "sqlite3_close_v2") static func close(_ handle: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_busy_timeout")
  static func busyTimeout(_ handle: OpaquePointer?, _ milliseconds: Int32) -> Int32
  @_extern(c, "sqlite3_db_readonly")
  static func isReadOnly(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> Int32
  @_extern(c, "sqlite3_errcode") static func errorCode(_ handle: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_errmsg") static func errorMessage(_ handle: OpaquePointer?) -> UnsafePointer<CChar>!
  @_extern(c, "sqlite3_exec")
  static func execute(
    _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ callback: RowCallback?,
    _ context: UnsafeMutableRawPointer?, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  ) -> Int32
  @_extern(c, "sqlite3_changes") static func changes(_ handle: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_last_insert_rowid") static func lastRow(_ handle: OpaquePointer?) -> Int64

  // MARK: Statements

  @_extern(c, "sqlite3_prepare_v2")
  static func prepare(
    _ handle: OpaquePointer?, _ sql: UnsafePointer<CChar>?, _ length: Int32,
    _ statement: UnsafeMutablePointer<OpaquePointer?>?,
    _ tail: UnsafeMutablePointer<UnsafePointer<CChar>?>?
  ) -> Int32
  @_extern(c, "sqlite3_finalize") static func finalize(_ statement: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_step") static func step(_ statement: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_reset") static func reset(_ statement: OpaquePointer?) -> Int32
  @_extern(c, "sqlite3_bind_null") static func bindNull(_ statement: OpaquePointer?, _ place: Int32) -> Int32
  @_extern(c, "sqlite3_bind_int64")
  static func bindInt64(_ statement: OpaquePointer?, _ place: Int32, _ value: Int64) -> Int32
  @_extern(c, "sqlite3_bind_double")
  static func bindDouble(_ statement: OpaquePointer?, _ place: Int32, _ value: Double) -> Int32
  @_extern(c, "sqlite3_bind_text")
  static func bindText(
    _ statement: OpaquePointer?, _ place: Int32, _ text: UnsafePointer<CChar>?, _ length: Int32,
    _ destructor: Destructor?
  ) -> Int32
  @_extern(c, "sqlite3_bind_blob")
  static func bindBlob(
    _ statement: OpaquePointer?, _ place: Int32, _ bytes: UnsafeRawPointer?, _ count: Int32,
    _ destructor: Destructor?
  ) -> Int32

  // MARK: Columns

  @_extern(c, "sqlite3_column_type")
  static func columnType(_ statement: OpaquePointer?, _ column: Int32) -> Int32
  @_extern(c, "sqlite3_column_int64")
  static func columnInt64(_ statement: OpaquePointer?, _ column: Int32) -> Int64
  @_extern(c, "sqlite3_column_double")
  static func columnDouble(_ statement: OpaquePointer?, _ column: Int32) -> Double
  @_extern(c, "sqlite3_column_text")
  static func columnText(_ statement: OpaquePointer?, _ column: Int32) -> UnsafePointer<UInt8>?
  @_extern(c, "sqlite3_column_blob")
  static func columnBlob(_ statement: OpaquePointer?, _ column: Int32) -> UnsafeRawPointer?
  @_extern(c, "sqlite3_column_bytes")
  static func columnBytes(_ statement: OpaquePointer?, _ column: Int32) -> Int32
  @_extern(c, "sqlite3_column_name")
  static func columnName(_ statement: OpaquePointer?, _ column: Int32) -> UnsafePointer<CChar>?

  // MARK: Numbers

  // Results.
  static let ok: Int32 = 0
  static let busy: Int32 = 5
  static let corrupt: Int32 = 11
  static let notADatabase: Int32 = 26
  static let row: Int32 = 100
  static let done: Int32 = 101
  // How to open.
  static let openReadWrite: Int32 = 0x2
  static let openFullMutex: Int32 = 0x10000
  // Types of columns.
  static let integer: Int32 = 1
  static let float: Int32 = 2
  static let null: Int32 = 5
}
