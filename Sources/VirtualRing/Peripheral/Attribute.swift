import ATT
import BluetoothCore
import GATTClient

/// An attribute of a server: its type, value and permissions (Core Specification Vol 3, Part F, 3.2).
struct Attribute {
  struct Access: OptionSet {
    let rawValue: UInt8
    static let read = Access(rawValue: 1)
    static let write = Access(rawValue: 2)
    static let writeCommand = Access(rawValue: 4)
    /// The client must be authenticated, which no client is here.
    static let authenticated = Access(rawValue: 8)
  }

  var handle: AttributeHandle
  var type: BluetoothUUID
  var access: Access = .read
  var value: [UInt8] = []
  /// The most bytes that may be written.
  var capacity = 0
  /// The last handle of the service that this attribute declares.
  var groupEnd: AttributeHandle?
  /// What this descriptor can enable, if it is a Client Characteristic Configuration: 1 notify, 2 indicate.
  var configuration: UInt8?
}

/// Builds a table of attributes, service by service, handles in rising order.
struct AttributeTable {
  /// The properties in a characteristic's declaration (Vol 3, Part G, 3.3.1.1).
  struct Properties: OptionSet {
    let rawValue: UInt8
    static let read = Properties(rawValue: 0x02)
    static let writeWithoutResponse = Properties(rawValue: 0x04)
    static let write = Properties(rawValue: 0x08)
    static let notify = Properties(rawValue: 0x10)
    static let indicate = Properties(rawValue: 0x20)
  }

  private(set) var attributes: [Attribute] = []
  private var next: UInt16 = 1
  private var service: Int?

  /// Begins a service at the given handle, or after the last attribute.
  mutating func addService(_ uuid: BluetoothUUID, at handle: UInt16? = nil, isPrimary: Bool = true) {
    if let handle { next = max(next, handle) }
    service = attributes.count
    add(isPrimary ? GATTUUID.primaryService : GATTUUID.secondaryService, value: uuid.wireBytes)
  }

  /// Includes the service at these handles; only a 16-bit UUID is part of the declaration.
  mutating func include(_ range: HandleRange, _ uuid: BluetoothUUID) {
    var writer = ByteWriter()
    writer.write(range.start.rawValue)
    writer.write(range.end.rawValue)
    if let short = uuid.short { writer.write(short) }
    add(GATTUUID.include, value: writer.bytes)
  }

  /// Adds declaration, value and, for a value that is notified or indicated, configuration; returns the value's handle.
  @discardableResult
  mutating func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: Properties, value: [UInt8] = [], capacity: Int = 512,
    isProtected: Bool = false
  ) -> AttributeHandle {
    var writer = ByteWriter()
    writer.write(properties.rawValue)
    writer.write(next + 1)
    uuid.write(into: &writer)
    add(GATTUUID.characteristic, value: writer.bytes)
    var access: Attribute.Access = isProtected ? .authenticated : []
    if properties.contains(.read) { access.insert(.read) }
    if properties.contains(.write) { access.insert(.write) }
    if properties.contains(.writeWithoutResponse) { access.insert(.writeCommand) }
    let handle = add(uuid, access, value: value, capacity: capacity)
    let configuration = properties.rawValue >> 4 & 3
    if configuration != 0 {
      add(GATTUUID.clientCharacteristicConfiguration, [.read, .write], value: [0, 0], capacity: 2)
      attributes[attributes.count - 1].configuration = configuration
    }
    return handle
  }

  mutating func addDescriptor(_ uuid: BluetoothUUID, value: [UInt8]) {
    add(uuid, value: value)
  }

  @discardableResult
  private mutating func add(
    _ type: BluetoothUUID, _ access: Attribute.Access = .read, value: [UInt8], capacity: Int = 0
  ) -> AttributeHandle {
    let handle = AttributeHandle(next)
    attributes.append(
      Attribute(handle: handle, type: type, access: access, value: value, capacity: capacity))
    if let service { attributes[service].groupEnd = handle }
    next += 1
    return handle
  }
}

extension BluetoothUUID {
  /// The bytes in the order of an attribute's value.
  var wireBytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    write(into: &writer)
    return writer.bytes
  }
}
