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

/// The discovered properties of one handle. A class, as packets have it: only its reference is copied, and its name is made
/// once.
public final class Attribute: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case service(HandleRange)
    case include
    case declaration
    case value
    case descriptor
  }

  /// The service that an include declaration refers to.
  public struct Included: Hashable, Sendable {
    public var range: HandleRange
    /// Nil if it is not known.
    public var uuid: BluetoothUUID?

    init(range: HandleRange, uuid: BluetoothUUID?) {
      self.range = range
      self.uuid = uuid
    }

    /// Reads the value of a declaration; nil if it is none.
    init?(_ reader: inout ByteReader) {
      guard reader.remaining == 4 || reader.remaining == 6, let first = try? reader.readUInt16(),
        let last = try? reader.readUInt16()
      else { return nil }
      range = HandleRange(AttributeHandle(first), AttributeHandle(last))
      uuid = (try? reader.readUInt16()).map { BluetoothUUID($0) }
    }
  }

  public let kind: Kind
  /// The included service, if the declaration of the include was read.
  public let included: Included?
  /// The UUID of a service or characteristic, or the type of a descriptor. An included service, or one whose UUID
  /// was not seen, has the type of the declaration.
  public let uuid: BluetoothUUID
  /// The characteristic that a descriptor belongs to.
  public let owner: BluetoothUUID?
  /// The UUID of the service that a characteristic or a descriptor is in, if the service was discovered before it.
  public let service: BluetoothUUID?
  /// What it is for, if it belongs to a ring.
  let ringRole: RingTracker.Role
  /// The properties of a characteristic.
  public let properties: CharacteristicProperties?
  /// Whether the attribute was not discovered, but recognized by the values that are written to it.
  public let isInferred: Bool
  /// The handle of the characteristic whose values followed an inferred configuration.
  public let subscribed: AttributeHandle?
  /// `Client Characteristic Configuration of Battery Level`.
  public let name: String

  /// - Parameter service: the service that it is in, if that is known
  init(
    _ kind: Kind, _ uuid: BluetoothUUID, properties: CharacteristicProperties? = nil,
    owner: BluetoothUUID? = nil, in service: BluetoothUUID? = nil
  ) {
    included = nil
    self.kind = kind
    self.uuid = uuid
    self.properties = properties
    self.owner = owner
    self.service = service
    ringRole = RingTracker.Role(uuid, in: service)
    isInferred = false
    subscribed = nil
    let own: String
    if case .service = kind {
      own = UUIDName.short(uuid)
    } else {
      own = UUIDName.ofAttribute(uuid, in: service)
    }
    name =
      switch kind {
      case .service: "service \(own)"
      case .include: "include"
      case .declaration: "declaration of \(own)"
      case .value: own
      case .descriptor: own + (owner.map { " of \(UUIDName.ofAttribute($0, in: service))" } ?? "")
      }
  }

  /// An include declaration that was read.
  init(included: Included) {
    kind = .include
    uuid = GATTUUID.include
    self.included = included
    owner = nil
    properties = nil
    service = nil
    ringRole = .other
    isInferred = false
    subscribed = nil
    name = "include"
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
  var valueType: BluetoothUUID? { kind == .value || kind == .descriptor ? uuid : nil }

  /// Name and UUID: `Battery Level (2A19)`; of an include, `includes Battery (180F), 0x0010...0x0014`.
  public var longName: String {
    if let included {
      return "includes \(included.uuid.map(UUIDName.described) ?? "a service"), \(included.range)"
    }
    if case .service = kind { return UUIDName.described(uuid) }
    return UUIDName.ofAttribute(uuid, in: service, isLong: true)
  }

  public static func == (left: Attribute, right: Attribute) -> Bool {
    left === right
      || left.kind == right.kind && left.uuid == right.uuid && left.owner == right.owner
        && left.properties == right.properties && left.isInferred == right.isInferred
        && left.subscribed == right.subscribed && left.service == right.service
        && left.included == right.included
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(uuid)
  }
}

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class Server {
  /// The most configurations that are inferred.
  private static let inferredCapacity = 64

  @exclusivity(unchecked) var table = AttributeTable()
  /// Attributes that were not discovered, but are written as Client Characteristic Configurations are; with the handle
  /// of the characteristic whose values followed.
  @exclusivity(unchecked) private var inferred: [AttributeHandle: AttributeHandle?] = [:]
  /// The number of those without such a handle.
  @exclusivity(unchecked) private var unconfirmed = 0

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = table[handle] { return attribute }
    guard !inferred.isEmpty, let subscribed = inferred[handle] else { return nil }
    return Attribute(inferredFor: subscribed)
  }

  /// Two bytes that switch notifications or indications on, written to an unknown attribute: a Client Characteristic
  /// Configuration (Core Specification Vol 3, Part G, 3.3.3.3).
  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    guard let handle, value.byteCount == 2, value.byte(at: 1) == 0, let bits = value.byte(at: 0),
      (1...3).contains(bits), table.attributes[handle] == nil, inferred[handle] == nil,
      inferred.count < Self.inferredCapacity
    else { return }
    inferred[handle] = .some(nil)
    unconfirmed += 1
  }

  /// A value is sent by the characteristic before the configuration: it was subscribed to.
  func noteValue(_ handle: AttributeHandle?) {
    guard unconfirmed > 0, let handle, table.attributes[handle] == nil else { return }
    // Other descriptors may be between them.
    for distance in UInt16(1)...4 where handle.rawValue <= .max - distance {
      let descriptor = AttributeHandle(handle.rawValue + distance)
      guard case .some(nil) = inferred[descriptor] else { continue }
      inferred[descriptor] = handle
      unconfirmed -= 1
      return
    }
  }

  /// Adds the attributes in a response.
  ///
  /// - Returns: the first handle of a request that would continue the procedure; nil if it is complete
  func learn(_ pdu: ATTPDU, _ request: GATTTracker.Request) -> AttributeHandle? {
    var last: AttributeHandle?
    switch pdu {
    case .readByGroupTypeResponse(let entries):
      for entry in entries {
        let uuid = entry.value.withReader { try? BluetoothUUID(parsing: &$0, length: entry.value.count) }
        if let uuid { table.learnService(entry.group, uuid) }
      }
      last = entries.last?.group.end
    case .findByTypeValueResponse(let ranges):
      if let uuid = request.service { for range in ranges { table.learnService(range, uuid) } }
      last = ranges.last?.end
    case .readByTypeResponse(let entries):
      for entry in entries {
        switch request.type {
        case GATTUUID.characteristic?: table.learnDeclaration(entry.handle, entry.value)
        case GATTUUID.include?: table.learnInclude(entry.handle, entry.value)
        case let type?: table.learnValue(entry.handle, type)
        case nil: break
        }
      }
      last = entries.last?.handle
    case .findInformationResponse(let entries):
      for entry in entries { table.learnType(entry.handle, entry.type) }
      last = entries.last?.handle
    case .readResponse, .readBlobResponse, .prepareWriteResponse: return request.handle
    default: return nil
    }
    // A response that reaches the end of the range completes the procedure.
    guard let last, last != request.range?.end else { return nil }
    return last.next
  }
}

/// The name of a UUID.
enum UUIDName {
  private static let ring: [BluetoothUUID: String] = [
    RingGATT.commandService: "ring commands", RingGATT.bulkService: "ring bulk",
    RingGATT.bulkWrite: "ring bulk write", RingGATT.bulkNotify: "ring bulk notify",
  ]
  /// What characteristics with the UUIDs of Nordic's serial port are in the service of a ring.
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
