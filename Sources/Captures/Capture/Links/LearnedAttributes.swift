import ATT
import HaloBluetoothCore
import HaloGATT

/// The attributes of a server, as far as the requests of clients and their answers show them. Bounded: once it is full, new
/// handles are not added.
package struct LearnedAttributes: Sendable {
  /// More than any known device has.
  package static let capacity = 8192

  package struct Entry: Hashable, Sendable {
    package var type: BluetoothUUID
    /// Nil if it is not known.
    package var value: [UInt8]?
    /// The last handle of the service that this attribute declares.
    package var groupEnd: AttributeHandle?

    /// The UUID of the service that this attribute declares.
    package var service: BluetoothUUID? {
      value.flatMap { ServiceDeclaration(type: type, parsing: $0)?.uuid }
    }
  }

  /// Whether all values are kept that are read; if not, only those of declarations.
  private let keepsValues: Bool
  private var entries: [AttributeHandle: Entry] = [:]
  /// The handles of services, and of the values of characteristics, in order.
  private var services: [AttributeHandle] = []
  private var values: [AttributeHandle] = []
  /// The declarations of characteristics, by the handles of their values.
  private var declared: [AttributeHandle: CharacteristicDeclaration] = [:]
  /// The services that another one includes, by their first handles.
  private var included: [AttributeHandle: IncludeDeclaration] = [:]
  /// How often an attribute was added or became another: devices are discovered again on each link.
  package private(set) var changes = 0

  package init(keepsValues: Bool) { self.keepsValues = keepsValues }

  // MARK: Looking up

  package var count: Int { entries.count }
  /// In no order.
  package var all: [AttributeHandle: Entry] { entries }
  /// The handles of all attributes, in order.
  package var handles: [AttributeHandle] { entries.keys.sorted() }

  package subscript(handle: AttributeHandle) -> Entry? { entries[handle] }

  /// The ranges of the services, in the order of their handles.
  package var serviceRanges: [HandleRange] { services.compactMap(range) }

  private func range(of service: AttributeHandle) -> HandleRange? {
    entries[service]?.groupEnd.map { HandleRange(service, $0) }
  }

  /// The service that an attribute is in; nil if it is not known.
  package func service(of handle: AttributeHandle) -> HandleRange? {
    Self.last(services, upTo: handle).flatMap(range).flatMap { $0.contains(handle) ? $0 : nil }
  }

  /// Whether an attribute is the value of a characteristic.
  package func isValue(_ handle: AttributeHandle) -> Bool { Self.last(values, upTo: handle) == handle }

  /// The declaration of the characteristic that has its value at a handle; nil if it is not known.
  package func declaration(ofValue handle: AttributeHandle) -> CharacteristicDeclaration? { declared[handle] }

  /// The characteristic before a descriptor in its own service: the handle of its value.
  package func owner(ofDescriptor handle: AttributeHandle) -> AttributeHandle? {
    guard let value = Self.last(values, upTo: AttributeHandle(handle.rawValue &- 1)) else { return nil }
    return Self.last(services, upTo: handle).map { $0 >= value } == true ? nil : value
  }

  /// The last handle of a sorted list that is not behind another one.
  private static func last(_ handles: [AttributeHandle], upTo handle: AttributeHandle) -> AttributeHandle? {
    let place = place(of: handle, in: handles)
    if place < handles.count, handles[place] == handle { return handle }
    return place > 0 ? handles[place - 1] : nil
  }

  /// The index of the first handle of a sorted list that is not before another one.
  private static func place(of handle: AttributeHandle, in handles: [AttributeHandle]) -> Int {
    var (low, high) = (0, handles.count)
    while low < high {
      let middle = (low + high) / 2
      if handles[middle] < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Adding

  /// Adds an attribute. A value that is nil is not known; an earlier value stays then.
  package mutating func insert(_ handle: AttributeHandle, _ type: BluetoothUUID, _ value: [UInt8]? = nil) {
    guard handle.isValid, entries.count < Self.capacity || entries[handle] != nil else { return }
    var entry = entries[handle] ?? Entry(type: type)
    entry.type = type
    let isService = ServiceDeclaration.isType(type)
    let isDeclaration = isService || type == GATTUUID.characteristic || type == GATTUUID.include
    if let value, keepsValues || isDeclaration { entry.value = value }
    if entries.updateValue(entry, forKey: handle) != entry { changes += 1 }
    if isService { Self.add(handle, to: &services) }
    guard type == GATTUUID.characteristic, let value, let new = CharacteristicDeclaration(parsing: value),
      new.valueHandle.isValid
    else { return }
    if declared.updateValue(new, forKey: new.valueHandle) != new { changes += 1 }
    insertValue(new.valueHandle, new.uuid)
  }

  private mutating func insertValue(_ handle: AttributeHandle, _ type: BluetoothUUID, _ value: [UInt8]? = nil)
  {
    insert(handle, type, value)
    guard entries[handle] != nil, !isValue(handle) else { return }
    Self.add(handle, to: &values)
    changes += 1
  }

  private static func add(_ handle: AttributeHandle, to handles: inout [AttributeHandle]) {
    let place = place(of: handle, in: handles)
    if place == handles.count || handles[place] != handle { handles.insert(handle, at: place) }
  }

  /// Adds the declaration of a service with its range.
  package mutating func insertService(_ type: BluetoothUUID, _ range: HandleRange, _ value: [UInt8]?) {
    guard ServiceDeclaration.isType(type), range.isValid else { return }
    insert(range.start, type, value)
    guard entries[range.start] != nil, entries[range.start]?.groupEnd != range.end else { return }
    entries[range.start]?.groupEnd = range.end
    changes += 1
  }

  /// Adds the attributes that the answer to a request shows.
  package mutating func learn(_ request: any ATTPDU, _ response: any ATTPDU) {
    // The opcode is asked first, as it costs less than a cast.
    switch response.opcode {
    case .findInformationResponse:
      guard let found = response as? ATTFindInformationResponse else { return }
      for entry in found.entries where self[entry.handle] == nil { learnType(entry) }
    case .readByGroupTypeResponse:
      guard let asked = request as? ATTReadByGroupTypeRequest,
        let found = response as? ATTReadByGroupTypeResponse
      else { return }
      for entry in found.entries { insertService(asked.type, entry.group, entry.value) }
    case .findByTypeValueResponse:
      guard let asked = request as? ATTFindByTypeValueRequest,
        let found = response as? ATTFindByTypeValueResponse
      else { return }
      for range in found.ranges { insertService(BluetoothUUID(asked.type), range, asked.value) }
    case .readByTypeResponse:
      guard let asked = request as? ATTReadByTypeRequest, let found = response as? ATTReadByTypeResponse
      else {
        return
      }
      for entry in found.entries { learnValue(entry, asked.type) }
    case .readResponse:
      guard let asked = request as? ATTReadRequest, let read = response as? ATTReadResponse else { return }
      if let known = self[asked.handle] {
        if known.value == nil { insert(asked.handle, known.type, read.value) }
      } else if let range = included[asked.handle]?.handles {
        // The UUID of an included service is read from its declaration, if it is long (Vol 3, Part G, 4.5.1).
        insertService(GATTUUID.secondaryService, range, read.value)
      }
    default: break
    }
  }

  private mutating func learnType(_ entry: ATTHandleAndType) {
    let before = AttributeHandle(entry.handle.rawValue &- 1)
    // The value follows the declaration.
    if self[before]?.type == GATTUUID.characteristic {
      insertValue(entry.handle, entry.type)
    } else {
      insert(entry.handle, entry.type)
    }
  }

  private mutating func learnValue(_ entry: ATTHandleAndValue, _ type: BluetoothUUID) {
    // Types from 0x2800 on are declarations, from 0x2900 on descriptors.
    if self[entry.handle] == nil, type.short.map({ !(0x2800..<0x2A00).contains($0) }) ?? true {
      insertValue(entry.handle, type, entry.value)
    } else {
      insert(entry.handle, type, entry.value)
    }
    if type == GATTUUID.include { learnInclude(entry.value) }
  }

  private mutating func learnInclude(_ value: [UInt8]) {
    guard let declared = IncludeDeclaration(parsing: value), declared.handles.isValid,
      included.count < Self.capacity
    else { return }
    included[declared.handles.start] = declared
  }

  /// Adds the services that others include, and that were not found: secondary services.
  package mutating func addIncludedServices() {
    for (start, declared) in included where self[start] == nil {
      guard let uuid = declared.uuid else { continue }
      let service = ServiceDeclaration(uuid, isPrimary: false)
      insertService(service.type, declared.handles, service.bytes)
    }
  }
}
