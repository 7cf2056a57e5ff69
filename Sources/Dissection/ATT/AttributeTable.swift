import ATT
import BluetoothCore
import GATTClient

/// The attributes of one server, as far as they were discovered. Bounded: once it is full, new handles are not added.
public struct AttributeTable: Sendable {
  /// More than any known device has.
  static let capacity = 4096

  public private(set) var attributes: [AttributeHandle: Attribute] = [:]
  /// The handles of characteristic values, in order.
  private var values: [AttributeHandle] = []

  public subscript(handle: AttributeHandle) -> Attribute? {
    guard var attribute = attributes[handle] else { return nil }
    if attribute.kind == .descriptor, let value = values.last(where: { $0 < handle }) {
      attribute.owner = attributes[value]?.uuid
    }
    return attribute
  }

  private mutating func learn(_ handle: AttributeHandle, _ attribute: Attribute) {
    guard attributes.count < Self.capacity || attributes[handle] != nil else { return }
    if attribute.kind == .value, attributes[handle]?.kind != .value {
      values.insert(handle, at: values.firstIndex { $0 > handle } ?? values.endIndex)
    }
    attributes[handle] = attribute
  }

  mutating func learnService(_ range: HandleRange, _ uuid: BluetoothUUID) {
    learn(range.start, Attribute(.service(range), uuid))
  }

  /// Reads the value of a characteristic declaration (Vol 3, Part G, 3.3.1).
  mutating func learnDeclaration(_ handle: AttributeHandle, _ value: [UInt8]) {
    guard let (properties, valueHandle, uuid) = Self.declaration(value) else { return }
    learn(handle, Attribute(.declaration, uuid, properties: properties))
    learn(valueHandle, Attribute(.value, uuid, properties: properties))
  }

  /// The attributes discovered before the capture.
  mutating func learn(_ device: Dissector.KnownDevice) {
    for characteristic in device.characteristics {
      let (uuid, properties) = (characteristic.uuid, characteristic.properties)
      learn(characteristic.declaration, Attribute(.declaration, uuid, properties: properties))
      learn(characteristic.valueHandle, Attribute(.value, uuid, properties: properties))
    }
    for descriptor in device.descriptors { learn(descriptor.handle, Attribute(.descriptor, descriptor.uuid)) }
  }

  mutating func learnInclude(_ handle: AttributeHandle) {
    learn(handle, Attribute(.include, GATTUUID.include))
  }

  /// Adds a handle and its type from a Find Information response.
  mutating func learnType(_ handle: AttributeHandle, _ type: BluetoothUUID) {
    guard attributes[handle] == nil else { return }
    switch type {
    case GATTUUID.primaryService, GATTUUID.secondaryService:
      learn(handle, Attribute(.service(HandleRange(handle, handle)), type))
    case GATTUUID.characteristic: learn(handle, Attribute(.declaration, type))
    case GATTUUID.include: learnInclude(handle)
    default:
      // The value follows the declaration.
      let isValue =
        handle.rawValue > 1 && attributes[AttributeHandle(handle.rawValue - 1)]?.kind == .declaration
      learn(handle, Attribute(isValue ? .value : .descriptor, type))
    }
  }

  /// A value that was read by its type.
  mutating func learnValue(_ handle: AttributeHandle, _ type: BluetoothUUID) {
    if attributes[handle] == nil { learn(handle, Attribute(.value, type)) }
  }

  static func declaration(
    _ value: [UInt8]
  ) -> (properties: CharacteristicProperties, value: AttributeHandle, uuid: BluetoothUUID)? {
    value.withReader { reader in
      guard let properties = try? reader.readUInt8(), let handle = try? reader.readUInt16(), handle > 0,
        let uuid = try? BluetoothUUID(parsing: &reader, length: reader.remaining)
      else { return nil }
      return (CharacteristicProperties(rawValue: properties), AttributeHandle(handle), uuid)
    }
  }
}
