import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloRingStore
import RingLink

/// The local store: a file with the data of rings.
enum StoreFile {
  static let option = Option(
    "--store", as: .file(.writes),
    help: """
      the SQLite file (default: $HALO_STORE, else $XDG_DATA_HOME/halo-raw/rings.sqlite, else ~/.local/share/...; \
      virtual-rings.sqlite for rings that are simulated or replayed)
      """
  ).inEnvironment("HALO_STORE")

  /// Selects the store, for a command that opens no adapter.
  static let adapter = Option(
    "-i", "--adapter", as: .adapter,
    help:
      "whose rings: with virtual or replay:FILE, the store of those (default: $HALO_ADAPTER, else that of real rings)"
  ).inEnvironment("HALO_ADAPTER")

  /// Opens the store. Folders are only created for the default file.
  ///
  /// - Parameters:
  ///   - invocation: may name the file
  ///   - access: a missing store is only created for writing, and only if `creates`
  ///   - creates: whether to create a missing store
  ///   - isReal: whether the data is of real rings; that of others has a file of its own
  static func open(
    _ invocation: Invocation, creates: Bool, access: RingStore.Access? = nil, isReal: Bool = true
  ) throws -> RingStore {
    let named = invocation[option]
    let name = isReal ? realName : virtualName
    guard let path = named ?? UserFolders.data.map({ $0 + name }) else {
      throw Failure.usage("found no home directory for the store; give a file with --store FILE")
    }
    if creates, named == nil, let folder = UserFolders.data {
      do throws(FileError) {
        try PrivateFolder.make(folder)
      } catch {
        throw Failure(
          .cannotOpenFile, "cannot create a folder for the store: \(error); give a file with --store FILE")
      }
    } else if !creates, Glibc.access(path, F_OK) != 0, errno == ENOENT {
      throw Failure(
        .cannotOpenFile,
        "cannot find the store \(path.printable); create it with halo-raw sync" + hint(named == nil && isReal)
      )
    }
    return try RingStore(path: path, access: access ?? (creates ? .writing : .reading))
  }

  private static let realName = "/rings.sqlite"
  private static let virtualName = "/virtual-rings.sqlite"

  /// Says where the data of simulated rings is, if there is any.
  private static func hint(_ isOfRealRings: Bool) -> String {
    guard isOfRealRings, let path = UserFolders.data.map({ $0 + virtualName }),
      Glibc.access(path, F_OK) == 0
    else { return "" }
    return "; the data of virtual rings is in \(path.printable): add --adapter virtual"
  }
}

/// The value of `work` on another thread, so that a slow disk does not block the loop. While another process has the store
/// locked, `work` is retried for ten seconds. A cancelled task does not wait for the disk.
@BluetoothActor
func storeRetry<Value: Sendable>(
  _ work: @autoclosure @escaping () throws(StoreError) -> Value
) async throws(Failure) -> Value {
  nonisolated(unsafe) let work = work
  let deadline = SystemClock.monotonic + .seconds(10)
  while true {
    let result = await offTheLoop { Result { () throws(StoreError) in try work() } }
    switch result {
    case .success(let value): return value
    case .failure(.busy) where SystemClock.monotonic < deadline:
      await EpollLoop.shared.timers.sleep(for: .milliseconds(50))
    case .failure(let error): throw Failure(error)
    case nil: throw Failure(.interrupted, "cancelled; what was read before is stored")
    }
  }
}

/// The stored data of the selected rings.
struct StoredHistory {
  let store: RingStore
  /// The selected rings.
  let rings: [RingStore.StoredRing]

  /// - Parameters:
  ///   - invocation: may name a ring and the file
  ///   - all: whether all rings are selected
  ///   - access: how the file is opened
  /// - Throws: if there is no such ring in the store, or several
  init(_ invocation: Invocation, all: Bool = false, access: RingStore.Access = .reading) throws {
    store = try StoreFile.open(
      invocation, creates: false, access: access, isReal: try invocation.adapter.isReal)
    if all {
      rings = try store.rings()
      return
    }
    let selector = try invocation.ring() ?? .anyRing
    let all = try store.rings()
    let meant = all.filter { selector.isMeant(name: $0.name, address: $0.address) }
    guard let ring = meant.first, meant.count == 1 else {
      let names = all.map { "\($0.name ?? "(no name)") \($0.address?.description ?? "")" }.joined(
        separator: ", ")
      throw Failure(
        .notFound,
        meant.isEmpty
          ? "no such ring in the store; it has \(names.isEmpty ? "none" : names)"
          : "the store has several rings: \(names); name one")
    }
    rings = [ring]
  }

  /// The data of the first selected ring.
  ///
  /// - Parameters:
  ///   - kind: the kind of data
  ///   - days: nil for all
  func records(_ kind: HistoryKind, in days: ClosedRange<RingDay>?) throws -> HistoryRecords {
    guard let ring = rings.first else { return .stress([]) }
    return try store.records(kind, of: ring.id, in: days)
  }

  /// The origins of records of a ring, in the same order.
  ///
  /// - Throws: if the numbers of both differ: they are read from one file, which may be damaged
  func origins(
    of records: HistoryRecords, _ ring: RingStore.StoredRing, in days: ClosedRange<RingDay>? = nil
  ) throws -> [RingStore.Origin] {
    let origins = try store.origins(records.kind, of: ring.id, in: days)
    guard origins.count == records.count else {
      throw Failure(
        .badData, "the store is damaged: \(records.kind.rawValue) has records without a sync; restore a copy")
    }
    return origins
  }

  /// Prints a kind of data of all selected rings.
  ///
  /// - Parameter days: nil for all
  func export(
    _ kind: HistoryKind, _ format: OutputFormat, in days: ClosedRange<RingDay>? = nil, isLabelled: Bool
  ) throws {
    var printer = HistoryPrinter(format, kind, isLabelled: isLabelled, hasOrigins: true)
    for ring in rings {
      let records = try store.records(kind, of: ring.id, in: days)
      printer.print(records, try origins(of: records, ring, in: days), of: ring.address?.description ?? "")
      guard format == .jsonl else { continue }
      InvalidRecords.print(try store.invalidRecords(kind, of: ring.id), of: ring.address?.description)
    }
  }
}
