import Foundation
internal import HaloKnownDevices
internal import HaloRaw
internal import HaloSystemCalls

/// What a manager with a restore identifier does: stored off the queues of the program, and taken up at the next start of
/// the program.
final class Restoration: Sendable {
  private struct Shared {
    /// What is stored.
    var record: CentralRestoration
    /// What the delegate has not been called with.
    var unreported: CentralRestoration?
    /// The scan that waits for the adapter.
    var waitingScan: CentralRestoration.Scan?
    /// What is about to be written.
    var unwritten: CentralRestoration?
  }

  private let path: String
  private let shared: Guarded<Shared>

  /// Reads what the manager did last.
  ///
  /// - Returns: nil if there is no identifier, or no place to store anything
  init?(folder: String?, options: [String: Any]?) {
    guard let folder, let identifier = options?[CBCentralManagerOptionRestoreIdentifierKey] as? String else {
      return nil
    }
    path = folder + "/restoration.json"
    let program = ProcessInfo.processInfo.processName
    // What another manager of this process stores last comes first.
    PeripheralStore.finishWriting()
    let record =
      CentralRestoration.stored(program: program, identifier: identifier, path: path, report: reportMisuse)
      ?? CentralRestoration(program: program, identifier: identifier)
    shared = Guarded(
      Shared(record: record, unreported: record.isEmpty ? nil : record, waitingScan: record.scan))
  }

  /// The connections that are stored.
  var peripherals: [CentralRestoration.Peripheral] { shared.withLock { $0.record.peripherals } }

  /// Stores a change of what the manager does.
  func change(_ body: (inout CentralRestoration) -> Void) {
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
      guard let record = shared.withLock({ $0.unwritten.take() }) else { return }
      record.store(path: path, report: reportMisuse)
    }
  }

  /// Forgets the scan, also one that waits for the adapter.
  func giveUpScan() {
    shared.withLock { $0.waitingScan = nil }
    change { $0.scan = nil }
  }

  /// What the delegate is called with before the first state.
  func takeUnreported() -> CentralRestoration? { shared.withLock { $0.unreported.take() } }

  func takeScan() -> CentralRestoration.Scan? { shared.withLock { $0.waitingScan.take() } }
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
