import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT
import RingLink

/// The attributes of one server with their names, as far as they were discovered. Bounded as `LearnedAttributes` is.
package struct AttributeTable: Sendable {
  var learned = LearnedAttributes(keepsValues: false)
  var inferred = InferredConfigurations()
  /// The handles of a ring that were known before the capture: their service is known, but not its range.
  private var ringHandles: Set<AttributeHandle> = []

  package var isEmpty: Bool { learned.count == 0 }
  /// The handles of the attributes, in order.
  package var handles: [AttributeHandle] { learned.handles }

  /// An attribute that was discovered, or recognized by the values written to it.
  package subscript(handle: AttributeHandle) -> Attribute? {
    guard let entry = learned[handle] else {
      return inferred.contains(handle) ? Attribute(inferredFor: inferred.sender(before: handle)) : nil
    }
    let service = serviceUUID(of: handle)
    switch entry.type {
    case GATTUUID.primaryService, GATTUUID.secondaryService:
      let range = HandleRange(handle, entry.groupEnd ?? handle)
      return Attribute(.service(range), entry.service ?? entry.type)
    case GATTUUID.include:
      var included = entry.value.flatMap(IncludeDeclaration.init(parsing:))
      // A declaration has no room for a long UUID.
      if let range = included?.handles, included?.uuid == nil {
        included?.uuid = learned[range.start]?.service
      }
      return Attribute(.include, entry.type, included: included)
    case GATTUUID.characteristic:
      let declared = entry.value.flatMap(CharacteristicDeclaration.init(parsing:))
      return Attribute(
        .declaration, declared?.uuid ?? entry.type, properties: declared?.properties, in: service)
    case let type where learned.isValue(handle):
      let properties = learned.declaration(ofValue: handle)?.properties
      let isOfGlasses = service == RingGATT.bulkService && isOfGlasses
      return Attribute(.value, type, properties: properties, in: service, isOfGlasses: isOfGlasses)
    case let type:
      let owner = learned.owner(ofDescriptor: handle)
      return Attribute(
        .descriptor, type, owner: owner.flatMap { learned[$0]?.type }, in: owner.flatMap(serviceUUID))
    }
  }

  /// Whether the services are not those of a ring: the maker's glasses have the bulk service alone, beside those of other kinds.
  private var isOfGlasses: Bool {
    let services = learned.serviceRanges.compactMap { learned[$0.start]?.service }
    return services.contains(RingGATT.bulkService) && !services.contains(RingGATT.commandService)
      && services.count > 1 && ringHandles.isEmpty
  }

  private func serviceUUID(of handle: AttributeHandle) -> BluetoothUUID? {
    if let range = learned.service(of: handle) { return learned[range.start]?.service }
    return ringHandles.contains(handle) ? RingGATT.commandService : nil
  }

  /// The service that an attribute is in.
  func service(of handle: AttributeHandle) -> Attribute? {
    learned.service(of: handle).flatMap { self[$0.start] }
  }

  /// Adds the attributes discovered before the capture.
  mutating func learn(_ device: Dissector.KnownDevice) {
    for known in device.characteristics {
      let declaration = CharacteristicDeclaration(known.uuid, known.properties, at: known.valueHandle)
      learned.insert(known.declaration, GATTUUID.characteristic, declaration.bytes)
      if known.uuid == RingGATT.commandWrite || known.uuid == RingGATT.commandNotify {
        ringHandles.formUnion([known.declaration, known.valueHandle])
      }
    }
    for descriptor in device.descriptors { learned.insert(descriptor.handle, descriptor.uuid) }
  }
}

