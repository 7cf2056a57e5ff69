public import CoreBluetooth
internal import HaloSystem

/// A company's assigned number (Assigned Numbers, 7.1).
public struct ASBluetoothCompanyIdentifier: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: UInt16) {
    self.rawValue = rawValue
  }
}

/// The advertisement of an accessory. It matches if all properties that are set match; a service, a company or a part of the
/// name must be set.
open class ASDiscoveryDescriptor: NSObject, @unchecked Sendable {
  /// How near an accessory has to be. Accepted: the list shows the signal.
  public typealias Range = ASDiscoveryDescriptorRange

  /// The values, as they are stored.
  struct Fields: Hashable, Sendable {
    var service: Data?
    var company: UInt16 = 0
    var nameSubstring: String?
    var nameOptions: UInt?
    var manufacturerBlob: Data?
    var manufacturerMask: Data?
    var serviceBlob: Data?
    var serviceMask: Data?
    var options: UInt = 0
    var range = 0
  }

  private let shared: LockedValue<Fields>
  var fields: Fields { shared.withLock { $0 } }

  public override convenience init() {
    self.init(Fields())
  }

  init(_ fields: Fields) {
    shared = LockedValue(fields)
    super.init()
  }

  /// An advertised service.
  open var bluetoothServiceUUID: CBUUID? {
    get { fields.service.map { CBUUID(data: $0) } }
    set { shared.withLock { $0.service = newValue?.data } }
  }

  /// A part of the advertised name.
  open var bluetoothNameSubstring: String? {
    get { fields.nameSubstring }
    set { shared.withLock { $0.nameSubstring = newValue } }
  }

  /// How the part of the name is compared: `.caseInsensitive`, for example.
  open var bluetoothNameSubstringCompareOptions: NSString.CompareOptions {
    get { NSString.CompareOptions(rawValue: fields.nameOptions ?? 0) }
    set { shared.withLock { $0.nameOptions = newValue.rawValue } }
  }

  /// The company of the manufacturer data; 0 for any.
  open var bluetoothCompanyIdentifier: ASBluetoothCompanyIdentifier {
    get { ASBluetoothCompanyIdentifier(fields.company) }
    set { shared.withLock { $0.company = newValue.rawValue } }
  }

  /// The first bytes of the manufacturer data, behind the company.
  open var bluetoothManufacturerDataBlob: Data? {
    get { fields.manufacturerBlob }
    set { shared.withLock { $0.manufacturerBlob = newValue } }
  }

  /// The bits of the manufacturer data that are compared, as many bytes as the blob; nil for all.
  open var bluetoothManufacturerDataMask: Data? {
    get { fields.manufacturerMask }
    set { shared.withLock { $0.manufacturerMask = newValue } }
  }

  /// The first bytes of the data of the service.
  open var bluetoothServiceDataBlob: Data? {
    get { fields.serviceBlob }
    set { shared.withLock { $0.serviceBlob = newValue } }
  }

  /// The bits of the service data that are compared, as many bytes as the blob; nil for all.
  open var bluetoothServiceDataMask: Data? {
    get { fields.serviceMask }
    set { shared.withLock { $0.serviceMask = newValue } }
  }

  open var bluetoothRange: Range {
    get { Range(rawValue: fields.range) ?? .default }
    set { shared.withLock { $0.range = newValue.rawValue } }
  }

  open var supportedOptions: ASAccessory.SupportOptions {
    get { ASAccessory.SupportOptions(rawValue: fields.options) }
    set { shared.withLock { $0.options = newValue.rawValue } }
  }
}

extension ASDiscoveryDescriptor.Fields {
  /// Why nothing can match; nil if something can.
  var defect: String? {
    if service == nil, company == 0, nameSubstring?.isEmpty ?? true {
      return "a descriptor needs a service UUID, a company identifier or a part of the name"
    }
    if let service, ![2, 4, 16].contains(service.count) { return "a service UUID has 2, 4 or 16 bytes" }
    if serviceBlob != nil, service == nil { return "service data needs a service UUID" }
    if manufacturerBlob != nil, company == 0 { return "manufacturer data needs a company identifier" }
    for (blob, mask) in [(manufacturerBlob, manufacturerMask), (serviceBlob, serviceMask)] {
      if let mask, mask.count != blob?.count { return "a mask has as many bytes as its data" }
    }
    return nil
  }

  /// - Parameters:
  ///   - name: of the peripheral, as far as it is known
  ///   - data: as a delegate of CoreBluetooth gets it
  func matches(name: String?, _ data: [String: Any]) -> Bool {
    if let nameSubstring {
      let options = NSString.CompareOptions(rawValue: nameOptions ?? 0)
      guard let name = data[CBAdvertisementDataLocalNameKey] as? String ?? name,
        name.range(of: nameSubstring, options: options) != nil
      else { return false }
    }
    if company != 0 {
      guard let value = data[CBAdvertisementDataManufacturerDataKey] as? Data, value.count >= 2,
        value.starts(with: [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]),
        Self.begins(value.dropFirst(2), with: manufacturerBlob, manufacturerMask)
      else { return false }
    }
    guard let service else { return true }
    let uuid = CBUUID(data: service)
    let values = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
    let uuids = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
    if let serviceBlob {
      return values?[uuid].map { Self.begins($0, with: serviceBlob, serviceMask) } ?? false
    }
    return uuids.contains(uuid) || values?[uuid] != nil
  }

  private static func begins(_ value: Data, with blob: Data?, _ mask: Data?) -> Bool {
    guard let blob else { return true }
    let mask = mask ?? Data(repeating: 0xFF, count: blob.count)
    guard value.count >= blob.count, mask.count == blob.count else { return false }
    return zip(zip(value, blob), mask).allSatisfy { pair, mask in pair.0 & mask == pair.1 & mask }
  }
}
