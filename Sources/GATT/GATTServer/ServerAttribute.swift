import ATT
import HaloBluetoothCore

/// An attribute of a server as a row of a table: its type, value and permissions (Core Specification Vol 3, Part F,
/// 3.2).
package struct ServerAttribute: Hashable, Sendable {
  /// The ways in which a client may use the value.
  package struct Access: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It may be read.
    package static let read = Access(rawValue: 1)
    /// It may be written by requests.
    package static let write = Access(rawValue: 2)
    /// It may be written by commands.
    package static let writeCommand = Access(rawValue: 4)

    /// The access that the properties of a characteristic promise.
    package init(_ properties: CharacteristicProperties) {
      self = []
      if properties.contains(.read) { insert(.read) }
      if properties.contains(.write) { insert(.write) }
      if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    }
  }

  /// Its place in the table.
  package var handle: AttributeHandle
  package var type: BluetoothUUID
  /// How it may be used.
  package var access: Access
  /// The security requirements for reading.
  package var readSecurity: SecurityRequirement
  /// The security requirements for writing.
  package var writeSecurity: SecurityRequirement
  /// In the byte order of the wire. That of a configuration belongs to each client, and is not kept here.
  package var value: [UInt8]
  /// The most bytes that may be written.
  package var capacity: Int
  /// The last handle of the service that this attribute declares.
  package var groupEnd: AttributeHandle?
  /// The bits that can be set, if this is a Client Characteristic Configuration: 1 notify, 2 indicate.
  package var configuration: UInt8?

  package init(
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
