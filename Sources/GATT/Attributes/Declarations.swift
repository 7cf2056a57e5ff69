import ATT
import HaloBluetoothCore

/// The declaration of a service (Core Specification Vol 3, Part G, 3.1): its type shows whether the service is primary, its
/// value is the UUID.
package struct ServiceDeclaration: Hashable, Sendable {
  /// The type of the service.
  package var uuid: BluetoothUUID
  /// Whether clients discover the service directly; a secondary one is only included by others.
  package var isPrimary: Bool

  package init(_ uuid: BluetoothUUID, isPrimary: Bool = true) {
    self.uuid = uuid
    self.isPrimary = isPrimary
  }

  /// Reads the attribute. Nil for another type than Primary Service (0x2800) and Secondary Service (0x2801), and for a
  /// value of another length than 2 and 16 bytes.
  package init?(type: BluetoothUUID, parsing bytes: [UInt8]) {
    guard Self.isType(type), let uuid = BluetoothUUID(wireBytes: bytes) else { return nil }
    self.init(uuid, isPrimary: type == GATTUUID.primaryService)
  }

  package static func isType(_ type: BluetoothUUID) -> Bool {
    type == GATTUUID.primaryService || type == GATTUUID.secondaryService
  }

  /// The type of the attribute.
  package var type: BluetoothUUID { isPrimary ? GATTUUID.primaryService : GATTUUID.secondaryService }
  /// The value of the attribute, least significant byte first.
  package var bytes: [UInt8] { uuid.wireBytes }
}

/// The value of an include declaration (Core Specification Vol 3, Part G, 3.2): the first and the last handle of the
/// included service (2 each, little-endian), and its UUID if that is of 16 bits.
package struct IncludeDeclaration: Hashable, Sendable {
  /// The handles of the included service.
  package var handles: HandleRange
  /// The type of the included service; nil if the declaration does not have it. Only a UUID of 16 bits is written.
  package var uuid: BluetoothUUID?

  package init(_ handles: HandleRange, _ uuid: BluetoothUUID?) {
    self.handles = handles
    self.uuid = uuid
  }

  /// Nil for another length than 4 and 6 bytes, and 20, which some servers send although it is not specified. Any
  /// handles are taken, also a range that ends before it starts.
  package init?(parsing bytes: [UInt8]) {
    guard [4, 6, 20].contains(bytes.count) else { return nil }
    let handles = bytes.withReader { reader in
      try? HandleRange(AttributeHandle(reader.readUInt16()), AttributeHandle(reader.readUInt16()))
    }
    guard let handles else { return nil }
    self.init(handles, BluetoothUUID(wireBytes: Array(bytes.dropFirst(4))))
  }

  /// The value of the attribute.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 6)
    writer.write(handles.start.rawValue)
    writer.write(handles.end.rawValue)
    if let short = uuid?.short { writer.write(short) }
    return writer.bytes
  }
}

extension BluetoothUUID {
  /// Reads the UUID in a value of an attribute, least significant byte first: 2 or 16 bytes, as ATT has no form of 32
  /// bits (Core Specification Vol 3, Part F, 3.2.1). Nil for any other length.
  package init?(wireBytes bytes: [UInt8]) {
    guard bytes.count == 2 || bytes.count == 16 else { return nil }
    let uuid = bytes.withReader { reader in try? BluetoothUUID(parsing: &reader, length: bytes.count) }
    guard let uuid else { return nil }
    self = uuid
  }

  /// The bytes in the order of an attribute's value, in the shortest form that ATT has: 2 or 16.
  package var wireBytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    write(into: &writer)
    return writer.bytes
  }
}

/// The value of a characteristic declaration (Core Specification Vol 3, Part G, 3.3.1): properties (1), the handle of
/// the characteristic's value (2, little-endian), UUID (2 or 16).
package struct CharacteristicDeclaration: Hashable, Sendable {
  package var properties: CharacteristicProperties
  package var valueHandle: AttributeHandle
  package var uuid: BluetoothUUID

  package init(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties, at valueHandle: AttributeHandle)
  {
    self.uuid = uuid
    self.properties = properties
    self.valueHandle = valueHandle
  }

  /// Nil for bytes of another length. Any handle is taken, also 0, which no attribute has.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count == 5 || bytes.count == 19 else { return nil }
    let fields = bytes.withReader { reader -> Self? in
      guard let properties = try? reader.readUInt8(), let handle = try? reader.readUInt16(),
        let uuid = try? BluetoothUUID(parsing: &reader, length: reader.remaining)
      else { return nil }
      return Self(uuid, CharacteristicProperties(rawValue: properties), at: AttributeHandle(handle))
    }
    guard let fields else { return nil }
    self = fields
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(properties.rawValue)
    writer.write(valueHandle.rawValue)
    uuid.write(into: &writer)
    return writer.bytes
  }
}

/// The value of a Client Characteristic Configuration: the kinds of values that the server sends to a client unasked (Core
/// Specification Vol 3, Part G, 3.3.3.3). Each client has its own.
package struct ClientConfiguration: OptionSet, Hashable, Sendable {
  package var rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The value is notified.
  package static let notify = ClientConfiguration(rawValue: 1)
  /// The value is indicated: the client confirms each.
  package static let indicate = ClientConfiguration(rawValue: 2)

  /// The one of the standard library looks for the conformances of this type, at each call.
  package func contains(_ other: ClientConfiguration) -> Bool { rawValue & other.rawValue == other.rawValue }

  /// The bits that a characteristic with these properties supports.
  package init(allowedBy properties: CharacteristicProperties) {
    self = []
    if properties.contains(.notify) { insert(.notify) }
    if properties.contains(.indicate) { insert(.indicate) }
  }

  /// Nil for another length than 2 bytes.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count == 2 else { return nil }
    self.init(rawValue: UInt16(bytes[1]) << 8 | UInt16(bytes[0]))
  }

  /// The value of the attribute: 2 bytes, little-endian.
  package var bytes: [UInt8] {
    [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)]
  }
}
