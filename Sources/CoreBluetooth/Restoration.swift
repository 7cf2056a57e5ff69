import Foundation
internal import HaloRaw

/// Stores what a manager with a restore identifier does, off the queues of the program, for the next start of the program.
final class RestorationStore: Sendable {
  private let path: String
  private let program: String
  private let identifier: String
  private let waiting = Guarded<CentralRestoration?>(nil)

  /// - Returns: nil if there is no identifier, or no place to store anything
  init?(folder: String?, options: [String: Any]?) {
    guard let folder, let identifier = options?[CBCentralManagerOptionRestoreIdentifierKey] as? String else {
      return nil
    }
    path = folder + "/restoration.json"
    program = ProcessInfo.processInfo.processName
    self.identifier = identifier
  }

  /// What the manager did last; empty if there is nothing.
  func load() -> CentralRestoration {
    // What another manager of this process stores last comes first.
    PeripheralStore.finishWriting()
    return CentralRestoration.stored(
      program: program, identifier: identifier, path: path, report: reportMisuse)
      ?? CentralRestoration(program: program, identifier: identifier)
  }

  func save(_ restoration: CentralRestoration) {
    waiting.withLock { $0 = restoration }
    PeripheralStore.write { [self] in
      // Several changes in a row are written once.
      guard let restoration = waiting.withLock({ $0.take() }) else { return }
      restoration.store(path: path, report: reportMisuse)
    }
  }
}

/// What a manager does, and what it has to do again.
struct Restorable {
  /// What is stored.
  private(set) var record: CentralRestoration
  /// What the delegate has not been called with.
  private var unreported: CentralRestoration?
  /// The connections and the scan that wait for the adapter.
  private var waiting: CentralRestoration?

  init(_ record: CentralRestoration) {
    self.record = record
    unreported = record.isEmpty ? nil : record
    waiting = unreported
  }

  /// - Returns: what to store; nil if nothing has changed
  mutating func change(_ body: (inout CentralRestoration) -> Void) -> CentralRestoration? {
    let before = record
    body(&record)
    return record == before ? nil : record
  }

  mutating func takeUnreported() -> CentralRestoration? { unreported.take() }

  mutating func takeWaiting() -> CentralRestoration? { waiting.take() }

  /// Whether a restored connection waits for the adapter.
  func isWaiting(for address: BluetoothAddress) -> Bool {
    waiting?.peripherals.contains { $0.address == address } ?? false
  }

  /// - Returns: whether it was a restored connection that waited for the adapter
  mutating func giveUp(_ address: BluetoothAddress) -> Bool {
    guard isWaiting(for: address) else { return false }
    waiting?.remove(address)
    return true
  }

  mutating func giveUpScan() { waiting?.scan = nil }
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
      services: services?.map(\.value), solicitedServices: (solicited ?? []).map(\.value),
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
