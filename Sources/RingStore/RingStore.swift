import BluetoothCore
import RingLink

/// Everything that rings had stored, in one SQLite file of this machine. What is added twice is there once, and what is
/// there is never lost: a ring that forgets, or that tells less than before, takes nothing away.
///
/// Times are the ring's wall clock (``RingTime``); which wall clock that was stands with each ``SyncID``.
public final class RingStore {
  /// A ring in the store.
  public struct RingID: Hashable, Sendable {
    let row: Int
  }

  /// One time that a ring was read.
  public struct SyncID: Hashable, Sendable {
    let row: Int
    let ring: RingID
  }

  /// A ring, as it was last seen.
  public struct StoredRing: Hashable, Sendable {
    public var id: RingID
    public var address: BluetoothAddress?
    public var name: String?
    public var firmware: String?
  }

  /// What a store is opened for.
  public enum Access: Sendable {
    /// It is made if it is not there.
    case writing
    /// It has to be there, and may be where nothing can be written.
    case reading
  }

  let database: Database

  /// Opens a store.
  ///
  /// - Throws: `.foreign` if the file is another program's, `.newer`, `.file`
  public init(path: String, access: Access = .writing) throws(StoreError) {
    database = try Database(path: path, access: access)
    // The file may be a stranger's: its views and triggers are not run, and damaged pages are found.
    try database.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    try Schema.check(database)
    if !database.isReadOnly {
      // Readers and a writer do not disturb each other, and what was committed survives a power cut.
      try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
      try Schema.migrate(database)
    }
    database.stopWaiting()
  }

  /// The ring with an address, which is added if it is not there.
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

  /// All rings, the first one that was added first.
  public func rings() throws(StoreError) -> [StoredRing] {
    try database.prepare("SELECT id, address, address_type, name, firmware FROM rings ORDER BY id").rows {
      StoredRing(
        id: RingID(row: $0.integer(0)),
        address: BluetoothAddress("\($0.text(1) ?? "")/\($0.text(2) ?? "")"), name: $0.text(3),
        firmware: $0.text(4))
    }
  }

  /// Begins to read a ring.
  ///
  /// - Parameters:
  ///   - time: in seconds since 1970 UTC
  ///   - policy: which wall clock the ring has
  ///   - offset: how far that is ahead of UTC, in seconds
  public func beginSync(
    _ ring: RingID, at time: Int, policy: TimePolicy, offset: Int, firmware: String?
  ) throws(StoreError) -> SyncID {
    try database.prepare(
      "INSERT INTO syncs (ring, started, policy, utc_offset, firmware) VALUES (?, ?, ?, ?, ?)"
    ).run(
      .integer(ring.row), .integer(time), .text(policy.rawValue), .integer(offset), .text(firmware))
    return SyncID(row: Int(database.lastRow), ring: ring)
  }

  /// Everything was read.
  public func finish(_ sync: SyncID, at time: Int) throws(StoreError) {
    try database.prepare("UPDATE syncs SET finished = ? WHERE id = ?").run(.integer(time), .integer(sync.row))
  }
}
