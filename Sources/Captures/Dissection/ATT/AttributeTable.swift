import ATT
import BluetoothCore
import HaloGATT
import RingLink

/// The attributes of one server, as far as they were discovered. Bounded: once it is full, new handles are not added.
public struct AttributeTable: Sendable {
  /// More than any known device has.
  static let capacity = 4096

  public private(set) var attributes: [AttributeHandle: Attribute] = [:]
  /// The handles of characteristic values, in order.
  private var values: [AttributeHandle] = []
  /// The services that were discovered.
  private var services: [(range: HandleRange, attribute: Attribute)] = []

  public subscript(handle: AttributeHandle) -> Attribute? {
    guard let attribute = attributes[handle] else { return nil }
    if let included = attribute.included, included.uuid == nil { return named(attribute, included) }
    // A descriptor belongs to a characteristic of its own service.
    guard attribute.kind == .descriptor, let value = values.last(where: { $0 < handle }),
      !services.contains(where: { $0.range.start > value && $0.range.start <= handle })
    else { return attribute }
    let owner = attributes[value]
    return Attribute(.descriptor, attribute.uuid, owner: owner?.uuid, in: owner?.service)
  }

  /// An include whose declaration has no room for the UUID of the service, with that of the service at its handle.
  private func named(_ attribute: Attribute, _ included: Attribute.Included) -> Attribute {
    guard let service = services.last(where: { $0.range.start == included.range.start }) else {
      return attribute
    }
    return Attribute(included: Attribute.Included(range: included.range, uuid: service.attribute.uuid))
  }

  /// The service that an attribute is in.
  func service(of handle: AttributeHandle) -> Attribute? {
    services.last { $0.range.contains(handle) }?.attribute
  }

  private mutating func learn(_ handle: AttributeHandle, _ attribute: Attribute) {
    guard attributes.count < Self.capacity || attributes[handle] != nil else { return }
    if attribute.kind == .value, attributes[handle]?.kind != .value {
      values.insert(handle, at: values.firstIndex { $0 > handle } ?? values.endIndex)
    }
    attributes[handle] = attribute
  }

  fileprivate mutating func learnService(_ range: HandleRange, _ uuid: BluetoothUUID) {
    let service = Attribute(.service(range), uuid)
    learn(range.start, service)
    guard services.count < Self.capacity,
      !services.contains(where: { $0.range == range && $0.attribute.uuid == uuid })
    else {
      return
    }
    services.append((range, service))
  }

  /// Reads the value of a characteristic declaration (Vol 3, Part G, 3.3.1).
  fileprivate mutating func learnDeclaration(_ handle: AttributeHandle, _ value: [UInt8]) {
    guard let declared = CharacteristicDeclaration(parsing: value), declared.valueHandle.rawValue > 0 else {
      return
    }
    let (uuid, properties, service) = (declared.uuid, declared.properties, service(of: handle)?.uuid)
    learn(handle, Attribute(.declaration, uuid, properties: properties, in: service))
    learn(declared.valueHandle, Attribute(.value, uuid, properties: properties, in: service))
  }

  /// The attributes discovered before the capture.
  mutating func learn(_ device: Dissector.KnownDevice) {
    for characteristic in device.characteristics {
      let (uuid, properties) = (characteristic.uuid, characteristic.properties)
      // Only for rings, something is known before.
      let service =
        uuid == RingGATT.commandWrite || uuid == RingGATT.commandNotify ? RingGATT.commandService : nil
      learn(characteristic.declaration, Attribute(.declaration, uuid, properties: properties, in: service))
      learn(characteristic.valueHandle, Attribute(.value, uuid, properties: properties, in: service))
    }
    for descriptor in device.descriptors { learn(descriptor.handle, Attribute(.descriptor, descriptor.uuid)) }
  }

  /// Reads the value of an include declaration (3.2): two handles, and the UUID if it is short.
  fileprivate mutating func learnInclude(_ handle: AttributeHandle, _ value: [UInt8] = []) {
    let included = value.withReader { reader in Attribute.Included(&reader) }
    learn(handle, included.map(Attribute.init(included:)) ?? Attribute(.include, GATTUUID.include))
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
  fileprivate mutating func learnValue(_ handle: AttributeHandle, _ type: BluetoothUUID) {
    if attributes[handle] == nil { learn(handle, Attribute(.value, type)) }
  }
}
