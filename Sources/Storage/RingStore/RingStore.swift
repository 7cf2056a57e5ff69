import HaloBluetoothCore
import RingLink

/// The data of rings, in one SQLite file. Rows are never stored twice and never deleted, even if a ring loses its data or
/// reports less than before.
///
/// Times are the ring's wall clock (`RingTime`); each ``SyncID`` identifies which wall clock that was.
package final class RingStore {
  /// A ring in the store.
  package struct RingID: Hashable, Sendable {
    let row: Int
  }

  /// One sync of a ring.
  package struct SyncID: Hashable, Sendable {
    let row: Int
    let ring: RingID
    /// The ring's clock minus UTC, in seconds.
    let offset: Int
    /// When the clock was set to this offset, in seconds since 1970 UTC, if that is known, and its offset before.
    let change: Change?

    struct Change: Hashable, Sendable {
      var time: Int
      var offsetBefore: Int
    }

    /// The offset of the clock that a record was made with. Records that are older than the clock's setting have the
    /// offset before.
    func offset(of time: RingTime) -> Int {
      guard let change, time.seconds - offset < change.time else { return offset }
      return change.offsetBefore
    }
  }

  /// Which clock and which firmware a record is from.
  package struct Origin: Hashable, Sendable {
    /// The ring's clock minus UTC, in seconds.
    package var utcOffset: Int
    package var firmware: String?
    /// The wall clock that the ring had.
    package var policy: TimePolicy
  }

  /// A ring, as it was last seen.
  package struct StoredRing: Hashable, Sendable {
    package var id: RingID
    package var address: BluetoothAddress?
    package var name: String?
    /// The name of the firmware, if it was read.
    package var firmware: String?
  }

  /// How a store is opened.
  package enum Access: Sendable {
    /// For writing; a missing store is created.
    case writing
    /// For reading; it must exist, and may be where nothing can be written. Reads use a copy of the present store.
    case reading
  }

  let database: Database<StoreError>

  /// The file.
  package var path: String { database.path }

  /// Opens a store.
  ///
  /// - Throws: `.foreign` if the file is not a store, `.newer`, `.file`
  package init(path: String, access: Access = .writing) throws(StoreError) {
    database = try Database<StoreError>(path: path, isWritten: access == .writing)
    try Schema.check(database)
    if access == .writing { try database.useWriteAheadLog() }
    try database.run("PRAGMA foreign_keys = ON")
    // If an older store is only read, its copy is migrated.
    try Schema.migrate(database)
    database.stopWaiting()
  }

  /// The ring with an address; adds it if it is missing.
  package func ring(
    _ address: BluetoothAddress, name: String?, firmware: String?
  ) throws(StoreError) -> RingID {
    let type = Statement<StoreError>.Value.text(address.kind == .public ? "public" : "random")
    try database.prepare(
      """
      INSERT INTO rings (address, address_type, name, firmware) VALUES (?, ?, ?, ?)
      ON CONFLICT (address, address_type) DO UPDATE
      SET name = coalesce(excluded.name, name), firmware = coalesce(excluded.firmware, firmware)
      """
    ).run(.text(address.description), type, .text(name), .text(firmware))
    let rows = try database.prepare("SELECT id FROM rings WHERE address = ? AND address_type = ?")
      .rows(.text(address.description), type) { RingID(row: $0.integer(0)) }
    guard let id = rows.first else { throw .database(database.path, message: "the ring was not added") }
    return id
  }

  /// All rings, in the order in which they were added.
  package func rings() throws(StoreError) -> [StoredRing] {
    try database.prepare("SELECT id, address, address_type, name, firmware FROM rings ORDER BY id").rows {
      StoredRing(
        id: RingID(row: $0.integer(0)),
        address: BluetoothAddress("\($0.text(1) ?? "")/\($0.text(2) ?? "")"), name: $0.text(3),
        firmware: $0.text(4))
    }
  }

  /// Begins a sync of a ring.
  ///
  /// - Parameters:
  ///   - ring: from ``ring(_:name:firmware:)``
  ///   - time: in seconds since 1970 UTC
  ///   - policy: the wall clock of the ring
  ///   - offset: that wall clock minus UTC, in seconds
  ///   - clockSet: when it was set to this offset, in seconds since 1970 UTC; nil if that is unknown
  ///   - firmware: the name of the firmware, if known
  package func beginSync(
    _ ring: RingID, at time: Int, policy: TimePolicy, offset: Int, clockSet: Int? = nil, firmware: String?
  ) throws(StoreError) -> SyncID {
    var change: SyncID.Change?
    if let clockSet {
      let before = try database.prepare(
        "SELECT utc_offset FROM syncs WHERE ring = ? AND started < ? ORDER BY id DESC LIMIT 1"
      ).rows(.integer(ring.row), .integer(clockSet)) { $0.integer(0) }
      change = before.first.map { SyncID.Change(time: clockSet, offsetBefore: $0) }
    }
    try database.prepare(
      "INSERT INTO syncs (ring, started, policy, utc_offset, firmware) VALUES (?, ?, ?, ?, ?)"
    ).run(
      .integer(ring.row), .integer(time), .text(policy.rawValue), .integer(offset), .text(firmware))
    return SyncID(row: Int(database.lastRow), ring: ring, offset: offset, change: change)
  }

  /// Marks a sync as complete.
  package func finish(_ sync: SyncID, at time: Int) throws(StoreError) {
    try database.prepare("UPDATE syncs SET finished = ? WHERE id = ?").run(.integer(time), .integer(sync.row))
  }

  /// Deletes a ring and all of its data, in one transaction.
  package func delete(_ ring: RingID) throws(StoreError) {
    try database.transaction { () throws(StoreError) in
      let tables = HistoryKind.allCases.map { Schema.table(of: $0).name }
      for table in tables + ["complete_days", "odd_records", "syncs"] {
        try database.prepare("DELETE FROM \(table) WHERE ring = ?").run(.integer(ring.row))
      }
      try database.prepare("DELETE FROM rings WHERE id = ?").run(.integer(ring.row))
    }
  }

  /// How much is stored of a ring.
  package struct Extent: Hashable, Sendable {
    /// The number of records; a night is one.
    package var records = 0
    /// The times of the first and the last record, on the ring's clock.
    package var first: String?
    package var last: String?
    /// When the last sync began, in seconds since 1970 UTC.
    package var lastSync: Int?
  }

  /// Counts the stored records of a ring.
  package func extent(of ring: RingID) throws(StoreError) -> Extent {
    var extent = Extent()
    for kind in HistoryKind.allCases {
      let (table, _, column) = Schema.table(of: kind)
      let sql = "SELECT count(*), min(\(column)), max(\(column)) FROM \(table) WHERE ring = ?"
      let rows = try database.prepare(sql).rows(.integer(ring.row)) {
        ($0.integer(0), $0.text(1), $0.text(2))
      }
      guard let (count, first, last) = rows.first, count > 0 else { continue }
      extent.records += count
      extent.first = [extent.first, first].compactMap { $0 }.min()
      extent.last = [extent.last, last].compactMap { $0 }.max()
    }
    let syncs = try database.prepare("SELECT count(*), max(started) FROM syncs WHERE ring = ?")
      .rows(.integer(ring.row)) { ($0.integer(0), $0.integer(1)) }
    extent.lastSync = syncs.first.flatMap { $0.0 > 0 ? $0.1 : nil }
    return extent
  }
}
