import HaloSystem

/// SQLite, which is loaded when a store or a queue is opened: a program that links it starts later, and fails to start where it
/// is missing.
///
/// The functions and numbers of sqlite3.h that are used are declared here, and the header is not imported, for the reason that
/// SystemCalls/LinuxFunctions.swift gives. Tests compare them with the header.
final class SQLite3: Sendable {
  /// The library, loaded at the first use, and kept until the end of the process.
  static let shared = Result { () throws(LibraryError) in try SQLite3(LoadedLibrary("libsqlite3.so.0")) }

  /// The function that frees a value that was bound.
  typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The function that `sqlite3_exec` calls for each row.
  typealias RowCallback =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32

  let open:
    @convention(c) (
      UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?, Int32, UnsafePointer<CChar>?
    ) -> Int32
  let close: @convention(c) (OpaquePointer?) -> Int32
  let busyTimeout: @convention(c) (OpaquePointer?, Int32) -> Int32
  let isReadOnly: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32
  let errorCode: @convention(c) (OpaquePointer?) -> Int32
  let errorMessage: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let execute:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, RowCallback?, UnsafeMutableRawPointer?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32
  let changes: @convention(c) (OpaquePointer?) -> Int32
  let lastRow: @convention(c) (OpaquePointer?) -> Int64
  let prepare:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32
  let finalize: @convention(c) (OpaquePointer?) -> Int32
  let step: @convention(c) (OpaquePointer?) -> Int32
  let reset: @convention(c) (OpaquePointer?) -> Int32
  let bindNull: @convention(c) (OpaquePointer?, Int32) -> Int32
  let bindInt64: @convention(c) (OpaquePointer?, Int32, Int64) -> Int32
  let bindDouble: @convention(c) (OpaquePointer?, Int32, Double) -> Int32
  let bindText: @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, Int32, Destructor?) -> Int32
  let bindBlob: @convention(c) (OpaquePointer?, Int32, UnsafeRawPointer?, Int32, Destructor?) -> Int32
  let columnType: @convention(c) (OpaquePointer?, Int32) -> Int32
  let columnInt64: @convention(c) (OpaquePointer?, Int32) -> Int64
  let columnDouble: @convention(c) (OpaquePointer?, Int32) -> Double
  let columnText: @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<UInt8>?
  let columnBlob: @convention(c) (OpaquePointer?, Int32) -> UnsafeRawPointer?
  let columnBytes: @convention(c) (OpaquePointer?, Int32) -> Int32
  let columnName: @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?

  private init(_ library: LoadedLibrary) throws(LibraryError) {
    func find<Function>(_ name: String) throws(LibraryError) -> Function {
      try library.required("sqlite3_\(name)")
    }
    open = try find("open_v2")
    close = try find("close_v2")
    busyTimeout = try find("busy_timeout")
    isReadOnly = try find("db_readonly")
    errorCode = try find("errcode")
    errorMessage = try find("errmsg")
    execute = try find("exec")
    changes = try find("changes")
    lastRow = try find("last_insert_rowid")
    prepare = try find("prepare_v2")
    finalize = try find("finalize")
    step = try find("step")
    reset = try find("reset")
    bindNull = try find("bind_null")
    bindInt64 = try find("bind_int64")
    bindDouble = try find("bind_double")
    bindText = try find("bind_text")
    bindBlob = try find("bind_blob")
    columnType = try find("column_type")
    columnInt64 = try find("column_int64")
    columnDouble = try find("column_double")
    columnText = try find("column_text")
    columnBlob = try find("column_blob")
    columnBytes = try find("column_bytes")
    columnName = try find("column_name")
  }

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