/// The discovered properties of one handle. A class, as packets have it: only its reference is copied, and its name is made
/// once.
package final class Attribute: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service(HandleRange)
    case include
    case declaration
    case value
    case descriptor
  }

  package let kind: Kind
  /// The included service, if the declaration of the include was read.
  package let included: IncludeDeclaration?
  /// The UUID of a service or characteristic, or the type of a descriptor. An included service, or one whose UUID
  /// was not seen, has the type of the declaration.
  package let uuid: BluetoothUUID
  /// The characteristic that a descriptor belongs to.
  package let owner: BluetoothUUID?
  /// The UUID of the service that a characteristic or a descriptor is in, if the service was discovered before it.
  package let service: BluetoothUUID?
  /// Its purpose, if it belongs to a ring.
  let ringRole: RingTracker.Role
  /// The properties of a characteristic.
  package let properties: CharacteristicProperties?
  /// Whether the attribute was not discovered, but recognized by the values that are written to it.
  package let isInferred: Bool
  /// The handle of the characteristic whose values followed an inferred configuration.
  package let subscribed: AttributeHandle?
  /// `Client Characteristic Configuration of Battery Level`.
  package let name: String

  /// - Parameters:
  ///   - service: the service that it is in, if that is known
  ///   - included: the value of an include declaration, if it was read
  ///   - isOfGlasses: whether the device is no ring, though it has a ring's bulk service
  init(
    _ kind: Kind, _ uuid: BluetoothUUID, properties: CharacteristicProperties? = nil,
    owner: BluetoothUUID? = nil, in service: BluetoothUUID? = nil, included: IncludeDeclaration? = nil,
    isOfGlasses: Bool = false
  ) {
    self.kind = kind
    self.uuid = uuid
    self.properties = properties
    self.owner = owner
    self.service = service
    self.included = included
    ringRole = isOfGlasses ? .other : RingTracker.Role(uuid, in: service)
    isInferred = false
    subscribed = nil
    let own = UUIDName.ofAttribute(uuid, in: service)
    name =
      switch kind {
      case .service: "service \(UUIDName.short(uuid))"
      case .include: "include"
      case .declaration: "declaration of \(own)"
      case .value: own
      case .descriptor: own + (owner.map { " of \(UUIDName.ofAttribute($0, in: service))" } ?? "")
      }
  }

  /// A Client Characteristic Configuration that was not discovered.
  init(inferredFor subscribed: AttributeHandle?) {
    kind = .descriptor
    included = nil
    uuid = GATTUUID.clientCharacteristicConfiguration
    owner = nil
    properties = nil
    service = nil
    ringRole = .other
    isInferred = true
    self.subscribed = subscribed
    name = UUIDName.short(uuid) + (subscribed.map { " of \($0)" } ?? " (by its value)")
  }

  /// The type of its value, if the value is that of a characteristic or of a descriptor.
  package var valueType: BluetoothUUID? { kind == .value || kind == .descriptor ? uuid : nil }

  /// Name and UUID: `Battery Level (2A19)`; of an include, `includes Battery (180F), 0x0010...0x0014`.
  package var longName: String {
    if let included {
      return "includes \(included.uuid.map(UUIDName.described) ?? "a service"), \(included.handles)"
    }
    if case .service = kind { return UUIDName.described(uuid) }
    return UUIDName.ofAttribute(uuid, in: service, isLong: true)
  }

  package static func == (left: Attribute, right: Attribute) -> Bool {
    left === right
      || left.kind == right.kind && left.uuid == right.uuid && left.owner == right.owner
        && left.properties == right.properties && left.isInferred == right.isInferred
        && left.subscribed == right.subscribed && left.service == right.service
        && left.included == right.included
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(uuid)
  }
}

/// The name of a UUID.
enum UUIDName {
  private static let ring: [BluetoothUUID: String] = [
    RingGATT.commandService: "ring commands", RingGATT.bulkService: "ring bulk",
    RingGATT.bulkWrite: "ring bulk write", RingGATT.bulkNotify: "ring bulk notify",
  ]
  /// The names of characteristics with the UUIDs of Nordic's serial port in the service of a ring.
  private static let ringCommands: [BluetoothUUID: String] = [
    RingGATT.commandWrite: "ring command write", RingGATT.commandNotify: "ring command notify",
  ]

  /// A name from Assigned Numbers, or from the ring's protocol; nil for all others.
  static func name(of uuid: BluetoothUUID) -> String? {
    GATTUUID.name(of: uuid) ?? ring[uuid]
  }

  /// `Battery Level`, or the UUID where it has no name.
  static func short(_ uuid: BluetoothUUID) -> String {
    name(of: uuid) ?? uuid.description
  }

  /// The name of a characteristic or a descriptor, or its UUID.
  ///
  /// - Parameters:
  ///   - service: the service that it is in, if that is known
  ///   - isLong: whether the UUID follows the name
  static func ofAttribute(
    _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil, isLong: Bool = false
  ) -> String {
    let isCommand = service == RingGATT.commandService
    guard
      let name = GATTUUID.attributeName(of: uuid) ?? ring[uuid] ?? (isCommand ? ringCommands[uuid] : nil)
    else { return uuid.description }
    return isLong ? "\(name) (\(uuid))" : name
  }

  /// `Battery Level (2A19)`.
  static func described(_ uuid: BluetoothUUID) -> String {
    name(of: uuid).map { "\($0) (\(uuid))" } ?? uuid.description
  }
}
