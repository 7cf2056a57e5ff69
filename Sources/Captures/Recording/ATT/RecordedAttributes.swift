import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCapture

/// The attribute table of a recorded server, built of all discoveries, reads and subscriptions in a capture, and which
/// questions about it the capture answers.
package struct RecordedAttributes: Sendable {
  /// A question that a client asks about a range of handles.
  enum Question: Hashable {
    case information
    case group(BluetoothUUID)
    case byType(BluetoothUUID)
  }

  /// The attributes that the capture and a table from elsewhere show.
  var learned = LearnedAttributes(keepsValues: true)
  /// The rows of the table from elsewhere.
  private var given: [AttributeHandle: ServerAttribute] = [:]
  private(set) var covered: [Question: [HandleRange]] = [:]
  /// The configuration of a characteristic that was not discovered, by its handle.
  private var inferred: [AttributeHandle: AttributeHandle] = [:]
  /// The characteristics that have one of these.
  private var configured: Set<AttributeHandle> = []
  /// The handles of the values of characteristics that are made up: of those that were used, and not discovered.
  package internal(set) var madeUp: [AttributeHandle] = []

  package init() {}

  /// The attributes in the order of their handles.
  package var attributes: [ServerAttribute] { learned.handles.compactMap { self[$0] } }

  package subscript(handle: AttributeHandle) -> ServerAttribute? {
    guard let entry = learned[handle] else { return nil }
    var access = given[handle]?.access ?? []
    if access.isEmpty, entry.value != nil { access = .read }
    return ServerAttribute(
      handle: handle, type: entry.type, access: access, value: entry.value ?? [],
      capacity: ATTBearer.maximumValueLength, groupEnd: entry.groupEnd,
      configuration: given[handle]?.configuration)
  }

  // MARK: Adding

  /// Adds attributes from elsewhere, such as a table that was read from the device later.
  ///
  /// - Parameters:
  ///   - attributes: the attributes to add, in any order
  ///   - isComplete: whether the server has no others
  package mutating func add(_ attributes: [ServerAttribute], isComplete: Bool = true) {
    for attribute in attributes {
      let value = attribute.access.contains(.read) ? attribute.value : nil
      learned.insert(attribute.handle, attribute.type, value)
      if let end = attribute.groupEnd {
        learned.insertService(attribute.type, HandleRange(attribute.handle, end), value)
      }
      if learned[attribute.handle] != nil { given[attribute.handle] = attribute }
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

  mutating func cover(_ question: Question, _ range: HandleRange) {
    guard range.isValid, covered[question, default: []].count < LearnedAttributes.capacity else { return }
    covered[question, default: []].append(range)
  }

  /// Adds a Client Characteristic Configuration that was not discovered.
  mutating func addConfiguration(_ handle: AttributeHandle, of owner: AttributeHandle) {
    learned.insert(handle, GATTUUID.clientCharacteristicConfiguration)
    guard learned[handle] != nil else { return }
    inferred[handle] = owner
    configured.insert(owner)
  }

  /// Whether there is room for made-up attributes: a characteristic, and services.
  var hasRoom: Bool { learned.count < LearnedAttributes.capacity * 3 / 4 }

  /// Whether a characteristic that was not discovered has a configuration.
  func hasConfiguration(_ owner: AttributeHandle) -> Bool { configured.contains(owner) }

  // MARK: Looking up

  /// The handles of the values of all characteristics with a UUID.
  package func handles(of uuid: BluetoothUUID) -> [AttributeHandle] {
    learned.all.lazy.filter { $0.value.type == uuid }.map(\.key).sorted()
  }

  /// Whether the value of an attribute is in the capture.
  func hasValue(_ handle: AttributeHandle) -> Bool { learned[handle]?.value != nil }

  /// The characteristic that a Client Characteristic Configuration belongs to: the handle of its value. Nil for any
  /// other attribute.
  func owner(ofConfiguration handle: AttributeHandle) -> AttributeHandle? {
    if let owner = inferred[handle] { return owner }
    guard learned[handle]?.type == GATTUUID.clientCharacteristicConfiguration else { return nil }
    return learned.owner(ofDescriptor: handle) ?? AttributeHandle(handle.rawValue &- 1)
  }

  /// The properties of the characteristic with its value at this handle; nil if its declaration is not known.
  func properties(of value: AttributeHandle) -> CharacteristicProperties? {
    learned.declaration(ofValue: value)?.properties
  }

  /// The service that an attribute is in; nil if it is not known.
  func service(of handle: AttributeHandle) -> HandleRange? { learned.service(of: handle) }

  /// Whether it has a service that was discovered, or that was given.
  package var hasDiscovery: Bool { services.contains { $0 != Self.madeUpUUID } }

  /// The UUIDs of the primary services, in the order of their handles.
  var services: [BluetoothUUID] {
    learned.serviceRanges.compactMap { learned[$0.start] }
      .filter { $0.type == GATTUUID.primaryService }.compactMap(\.service)
  }
}

/// Which questions the capture answers.
extension RecordedAttributes {
  /// Whether the capture shows all that the answer to the question needs.
  func covers(_ question: Question, _ range: HandleRange) -> Bool {
    var known = covered[question, default: []]
    if case .byType = question { known += settled }
    var next = range.start
    for known in known.sorted(by: { $0.start < $1.start })
    where known.start <= next && known.end >= next {
      guard known.end < range.end, let after = known.end.next else { return true }
      next = after
    }
    return false
  }

  /// The handles whose types are known, or that have no attribute: those that were found or asked for, and those outside
  /// of all services.
  private var settled: [HandleRange] {
    var settled = learned.handles.map { HandleRange($0, $0) } + covered[.information, default: []]
    guard covers(.group(GATTUUID.primaryService), .all) else { return settled }
    var next: AttributeHandle? = HandleRange.all.start
    for service in learned.serviceRanges {
      if let start = next, start < service.start {
        settled.append(HandleRange(start, AttributeHandle(service.start.rawValue - 1)))
      }
      next = max(next ?? service.start, service.end.next ?? service.start)
      if service.end.next == nil { return settled }
    }
    if let next { settled.append(HandleRange(next, HandleRange.all.end)) }
    return settled
  }
}
