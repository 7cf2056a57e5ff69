import ATT
import HaloBluetoothCore
import HaloGATT

/// An attribute of a server as a row of a table: its type, value and permissions (Core Specification Vol 3, Part F,
/// 3.2).
public struct ServerAttribute: Hashable, Sendable {
  /// The ways in which a client may use the value.
  public struct Access: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It may be read.
    public static let read = Access(rawValue: 1)
    /// It may be written by requests.
    public static let write = Access(rawValue: 2)
    /// It may be written by commands.
    public static let writeCommand = Access(rawValue: 4)

    /// What the properties of a characteristic promise.
    public init(_ properties: CharacteristicProperties) {
      self = []
      if properties.contains(.read) { insert(.read) }
      if properties.contains(.write) { insert(.write) }
      if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    }
  }

  /// Its place in the table.
  public var handle: AttributeHandle
  /// What it is.
  public var type: BluetoothUUID
  /// How it may be used.
  public var access: Access
  /// What a link needs before it is read.
  public var readSecurity: SecurityRequirement
  /// What a link needs before it is written.
  public var writeSecurity: SecurityRequirement
  /// In the byte order of the wire. That of a configuration belongs to each client, and is not kept here.
  public var value: [UInt8]
  /// The most bytes that may be written.
  public var capacity: Int
  /// The last handle of the service that this attribute declares.
  public var groupEnd: AttributeHandle?
  /// What this descriptor can enable, if it is a Client Characteristic Configuration: 1 notify, 2 indicate.
  public var configuration: UInt8?

  public init(
    handle: AttributeHandle, type: BluetoothUUID, access: Access = .read, value: [UInt8] = [],
    capacity: Int = 0, groupEnd: AttributeHandle? = nil, configuration: UInt8? = nil,
    readSecurity: SecurityRequirement = .none, writeSecurity: SecurityRequirement = .none
  ) {
    self.handle = handle
    self.type = type
    self.access = access
    self.value = value
    self.capacity = capacity
    self.groupEnd = groupEnd
    self.configuration = configuration
    self.readSecurity = readSecurity
    self.writeSecurity = writeSecurity
  }
}
