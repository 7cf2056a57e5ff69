import ATT
import BluetoothCore
import GATTServer
import HaloGATT

/// The attribute table of a recorded server, built of all discoveries, reads and subscriptions in a capture, and which
/// questions about it the capture answers.
public struct RecordedAttributes: Sendable {
  /// A question that a client asks about a range of handles.
  enum Question: Hashable {
    case information
    case group(BluetoothUUID)
    case byType(BluetoothUUID)
  }

  /// More than any known device has.
  static let capacity = 8192

  private(set) var byHandle: [AttributeHandle: ServerAttribute] = [:]
  /// Values that were seen, so that an empty value differs from an unknown one.
  private var valued: Set<AttributeHandle> = []
  private(set) var covered: [Question: [HandleRange]] = [:]
  /// The services that another one includes, by their first handles.
  var included: [AttributeHandle: HandleRange] = [:]
  /// The configuration of a characteristic that was not discovered, by its handle.
  private var inferred: [AttributeHandle: AttributeHandle] = [:]
  /// The characteristics that have one of these.
  private var configured: Set<AttributeHandle> = []
  /// The ranges of the services, and the handles of declarations and of their values, in order: see ``index()``.
  private var ranges: [HandleRange] = []
  private var declarations: [(handle: AttributeHandle, value: AttributeHandle)] = []
  /// The handles of the values of characteristics that are made up: of those that were used, and not discovered.
  public internal(set) var madeUp: [AttributeHandle] = []

  public init() {}

  /// The attributes in the order of their handles.
  public var attributes: [ServerAttribute] { byHandle.values.sorted { $0.handle < $1.handle } }
  public var isEmpty: Bool { byHandle.isEmpty }

  public subscript(handle: AttributeHandle) -> ServerAttribute? { byHandle[handle] }

  // MARK: Adding

  /// Adds attributes from elsewhere, such as a table that was read from the device later.
  ///
  /// - Parameters:
  ///   - attributes: what is added, in any order
  ///   - isComplete: whether the server has no others
  public mutating func add(_ attributes: [ServerAttribute], isComplete: Bool = true) {
    for attribute in attributes {
      insert(attribute.handle, attribute.type, attribute.value, isKnown: attribute.access.contains(.read))
      if let end = attribute.groupEnd { byHandle[attribute.handle]?.groupEnd = end }
      if !attribute.access.isEmpty { byHandle[attribute.handle]?.access = attribute.access }
      if let configuration = attribute.configuration {
        byHandle[attribute.handle]?.configuration = configuration
      }
    }
    guard isComplete else { return }
    let declarations = [
      GATTUUID.primaryService, GATTUUID.secondaryService, GATTUUID.include, GATTUUID.characteristic,
    ]
    cover(.information, .all)
    for type in declarations {
      cover(.group(type), .all)
      cover(.byType(type), .all)
    }
  }

  mutating func insert(
    _ handle: AttributeHandle, _ type: BluetoothUUID, _ value: [UInt8]? = nil, isKnown: Bool = true
  ) {
    guard handle.isValid, byHandle.count < Self.capacity || byHandle[handle] != nil else { return }
    var attribute =
      byHandle[handle]
      ?? ServerAttribute(handle: handle, type: type, access: [], capacity: ATTBearer.maximumValueLength)
    attribute.type = type
    if let value, isKnown {
      attribute.value = value
      attribute.access.insert(.read)
      valued.insert(handle)
    }
    byHandle[handle] = attribute
  }

  /// Sets the range of a service that was inserted.
  mutating func end(_ service: HandleRange) { byHandle[service.start]?.groupEnd = service.end }

  mutating func cover(_ question: Question, _ range: HandleRange) {
    guard range.isValid, covered[question, default: []].count < Self.capacity else { return }
    covered[question, default: []].append(range)
  }

