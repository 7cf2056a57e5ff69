import Foundation
internal import HaloSystem
internal import HaloStorage

/// The state of a manager with a restore identifier: stored off the queues of the program, and taken up at the next start of
/// the program. Of several managers that run with one identifier, in this process or in others, the first has the stored state:
/// nothing is restored to the others, and nothing of theirs is stored while it runs.
final class Restoration<Record: RestorationRecord>: Sendable {
  private struct Shared {
    /// The stored state.
    var record: Record
    /// The state with which the delegate has not been called.
    var unreported: Record?
    /// The state that waits for the adapter.
    var waiting: Record?
    /// The state that is about to be written.
    var unwritten: Record?
    /// The lock of the stored state; nil while another manager has it.
    var hold: FileLock?
  }

  private let folder: String
  private let shared: LockedValue<Shared>

  /// Reads the last state of the manager.
  ///
  /// - Returns: nil if there is no identifier, or no place to store anything
  init?(folder: String?, options: [String: Any]?) {
    // Both roles have one key.
    guard let folder, let identifier = options?[CBCentralManagerOptionRestoreIdentifierKey] as? String else {
      return nil
    }
    self.folder = folder
    let program = ProcessInfo.processInfo.processName
    // Writes of another manager of this process come first.
    PeripheralStore.finishWriting()
    let new = Record(program: program, identifier: identifier)
    var hold: FileLock?
    var isElsewhere = false
    do throws(FileError) {
      hold = try Record.hold(program: program, identifier: identifier, folder: folder)
      isElsewhere = hold == nil
      if isElsewhere {
        reportMisuse(
          "another manager runs with the restore identifier \(identifier): nothing is restored to this one, and "
            + "nothing of it is stored meanwhile")
      }
    } catch {
      reportMisuse("cannot store what the \(Record.role) manager does: \(error)")
    }
    let stored =
      isElsewhere
      ? nil
      : Record.stored(
        program: program, identifier: identifier, path: Self.path(in: folder), report: reportMisuse)
    let record = stored ?? new
    shared = LockedValue(
      Shared(record: record, unreported: record.isEmpty ? nil : record, waiting: record, hold: hold))
  }

  deinit {
    shared.withLock { $0.hold?.remove() }
  }

  private static func path(in folder: String) -> String { folder + "/\(Record.fileName)" }

  /// The stored state.
  var record: Record { shared.withLock { $0.record } }

  /// Stores a change of the manager's state.
  func change(_ body: (inout Record) -> Void) {
    let hasChanged = shared.withLock { shared in
      let before = shared.record
      body(&shared.record)
      guard shared.record != before else { return false }
      shared.unwritten = shared.record
      return true
    }
    guard hasChanged else { return }
    PeripheralStore.write { [self] in
      // Several changes in a row are written once.
      guard let record = shared.withLock({ $0.unwritten.take() }), holds(record) else { return }
      record.store(path: Self.path(in: folder), report: reportMisuse)
    }
  }

  /// Whether this manager has the stored state, also as its earlier owner is gone.
  private func holds(_ record: Record) -> Bool {
    shared.withLock { shared in
      if shared.hold == nil {
        shared.hold = try? Record.hold(
          program: record.program, identifier: record.identifier, folder: folder)
      }
      return shared.hold != nil
    }
  }

  /// The state to report to the delegate before the first manager state.
  func takeUnreported() -> Record? { shared.withLock { $0.unreported.take() } }

  /// The state that begins with the adapter; nil if it has begun, or was given up.
  func takeWaiting() -> Record? { shared.withLock { $0.waiting.take() } }
}

extension Restoration<CentralRestoration> {
  /// Forgets the scan, also one that waits for the adapter.
  func giveUpScan() {
    _ = takeWaiting()
    change { $0.scan = nil }
  }
}

extension CentralRestoration {
  /// As a delegate gets it.
  func dictionary(_ peripherals: [CBPeripheral]) -> [String: Any] {
    var state: [String: Any] = [:]
    if !peripherals.isEmpty { state[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
    if let scan {
      if let services = scan.services {
        state[CBCentralManagerRestoredStateScanServicesKey] = services.map { CBUUID($0) }
      }
      state[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
    }
    return state
  }
}

extension ScanRequest {
  init(_ scan: CentralRestoration.Scan) {
    self.init(services: scan.services?.map { CBUUID($0) }, options: scan.options)
  }
}

extension CentralRestoration.Scan {
  init(services: [CBUUID]?, options: [String: Any]?) {
    let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
    self.init(
      services: filter(services), solicitedServices: (solicited ?? []).map(\.value),
      allowsDuplicates: flag(CBCentralManagerScanOptionAllowDuplicatesKey, in: options))
  }

  /// As a program gives them.
  var options: [String: Any] {
    var options: [String: Any] = [:]
    if allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = true }
    if !solicitedServices.isEmpty {
      options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
    }
    return options
  }
}

extension PeripheralRestoration {
  /// As a delegate gets it.
  func dictionary(_ services: [CBMutableService]) -> [String: Any] {
    var state: [String: Any] = [:]
    if !services.isEmpty { state[CBPeripheralManagerRestoredStateServicesKey] = services }
    state[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement?.dictionary
    return state
  }
}
