import Foundation
internal import HaloBluetoothCore
internal import HaloRaw

/// The scan of a program, and the peripherals that it has reported: each scan reports peripherals anew.
struct ScanRequest: Sendable {
  private let services: [BluetoothUUID]?
  private let solicitedServices: [BluetoothUUID]
  private let allowsDuplicates: Bool
  /// Whether a scan response was part of the last report.
  private var reported: [PeerIdentity: Bool] = [:]

  /// Neighbourhoods with more devices are reported in part twice.
  private static let maximumReported = 4096

  init(services: [CBUUID]?, options: [String: Any]?) {
    self.services = filter(services)
    let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
    solicitedServices = (solicited ?? []).map(\.value)
    allowsDuplicates = flag(CBCentralManagerScanOptionAllowDuplicatesKey, in: options)
  }

  /// - Returns: whether to report the device now
  mutating func takes(_ advertisement: Advertisement) -> Bool {
    let hasResponse = advertisement.scanResponse != nil
    // A device that answers scan requests is reported with its answer, which has the name in many cases.
    guard hasResponse || !advertisement.eventType.contains(.scannable) || advertisement.reportCount > 1,
      advertisement.advertisingData != nil, matches(advertisement)
    else { return false }
    let before = reported[advertisement.identity]
    if before == nil, reported.count >= Self.maximumReported { reported = [:] }
    reported[advertisement.identity] = hasResponse
    return allowsDuplicates || before == nil || before == false && hasResponse
  }

  private func matches(_ advertisement: Advertisement) -> Bool {
    if services == nil, solicitedServices.isEmpty { return true }
    if let services, !Set(services).isDisjoint(with: advertisement.serviceUUIDs) { return true }
    return !Set(solicitedServices).isDisjoint(with: advertisement.solicitedServiceUUIDs)
  }
}

/// The service UUIDs that a program scans for; nil for all. An empty list is no filter, as on Apple's systems.
func filter(_ uuids: [CBUUID]?) -> [BluetoothUUID]? {
  guard let uuids, !uuids.isEmpty else { return nil }
  return uuids.map(\.value)
}

/// A Bool of options, also as an NSNumber.
func flag(_ key: String, in options: [String: Any]?) -> Bool {
  options?[key] as? Bool ?? (options?[key] as? NSNumber)?.boolValue ?? false
}

extension Advertisement {
  fileprivate var solicitedServiceUUIDs: [BluetoothUUID] {
    (advertisingData?.solicitedServiceUUIDs ?? []) + (scanResponse?.solicitedServiceUUIDs ?? [])
  }

  /// As a delegate gets it.
  var dictionary: [String: Any] {
    var values: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)]
    if let localName { values[CBAdvertisementDataLocalNameKey] = localName }
    if let txPower { values[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: Int(txPower)) }
    // As they were sent: a UUID that is repeated stays repeated.
    let services = (advertisingData?.serviceUUIDs ?? []) + (scanResponse?.serviceUUIDs ?? [])
    if !services.isEmpty { values[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    let solicited = solicitedServiceUUIDs
    if !solicited.isEmpty {
      values[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicited.map { CBUUID($0) }
    }
    if !serviceData.isEmpty {
      let pairs = serviceData.map { (CBUUID($0.service), Data($0.data)) }
      values[CBAdvertisementDataServiceDataKey] = Dictionary(pairs) { first, _ in first }
    }
    let structures = (advertisingData?.structures ?? []) + (scanResponse?.structures ?? [])
    for case .manufacturerData(let company, let bytes) in structures.reversed() {
      let number = company.rawValue
      values[CBAdvertisementDataManufacturerDataKey] = Data(
        [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] + bytes)
    }
    return values
  }
}