  /// Adds what a write shows: two bytes on an unknown handle behind one that sends notifications are a subscription.
  /// Called when all discoveries are known.
  ///
  /// - Parameter notified: the handles that send notifications or indications in the capture
  mutating func learnConfiguration(_ handle: AttributeHandle, notified: Set<AttributeHandle>) {
    guard byHandle[handle] == nil, byHandle.count < Self.capacity / 2 else { return }
    // Other descriptors may be between them.
    for distance in UInt16(1)...4 where handle.rawValue > distance {
      let owner = AttributeHandle(handle.rawValue - distance)
      if notified.contains(owner) { return addConfiguration(handle, of: owner) }
    }
  }

  /// Adds a Client Characteristic Configuration that was not discovered.
  mutating func addConfiguration(_ handle: AttributeHandle, of owner: AttributeHandle) {
    insert(handle, GATTUUID.clientCharacteristicConfiguration)
    guard byHandle[handle] != nil else { return }
    inferred[handle] = owner
    configured.insert(owner)
  }

  /// Whether there is room for what is made up: a characteristic, and services.
  var hasRoom: Bool { byHandle.count < Self.capacity * 3 / 4 }

  /// Whether a characteristic that was not discovered has a configuration.
  func hasConfiguration(_ owner: AttributeHandle) -> Bool { configured.contains(owner) }

  // MARK: Looking up

  /// The handles of the values of all characteristics with a UUID.
  public func handles(of uuid: BluetoothUUID) -> [AttributeHandle] {
    byHandle.values.lazy.filter { $0.type == uuid }.map(\.handle).sorted()
  }

  /// Whether the value of an attribute is in the capture.
  func hasValue(_ handle: AttributeHandle) -> Bool { valued.contains(handle) }

  /// The characteristic that a Client Characteristic Configuration belongs to: the handle of its value. Nil for any
  /// other attribute.
  func owner(ofConfiguration handle: AttributeHandle) -> AttributeHandle? {
    if let owner = inferred[handle] { return owner }
    guard byHandle[handle]?.type == GATTUUID.clientCharacteristicConfiguration else { return nil }
    return Self.last(declarations, upTo: AttributeHandle(handle.rawValue &- 1)) { $0.handle }?.value
      ?? AttributeHandle(handle.rawValue &- 1)
  }

  /// The properties of the characteristic with its value at this handle; nil if its declaration is not known.
  func properties(of value: AttributeHandle) -> CharacteristicProperties? {
    guard let declared = declarations.first(where: { $0.value == value }) else { return nil }
    return byHandle[declared.handle].flatMap { CharacteristicDeclaration(parsing: $0.value)?.properties }
  }

  /// The service that an attribute is in; nil if it is not known.
  func service(of handle: AttributeHandle) -> HandleRange? {
    Self.last(ranges, upTo: handle) { $0.start }.flatMap { $0.contains(handle) ? $0 : nil }
  }

  /// The ranges of the services, in the order of their handles.
  var serviceRanges: [HandleRange] {
    attributes.compactMap { service in service.groupEnd.map { HandleRange(service.handle, $0) } }
  }

  /// Sorts what is looked up often. Called when all attributes are known.
  mutating func index() {
    ranges = serviceRanges
    declarations = attributes.compactMap { attribute in
      guard attribute.type == GATTUUID.characteristic else { return nil }
      return CharacteristicDeclaration(parsing: attribute.value).map { (attribute.handle, $0.valueHandle) }
    }
  }

  /// The last item of a sorted list that is not behind a handle.
  private static func last<Item>(
    _ items: [Item], upTo handle: AttributeHandle, _ place: (Item) -> AttributeHandle
  ) -> Item? {
    var (low, high) = (0, items.count)
    while low < high {
      let middle = (low + high) / 2
      if place(items[middle]) <= handle { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? items[low - 1] : nil
  }

  /// Whether it has a service that was discovered, or that was given.
  public var hasDiscovery: Bool { services.contains { $0 != Self.madeUpUUID } }

  /// The UUIDs of the primary services, in the order of their handles.
  var services: [BluetoothUUID] {
    attributes.compactMap { ServiceDeclaration(type: $0.type, parsing: $0.value) }
      .filter(\.isPrimary).map(\.uuid)
  }
}
