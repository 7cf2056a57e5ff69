import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloRingStore
import HaloViews
import RingLink

/// A format of health software.
enum HealthFormat: String, CaseIterable, Sendable {
  case healthCSV = "health-csv"
  case openMHealth = "open-mhealth"
  case gadgetbridge
  case fit
  case tcx

  /// Whether it has a place for a kind.
  func has(_ kind: HistoryKind) -> Bool {
    switch self {
    case .healthCSV: HealthTable.columns(of: kind) != nil
    case .openMHealth: OpenMHealth.has(kind)
    case .gadgetbridge: GadgetbridgeScript.has(kind)
    case .fit, .tcx: kind == .sport
    }
  }

  /// The kinds that it has a place for.
  fileprivate var names: String {
    HistoryKind.allCases.filter(has).map(\.rawValue).joined(separator: ", ")
  }
}

/// An export of the store in a format of health software.
@BluetoothActor
struct HealthExport {
  nonisolated static let output = Option(
    "--output", as: .file(.writes),
    help: "with fit and tcx: a folder, which gets a file for each session; it is created if it is missing")

  private let format: HealthFormat
  private let kinds: [HistoryKind]
  private let days: ClosedRange<RingDay>?
  private let isAll: Bool

  init(_ format: HealthFormat, _ kinds: [HistoryKind], isAll: Bool, _ days: ClosedRange<RingDay>?) {
    (self.format, self.kinds, self.isAll, self.days) = (format, kinds, isAll, days)
  }

  func run(_ invocation: Invocation, isOfAllRings: Bool) async throws {
    let isOfSessions = format == .fit || format == .tcx
    guard isOfSessions || !invocation.isGiven(Self.output) else {
      throw Failure.usage(
        "--output is for --format fit and tcx; redirect the standard output of \(format.rawValue)")
    }
    guard !isAll || format == .openMHealth || format == .gadgetbridge else {
      throw Failure.usage("\(format.rawValue) has one kind of record: export one of \(format.names)")
    }
    guard isAll || format.has(kinds[0]) else {
      throw Failure.usage("\(format.rawValue) has no place for \(kinds[0].rawValue): it has \(format.names)")
    }
    let stored = try StoredHistory(invocation, all: isOfAllRings)
    if isOfSessions { return try await exportSessions(stored, invocation[Self.output]) }
    var output = LineWriter()
    func print(_ line: String) {
      output.write(line + "\n")
      output.flush()
    }
    var table: RecordPrinter? =
      format == .healthCSV ? RecordPrinter(.csv, HealthTable.columns(of: kinds[0]) ?? []) : nil
    if format == .gadgetbridge { print(GadgetbridgeScript.beginning) }
    for ring in stored.rings {
      let address = ring.address?.description ?? ""
      for kind in kinds where format.has(kind) && kind.mayBePrinted(invocation) {
        let (records, origins) = try read(kind, of: ring, stored)
        let offsets = origins.map(\.utcOffset)
        switch format {
        case .healthCSV:
          for row in HealthTable.rows(records, offsets: offsets) { table?.print(row, text: "") }
        case .gadgetbridge:
          GadgetbridgeScript(ring: address).statements(records, offsets: offsets) { print($0) }
        case .openMHealth:
          let clock = HostClock()
          let now = ZonedTime(clock.now, utcOffset: clock.offset(atUnix: clock.unixSeconds))
          OpenMHealth(ring: address, created: now).points(records, offsets: offsets) { print($0.line) }
        case .fit, .tcx: break
        }
      }
    }
    if format == .gadgetbridge { print(GadgetbridgeScript.end) }
    let leftOut = kinds.filter { !format.has($0) }.map(\.rawValue)
    if !leftOut.isEmpty {
      Console.error("left out \(leftOut.joined(separator: ", ")): \(format.rawValue) has no place for them")
    }
  }

  private func read(
    _ kind: HistoryKind, of ring: RingStore.StoredRing, _ stored: StoredHistory
  ) throws -> (HistoryRecords, [RingStore.Origin]) {
    let records = try stored.store.records(kind, of: ring.id, in: days)
    return (records, try stored.origins(of: records, ring, in: days))
  }

  // MARK: Sessions of sport

  /// A session, with what its file needs.
  private struct Session {
    var sport: StoredSport
    var start: ZonedTime
    var serial: UInt32
  }

  private func exportSessions(_ stored: StoredHistory, _ folder: String?) async throws {
    var sessions: [Session] = []
    for ring in stored.rings {
      let (records, origins) = try read(.sport, of: ring, stored)
      guard case .sport(let sports) = records else { continue }
      // The last bytes of an address are those that differ between rings.
      let serial = UInt32(truncatingIfNeeded: ring.address?.value ?? 0)
      sessions += zip(sports, origins).map {
        Session(sport: $0, start: ZonedTime($0.time, utcOffset: $1.utcOffset), serial: serial)
      }
    }
    guard !sessions.isEmpty else {
      throw Failure(.notFound, "the store has no session of sport in these days")
    }
    if let folder { return try await write(sessions, into: folder) }
    guard format == .fit else { return Console.print(document(sessions)) }
    guard sessions.count == 1, !Console.isTerminal else {
      throw Failure.usage(
        sessions.count == 1
          ? "a FIT file is no text: redirect it, or name a folder with --output"
          : "a FIT file has one session, and there are \(sessions.count): name a folder with --output, or choose one by --from and --to"
      )
    }
    guard let file = FITActivity(sessions[0].sport, at: sessions[0].start, serial: sessions[0].serial) else {
      throw Failure(.badData, "FIT has no time such as \(sessions[0].sport.time)")
    }
    var output = LineWriter()
    output.text.write(file.bytes.span.bytes)
    output.flush()
  }

  private func document(_ sessions: [Session]) -> String {
    var document = TCXActivities()
    for session in sessions { document.add(session.sport, at: session.start) }
    return document.text
  }

  /// Writes a file for each session; one with the same name is replaced.
  private func write(_ sessions: [Session], into folder: String) async throws {
    if SystemCall.makeFolder(folder, mode: 0o700) != 0, errno != EEXIST {
      throw Failure(.cannotOpenFile, "cannot create the folder \(FileError(folder, .system(errno)))")
    }
    var names: Set<String> = []
    for session in sessions {
      let stem = "\(session.start.fileName)-\(session.sport.sport.option)"
      var name = "\(stem).\(format.rawValue)"
      // The repeated hour at the end of summer time, or another ring.
      var number = 2
      while !names.insert(name).inserted {
        name = "\(stem)-\(number).\(format.rawValue)"
        number += 1
      }
      let file = FITActivity(session.sport, at: session.start, serial: session.serial)
      guard let bytes = format == .tcx ? Array(document([session]).utf8) : file?.bytes else {
        Console.error("left out the session of \(session.sport.time): FIT has no such time")
        continue
      }
      try await WholeFile.write(bytes, to: "\(folder.hasSuffix("/") ? folder : folder + "/")\(name)")
      Console.error("wrote \(name)")
    }
  }
}
