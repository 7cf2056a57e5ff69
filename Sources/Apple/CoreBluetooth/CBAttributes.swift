import Foundation
internal import HaloBluetoothCore
internal import HaloGATT

/// The base class of services, characteristics and descriptors.
open class CBAttribute: NSObject {
  open var uuid: CBUUID

  init(_ uuid: CBUUID) {
    self.uuid = uuid
    super.init()
  }
}

// MARK: Services

open class CBService: CBAttribute {
  open private(set) weak var peripheral: CBPeripheral?
  open internal(set) var isPrimary = true
  /// Nil until they are discovered.
  open internal(set) var includedServices: [CBService]?
  /// Nil until they are discovered.
  open internal(set) var characteristics: [CBCharacteristic]?

  /// As discovered, and on which link; nil for a service of this program.
  let place: (service: Service, link: PeripheralLink)?

  init(_ service: Service, on link: PeripheralLink, of peripheral: CBPeripheral, isPrimary: Bool = true) {
    place = (service, link)
    self.peripheral = peripheral
    super.init(CBUUID(service.uuid))
    self.isPrimary = isPrimary
  }

  fileprivate init(ours type: CBUUID, primary: Bool) {
    place = nil
    super.init(type)
    isPrimary = primary
  }

  open override var description: String {
    "<CBService: isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
  }
}

open class CBMutableService: CBService {
  public init(type UUID: CBUUID, primary isPrimary: Bool) {
    super.init(ours: UUID, primary: isPrimary)
  }

  open override var includedServices: [CBService]? {
    get { super.includedServices }
    set { super.includedServices = newValue }
  }
  /// Each of them knows this service from then on.
  open override var characteristics: [CBCharacteristic]? {
    get { super.characteristics }
    set {
      super.characteristics = newValue
      for characteristic in newValue ?? [] where characteristic.place == nil {
        characteristic.service = self
      }
    }
  }
}

// MARK: Characteristics

public struct CBCharacteristicProperties: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static let broadcast = Self(rawValue: 0x01)
  public static let read = Self(rawValue: 0x02)
  public static let writeWithoutResponse = Self(rawValue: 0x04)
  public static let write = Self(rawValue: 0x08)
  public static let notify = Self(rawValue: 0x10)
  public static let indicate = Self(rawValue: 0x20)
  public static let authenticatedSignedWrites = Self(rawValue: 0x40)
  public static let extendedProperties = Self(rawValue: 0x80)
  public static let notifyEncryptionRequired = Self(rawValue: 0x100)
  public static let indicateEncryptionRequired = Self(rawValue: 0x200)
}

public struct CBAttributePermissions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static let readable = Self(rawValue: 0x01)
  public static let writeable = Self(rawValue: 0x02)
  public static let readEncryptionRequired = Self(rawValue: 0x04)
  public static let writeEncryptionRequired = Self(rawValue: 0x08)
}

open class CBCharacteristic: CBAttribute {
  open fileprivate(set) weak var service: CBService?
  open internal(set) var properties: CBCharacteristicProperties
  /// The last value that was read or received.
  open internal(set) var value: Data?
  /// Nil until they are discovered.
  open internal(set) var descriptors: [CBDescriptor]?
  open internal(set) var isNotifying = false

  /// As discovered, and on which link; nil for a characteristic of this program.
  let place: (characteristic: Characteristic, link: PeripheralLink)?

  init(_ characteristic: Characteristic, on link: PeripheralLink, of service: CBService) {
    place = (characteristic, link)
    self.service = service
    properties = CBCharacteristicProperties(rawValue: UInt(characteristic.properties.rawValue))
    super.init(CBUUID(characteristic.uuid))
  }

  fileprivate init(ours type: CBUUID, properties: CBCharacteristicProperties, value: Data?) {
    place = nil
    self.properties = properties
    self.value = value
    super.init(type)
  }

  open override var description: String {
    let bytes =
      value.map { "{length = \($0.count), bytes = 0x\(Hex.string(Array($0.prefix(16))))}" } ?? "(null)"
    return "<CBCharacteristic: UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), "
      + "value = \(bytes), notifying = \(isNotifying ? "YES" : "NO")>"
  }
}

open class CBMutableCharacteristic: CBCharacteristic {
  open var permissions: CBAttributePermissions

  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?,
    permissions: CBAttributePermissions
  ) {
    self.permissions = permissions
    super.init(ours: UUID, properties: properties, value: value)
  }

  open override var properties: CBCharacteristicProperties {
    get { super.properties }
    set { super.properties = newValue }
  }
  open override var value: Data? {
    get { super.value }
    set { super.value = newValue }
  }
  /// Each of them knows this characteristic from then on.
  open override var descriptors: [CBDescriptor]? {
    get { super.descriptors }
    set {
      super.descriptors = newValue
      for descriptor in newValue ?? [] where descriptor.place == nil { descriptor.characteristic = self }
    }
  }
  /// The centrals that have subscribed. It changes on the manager's queue, before the call.
  open internal(set) var subscribedCentrals: [CBCentral]? = []
}

// MARK: Descriptors

open class CBDescriptor: CBAttribute {
  open fileprivate(set) weak var characteristic: CBCharacteristic?
  /// The last value that was read: an `NSNumber` for configurations and extended properties, an `NSString` for a user
  /// description, else `Data`.
  open internal(set) var value: Any?

  /// As discovered, and on which link; nil for a descriptor of this program.
  let place: (descriptor: Descriptor, link: PeripheralLink)?

  init(_ descriptor: Descriptor, on link: PeripheralLink, of characteristic: CBCharacteristic) {
    place = (descriptor, link)
    self.characteristic = characteristic
    super.init(CBUUID(descriptor.uuid))
  }

  fileprivate init(ours type: CBUUID, value: Any?) {
    place = nil
    self.value = value
    super.init(type)
  }

  func take(_ bytes: [UInt8]) {
    switch uuid.uuidString {
    case CBUUIDCharacteristicUserDescriptionString:
      value = NSString(string: String(decoding: bytes, as: UTF8.self))
    case CBUUIDCharacteristicExtendedPropertiesString, CBUUIDClientCharacteristicConfigurationString,
      CBUUIDServerCharacteristicConfigurationString:
      value = NSNumber(value: bytes.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
    default: value = Data(bytes)
    }
  }

  open override var description: String { "<CBDescriptor: UUID = \(uuid), value = \(value ?? "(null)")>" }
}

open class CBMutableDescriptor: CBDescriptor {
  public init(type UUID: CBUUID, value: Any?) {
    super.init(ours: UUID, value: value)
  }
}
