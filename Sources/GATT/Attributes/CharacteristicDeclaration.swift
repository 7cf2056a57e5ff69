import ATT
import HaloBluetoothCore

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
