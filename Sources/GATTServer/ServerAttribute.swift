import ATT
import BluetoothCore
import HaloGATT

/// An attribute of a server: its type, value and permissions (Core Specification Vol 3, Part F, 3.2).
public struct ServerAttribute: Hashable, Sendable {
  public struct Access: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let read = Access(rawValue: 1)
    public static let write = Access(rawValue: 2)
    public static let writeCommand = Access(rawValue: 4)
    /// The client must be authenticated, which no client is here.
    public static let authenticated = Access(rawValue: 8)
  }

  public var handle: AttributeHandle
  public var type: BluetoothUUID
  public var access: Access
  public var value: [UInt8]
  /// The most bytes that may be written.
  public var capacity: Int
  /// The last handle of the service that this attribute declares.
  public var groupEnd: AttributeHandle?
  /// What this descriptor can enable, if it is a Client Characteristic Configuration: 1 notify, 2 indicate.
  public var configuration: UInt8?

  public init(
    handle: AttributeHandle, type: BluetoothUUID, access: Access = .read, value: [UInt8] = [],
    capacity: Int = 0, groupEnd: AttributeHandle? = nil, configuration: UInt8? = nil
  ) {
    self.handle = handle
    self.type = type
    self.access = access
    self.value = value
    self.capacity = capacity
    self.groupEnd = groupEnd
    self.configuration = configuration
  }
}

/// Builds a table of attributes, service by service, handles in rising order.
public struct ServerTable: Sendable {
  public private(set) var attributes: [ServerAttribute] = []
  private var next: UInt16 = 1
  private var service: Int?

  public init() {}

  /// Begins a service at the given handle, or after the last attribute.
  public mutating func addService(_ uuid: BluetoothUUID, at handle: UInt16? = nil, isPrimary: Bool = true) {
    if let handle { next = max(next, handle) }
    service = attributes.count
    let declaration = ServiceDeclaration(uuid, isPrimary: isPrimary)
    add(declaration.type, value: declaration.bytes)
  }

  /// Includes the service at these handles; only a 16-bit UUID is part of the declaration.
  public mutating func include(_ range: HandleRange, _ uuid: BluetoothUUID) {
    add(GATTUUID.include, value: IncludeDeclaration(range, uuid).bytes)
  }

  /// Adds declaration, value and, for a value that is notified or indicated, configuration; returns the value's handle.
  @discardableResult
  public mutating func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: [UInt8] = [], capacity: Int = 512,
    isProtected: Bool = false
  ) -> AttributeHandle {
    let declaration = CharacteristicDeclaration(uuid, properties, at: AttributeHandle(next + 1))
    add(GATTUUID.characteristic, value: declaration.bytes)
    var access: ServerAttribute.Access = isProtected ? .authenticated : []
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

  public mutating func addDescriptor(_ uuid: BluetoothUUID, value: [UInt8]) {
    add(uuid, value: value)
  }

  @discardableResult
  private mutating func add(
    _ type: BluetoothUUID, _ access: ServerAttribute.Access = .read, value: [UInt8], capacity: Int = 0
  ) -> AttributeHandle {
    let handle = AttributeHandle(next)
    attributes.append(
      ServerAttribute(handle: handle, type: type, access: access, value: value, capacity: capacity))
    if let service { attributes[service].groupEnd = handle }
    next += 1
    return handle
  }
}
