import BluetoothCore
import RingLink

/// The data of rings, in one SQLite file. Rows are never stored twice and never deleted, even if a ring loses its data or
/// reports less than before.
///
/// Times are the ring's wall clock (`RingTime`); each ``SyncID`` identifies which wall clock that was.
public final class RingStore {
  /// A ring in the store.
  public struct RingID: Hashable, Sendable {
    let row: Int
  }

  /// One sync of a ring.
  public struct SyncID: Hashable, Sendable {
    let row: Int
    let ring: RingID
  }

  /// A ring, as it was last seen.
  public struct StoredRing: Hashable, Sendable {
    public var id: RingID
    public var address: BluetoothAddress?
    public var name: String?
    /// The name of the firmware, if it was read.
    public var firmware: String?
  }

  /// How a store is opened.
  public enum Access: Sendable {
    /// For writing; a missing store is created.
    case writing
    /// For reading; it must exist, and may be on a read-only file system.
    case reading
  }

  let database: Database

  /// Opens a store.
  ///
  /// - Throws: `.foreign` if the file is not a store, `.newer`, `.file`
  public init(path: String, access: Access = .writing) throws(StoreError) {
    database = try Database(path: path, access: access)
    // The file is untrusted: do not run its views and triggers, and detect damaged pages.
    try database.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    try Schema.check(database)
    if !database.isReadOnly {
      // Readers and a writer do not block each other, and commits survive a power failure.
      try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
      try Schema.migrate(database)
    }
    database.stopWaiting()
  }

  /// The ring with an address; adds it if it is missing.
  public func ring(
    _ address: BluetoothAddress, name: String?, firmware: String?
  ) throws(StoreError) -> RingID {
    let type = Statement.Value.text(address.kind == .public ? "public" : "random")
    try database.prepare(
      """
      INSERT INTO rings (address, address_type, name, firmware) VALUES (?, ?, ?, ?)
      ON CONFLICT (address, address_type) DO UPDATE
      SET name = coalesce(excluded.name, name), firmware = coalesce(excluded.firmware, firmware)
      """
    ).run(.text(address.description), type, .text(name), .text(firmware))
    let rows = try database.prepare("SELECT id FROM rings WHERE address = ? AND address_type = ?")
      .rows(.text(address.description), type) { RingID(row: $0.integer(0)) }
    guard let id = rows.first else { throw .database(doing: "adding a ring", message: "it is not there") }
    return id
  }

  /// All rings, in the order in which they were added.
  public func rings() throws(StoreError) -> [StoredRing] {
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
  ///   - firmware: the name of the firmware, if known
  public func beginSync(
    _ ring: RingID, at time: Int, policy: TimePolicy, offset: Int, firmware: String?
  ) throws(StoreError) -> SyncID {
    try database.prepare(
      "INSERT INTO syncs (ring, started, policy, utc_offset, firmware) VALUES (?, ?, ?, ?, ?)"
    ).run(
      .integer(ring.row), .integer(time), .text(policy.rawValue), .integer(offset), .text(firmware))
    return SyncID(row: Int(database.lastRow), ring: ring)
  }

  /// Marks a sync as complete.
  public func finish(_ sync: SyncID, at time: Int) throws(StoreError) {
    try database.prepare("UPDATE syncs SET finished = ? WHERE id = ?").run(.integer(time), .integer(sync.row))
  }
}
