import ATT
import HaloBluetoothCore

/// The attributes of a device, for all its clients (Core Specification Vol 3, Part G, 2.5.1).
///
/// The state of one client (configurations, prepared writes) is in its ``ServerBearer``. Handles are stable: those of remaining
/// attributes never change, and those of removed ones are not reused. It does no I/O and has no clock.
package final class AttributeDatabase {
  /// Answers a read: `reply` is called once, now or within ``ServerBearer/answerLimit``, with the whole value or the
  /// reason why it can't be read. Further calls do nothing.
  package typealias ReadHandler = (
    _ client: ServerBearer, _ reply: @escaping (Result<[UInt8], ATTErrorCode>) -> Void
  ) -> Void
  /// Takes a value that a client has written, whole: `reply` is called once, now or within
  /// ``ServerBearer/answerLimit``, with nil or the reason why it is refused. Further calls do nothing. A command has no
  /// answer, whatever is replied.
  package typealias WriteHandler = (
    _ value: [UInt8], _ client: ServerBearer, _ reply: @escaping (ATTErrorCode?) -> Void
  ) -> Void

  struct Entry {
    var attribute: ServerAttribute
    /// The value that a Client Characteristic Configuration belongs to.
    var owner: AttributeHandle?
    var read: ReadHandler?
    var write: WriteHandler?
    var parts: LongValueHandler?

    /// Whether a handler takes or makes the value.
    var isHandled: Bool { write != nil || parts != nil }
    var handle: AttributeHandle { attribute.handle }
  }

  /// How often attributes were added or removed: a client that has discovered them at another count may have other
  /// ones.
  package private(set) var changeCount = 0
  /// Called after each change with the range of handles in which attributes were added or removed, which is that of Service
  /// Changed (Part G, 7.1). The bearers have indicated it before.
  package var onChange: ((HandleRange) -> Void)?

  @exclusivity(unchecked) private var index = AttributeIndex<Entry>()
  private var configurations: [AttributeHandle: AttributeHandle] = [:]
  /// The highest handle that was ever used.
  private var highest: UInt16 = 0
  /// The declaration of the service, and the value, that are being added to.
  private var openService: AttributeHandle?
  private var openValue: AttributeHandle?
  /// The bearers of links that exist.
  private var bearers: [ServerBearer] = []
  /// The changes within ``update(_:)``; nil outside of it.
  private var pending: [HandleRange]?

  package init() {}

  /// The attributes of a table, in any order; of several with one handle, the last. A configuration belongs to the
  /// characteristic that is declared before it.
  package convenience init(_ attributes: [ServerAttribute]) {
    self.init()
    for attribute in Self.inOrder(attributes) { append(Entry(attribute: attribute)) }
  }

  /// The attributes in the order of their handles; of several with one handle, the last.
  package static func inOrder(_ attributes: [ServerAttribute]) -> [ServerAttribute] {
    var known: [AttributeHandle: ServerAttribute] = [:]
    for attribute in attributes { known[attribute.handle] = attribute }
    return known.values.sorted { $0.handle < $1.handle }
  }

  // MARK: Looking up

  /// The attributes in the order of their handles. A copy: not for lookups.
  package var attributes: [ServerAttribute] { index.entries.map(\.attribute) }
  /// Whether there is no handle left for another attribute.
  package var isFull: Bool { highest == .max }

  func entry(_ handle: AttributeHandle) -> Entry? { index[handle] }

  /// The security requirements for reading an attribute; nil if there is no such attribute.
  func readSecurity(of handle: AttributeHandle) -> SecurityRequirement? {
    index.part(of: handle) { $0.attribute.readSecurity }
  }

  /// The attributes in a range.
  func entries(in range: HandleRange) -> ArraySlice<Entry> { index.entries[index.places(in: range)] }

  /// The handles of the attributes of a type, in rising order.
  package func handles(of type: BluetoothUUID, in range: HandleRange = .all) -> ArraySlice<AttributeHandle> {
    index.handles(of: type, in: range)
  }

  /// The Client Characteristic Configuration of the characteristic with its value at this handle; nil if it has none.
  package func configuration(of value: AttributeHandle) -> AttributeHandle? { configurations[value] }

  /// The last handle of the group that an attribute declares: a service or a characteristic; its own for any other one.
  func groupEnd(of entry: Entry) -> AttributeHandle {
    if let end = entry.attribute.groupEnd { return end }
    guard entry.attribute.type == GATTUUID.characteristic, let after = entry.handle.next else {
      return entry.handle
    }
    // It ends before the next declaration of a characteristic or service, or with the last attribute.
    let rest = HandleRange(after, .last)
    let next = [GATTUUID.characteristic, GATTUUID.primaryService, GATTUUID.secondaryService]
      .compactMap { handles(of: $0, in: rest).first }.min()
    let places = index.places(in: HandleRange(entry.handle, next ?? .last))
    let last = next == nil ? places.upperBound - 1 : places.upperBound - 2
    return index.handles[max(last, places.lowerBound)]
  }

  // MARK: Values

  /// The value that is stored for an attribute; nil if there is no such attribute. That of a handler is not stored.
  package func value(of handle: AttributeHandle) -> [UInt8]? { index[handle]?.attribute.value }

  /// Stores a value, which clients read from then on. It is not sent to them: see ``ServerBearer/notify(_:of:replacesWaiting:)``.
  ///
  /// - Throws: as ``checkLength(of:)``; the value stays as it was
  package func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(StackError) {
    try Self.checkLength(of: value)
    change(handle) { $0.attribute.value = value }
  }

  /// Checks that a value is not longer than clients can be given.
  ///
  /// - Throws: `.tooLong` for one of more than 512 bytes, of which some clients keep nothing, and others a part
  package static func checkLength(of value: [UInt8]) throws(StackError) {
    guard value.count <= ATTBearer.maximumValueLength else { throw .tooLong(value.count) }
  }

  /// Lets handlers answer reads and writes of an attribute in place of the stored value; nil for the stored value.
  package func setHandlers(of handle: AttributeHandle, read: ReadHandler?, write: WriteHandler?) {
    change(handle) { entry in
      entry.read = read
      entry.write = write
    }
  }

  /// Changes the entry of an attribute; does nothing if there is no such attribute.
  func change(_ handle: AttributeHandle, _ body: (inout Entry) -> Void) { index.change(handle, body) }

  // MARK: Changes

  /// Makes several changes, which are indicated to clients as one.
  package func update<Result>(_ body: (AttributeDatabase) -> Result) -> Result {
    guard pending == nil else { return body(self) }
    pending = []
    let result = body(self)
    let changes = pending ?? []
    pending = nil
    if let start = changes.map(\.start).min(), let end = changes.map(\.end).max() {
      changed(HandleRange(start, end))
    }
    return result
  }

  /// Removes a service with all its attributes.
  ///
  /// - Parameter declaration: the handle of its declaration
  /// - Returns: its handles; nil if there is no such service
  @discardableResult
  package func removeService(at declaration: AttributeHandle) -> HandleRange? {
    guard let range = handles(ofServiceAt: declaration) else { return nil }
    for entry in entries(in: range) { if let owner = entry.owner { configurations[owner] = nil } }
    index.remove(range)
    if openService == declaration { (openService, openValue) = (nil, nil) }
    changed(range)
    return range
  }

  /// The handles of a service with all its attributes; nil if there is no such service.
  ///
  /// - Parameter declaration: the handle of its declaration
  package func handles(ofServiceAt declaration: AttributeHandle) -> HandleRange? {
    guard let entry = index[declaration], ServiceDeclaration.isType(entry.attribute.type) else { return nil }
    return HandleRange(declaration, max(declaration, groupEnd(of: entry)))
  }

  /// Lets a bearer know of all changes, until its link ends.
  func attach(_ bearer: ServerBearer) { bearers.append(bearer) }

  func detach(_ bearer: ServerBearer) { bearers.removeAll { $0 === bearer } }

  private func changed(_ range: HandleRange) {
    guard pending == nil else {
      pending?.append(range)
      return
    }
    changeCount += 1
    for bearer in bearers { bearer.databaseChanged(range) }
    onChange?(range)
  }

  /// Adds an attribute behind all others.
  ///
  /// - Returns: whether there was a handle for it
  @discardableResult
  private func append(_ entry: Entry) -> Bool {
    var entry = entry
    let attribute = entry.attribute
    if ServiceDeclaration.isType(attribute.type) { openValue = nil }
    if attribute.type == GATTUUID.characteristic {
      openValue = CharacteristicDeclaration(parsing: attribute.value)?.valueHandle
    }
    if attribute.configuration != nil { entry.owner = openValue }
    guard index.append(entry, attribute.handle, attribute.type) else { return false }
    highest = attribute.handle.rawValue
    if let owner = entry.owner, configurations[owner] == nil { configurations[owner] = attribute.handle }
    return true
  }

  /// Adds an attribute to the service that was added last, at the next handle.
  ///
  /// - Returns: its handle; 0 if there is none left
  func add(_ attribute: ServerAttribute, read: ReadHandler? = nil, write: WriteHandler? = nil)
    -> AttributeHandle
  {
    guard !isFull else { return 0 }
    var attribute = attribute
    attribute.handle = AttributeHandle(highest + 1)
    guard append(Entry(attribute: attribute, read: read, write: write)) else { return 0 }
    if let service = openService { change(service) { $0.attribute.groupEnd = attribute.handle } }
    changed(HandleRange(openService ?? attribute.handle, attribute.handle))
    return attribute.handle
  }

  /// Begins a service, which attributes are added to from now on.
  ///
  /// - Parameter handle: the lowest handle for its declaration
  func open(_ service: ServiceDeclaration, at handle: AttributeHandle?) -> AttributeHandle {
    if let handle, handle.rawValue > highest { highest = handle.rawValue - 1 }
    openService = nil
    let declaration = add(ServerAttribute(handle: 0, type: service.type, value: service.bytes))
    guard declaration.isValid else { return declaration }
    openService = declaration
    change(declaration) { $0.attribute.groupEnd = declaration }
    return declaration
  }

  /// The handle that the next attribute gets; nil if there is none.
  var nextHandle: AttributeHandle? { isFull ? nil : AttributeHandle(highest + 1) }
}
