import BluetoothCore
import CSQLite

/// A prepared statement, which can run any number of times.
final class Statement {
  /// The value of a parameter or a column.
  enum Value {
    case integer(Int)
    case text(String?)
  }

  private let handle: OpaquePointer
  private let database: Database
  private let sql: String

  init(_ handle: OpaquePointer, of database: Database, sql: String) {
    self.handle = handle
    self.database = database
    self.sql = sql
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Runs it for its effect.
  ///
  /// - Returns: the number of rows written
  @discardableResult
  func run(_ values: Value...) throws(StoreError) -> Int { try run(values) }

  @discardableResult
  func run(_ values: [Value]) throws(StoreError) -> Int {
    try bind(values)
    defer { sqlite3_reset(handle) }
    guard sqlite3_step(handle) == SQLITE_DONE else { throw database.error(doing: sql) }
    return database.changes
  }

  /// Runs it for its rows.
  ///
  /// - Throws: what SQLite or `read` throws
  func rows<Row>(
    _ values: Value..., read: (borrowing Columns) throws(StoreError) -> Row?
  ) throws(StoreError) -> [Row] {
    try bind(values)
    defer { sqlite3_reset(handle) }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if let row = try read(Columns(handle: handle)) { rows.append(row) }
      case SQLITE_DONE: return rows
      default: throw database.error(doing: sql)
      }
    }
  }

  /// The columns of a row, by index.
  struct Columns: ~Copyable {
    fileprivate let handle: OpaquePointer

    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    /// A number that must be in a range; SQLite does not enforce it.
    func integer(_ column: Int32, in range: ClosedRange<Int>) throws(StoreError) -> Int {
      let number = integer(column)
      guard sqlite3_column_type(handle, column) == SQLITE_INTEGER, range.contains(number) else {
        let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "value"
        throw .impossible(column: name, value: String((text(column) ?? "nothing").printable.prefix(40)))
      }
      return number
    }

    func text(_ column: Int32) -> String? { sqlite3_column_text(handle, column).map { String(cString: $0) } }
  }

  private func bind(_ values: [Value]) throws(StoreError) {
    // SQLite must copy the text: the pointer is valid only during the call.
    let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, value) in values.enumerated() {
      let place = Int32(index + 1)
      let status =
        switch value {
        case .integer(let number): sqlite3_bind_int64(handle, place, Int64(number))
        case .text(nil): sqlite3_bind_null(handle, place)
        case .text(let text?): sqlite3_bind_text(handle, place, text, -1, copy)
        }
      guard status == SQLITE_OK else { throw database.error(doing: sql) }
    }
  }
}

extension Statement.Value: ExpressibleByIntegerLiteral {
  init(integerLiteral value: Int) { self = .integer(value) }
}
