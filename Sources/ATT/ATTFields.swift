import BluetoothCore

extension FieldVisitor where Self: ~Escapable {
  /// A handle, and the value to the end.
  @_lifetime(self: copy self)
  mutating func attribute(_ handle: inout AttributeHandle, _ value: inout [UInt8]) throws(Failure) {
    try self.value("handle", &handle)
    try rest("value", &value)
  }

  /// An attribute type in `length` bytes.
  @_lifetime(self: copy self)
  mutating func attributeType(_ type: inout BluetoothUUID, length: Int) throws(Failure) {
    var writer = ByteWriter(capacity: 16)
    type.write(into: &writer)
    var raw = writer.bytes
    try bytes("type", &raw, count: length)
    type = raw.withReader { try? BluetoothUUID(parsing: &$0, length: length) } ?? type
  }

  /// The attribute type at the end of a request: 2 or 16 bytes (Core Specification Vol 3, Part F, 3.2.1).
  @_lifetime(self: copy self)
  mutating func attributeType(_ type: inout BluetoothUUID) throws(Failure) {
    let length = bytesLeft ?? type.wireLength
    try check(length == 2 || length == 16, "an attribute type has 2 or 16 bytes, not \(length)")
    try attributeType(&type, length: length)
  }

  /// One entry or more, up to the end.
  @_lifetime(self: copy self)
  mutating func entries<Entry: PacketFields>(
    _ name: StaticString?, _ entries: inout [Entry], like prototype: Entry = Entry()
  ) throws(Failure) {
    try items(name, &entries, like: prototype)
    try check(!entries.isEmpty, "a list without an entry")
  }

  /// Two handles or more (3.4.4.7).
  @_lifetime(self: copy self)
  mutating func handles(_ handles: inout [AttributeHandle]) throws(Failure) {
    var items = handles.map { HandleItem(handle: $0) }
    try self.items(nil, &items, like: HandleItem())
    try check(items.count >= 2, "a set of \(items.count) handle, two are needed")
    handles = items.map(\.handle)
  }
}

private struct HandleItem: PacketFields {
  var handle: AttributeHandle = 0

  init() {}
  init(handle: AttributeHandle) { self.handle = handle }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
  }
}

extension HandleRange: PacketFields {
  static let none = HandleRange(0, 0)

  public init() { self = .none }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("first handle", &start)
    try fields.value("last handle", &end)
  }
}

extension ATTPreparedWrite {
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.value("offset", &offset)
    try fields.rest("value", &value)
  }
}

// MARK: Lists

extension [ATTHandleAndType] {
  /// A format, and entries with types of one size (3.4.3.2).
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let length = first?.type.wireLength ?? 2
    var format = UInt8(length == 2 ? 1 : 2)
    try fields.value("format", &format, .names([1: "16-bit UUIDs", 2: "128-bit UUIDs"]))
    try fields.check(format == 1 || format == 2, "information format \(format) is not 1 or 2")
    var entries = filter { $0.type.wireLength == length }.map {
      TypeEntry($0.handle, $0.type, length: length)
    }
    try fields.entries("entry", &entries, like: TypeEntry(0, .zero, length: format == 1 ? 2 : 16))
    self = entries.map { .init(handle: $0.handle, type: $0.type) }
  }
}

extension [ATTHandleAndValue] {
  /// The length of the entries, and entries of this size (3.4.4.2).
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let longest = Int(UInt8.max) - ValueEntry.handleLength
    let length = Swift.min(first?.value.count ?? 0, longest)
    var entries = filter { $0.value.count == length }.map { ValueEntry($0.handle, nil, $0.value) }
    try entries.visit(&fields, ValueEntry(0, nil, Array<UInt8>(repeating: 0, count: length)))
    self = entries.map { .init(handle: $0.handle, value: $0.value) }
  }
}

extension [ATTGroupAndValue] {
  /// The length of the entries, and entries of this size (3.4.4.10).
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let longest = Int(UInt8.max) - ValueEntry.handleLength * 2
    let length = Swift.min(first?.value.count ?? 0, longest)
    var entries = filter { $0.value.count == length }.map {
      ValueEntry($0.group.start, $0.group.end, $0.value)
    }
    try entries.visit(&fields, ValueEntry(0, 0, Array<UInt8>(repeating: 0, count: length)))
    self = entries.map { .init(group: HandleRange($0.handle, $0.last ?? $0.handle), value: $0.value) }
  }
}

extension [ValueEntry] {
  fileprivate mutating func visit<V: FieldVisitor & ~Escapable>(
    _ fields: inout V, _ prototype: ValueEntry
  ) throws(V.Failure) {
    var length = UInt8(clamping: prototype.length)
    let fixed = prototype.length - prototype.value.count
    try fields.value("entry length", &length, .unit("bytes"))
    try fields.check(Int(length) >= fixed, "entry length \(length) is below \(fixed)")
    var prototype = prototype
    prototype.value = Array<UInt8>(repeating: 0, count: Swift.max(0, Int(length) - fixed))
    try fields.entries("entry", &self, like: prototype)
  }
}

private struct TypeEntry: PacketFields {
  var handle: AttributeHandle = 0
  var type = BluetoothUUID.zero
  var length = 2

  init() {}

  init(_ handle: AttributeHandle, _ type: BluetoothUUID, length: Int) {
    self.handle = handle
    self.type = type
    self.length = length
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.attributeType(&type, length: length)
  }
}

private struct ValueEntry: PacketFields {
  static let handleLength = 2

  var handle: AttributeHandle = 0
  /// The last handle of a group; nil for a single attribute.
  var last: AttributeHandle?
  /// The part of the value to be read.
  var value: [UInt8] = []

  var length: Int { Self.handleLength * (last == nil ? 1 : 2) + value.count }

  init() {}

  init(_ handle: AttributeHandle, _ last: AttributeHandle?, _ value: [UInt8]) {
    self.handle = handle
    self.last = last
    self.value = value
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    if var last {
      try fields.value("last handle of the group", &last)
      self.last = last
    }
    try fields.bytes("value", &value, count: value.count)
  }
}

/// The last value may be cut where the MTU ends; its length is still that of the whole (3.4.4.12).
struct VariableValue: PacketFields {
  var value: [UInt8] = []

  init() {}
  init(value: [UInt8]) { self.value = value }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var length = UInt16(truncatingIfNeeded: value.count)
    try fields.value("length", &length, .unit("bytes"))
    try fields.bytes("value", &value, count: min(Int(length), fields.bytesLeft ?? value.count))
  }
}

/// An entry of Multiple Handle Value Notification (3.4.7.4).
struct HandleAndVariableValue: PacketFields {
  var handle: AttributeHandle = 0
  var value: [UInt8] = []

  init() {}

  init(handle: AttributeHandle, value: [UInt8]) {
    self.handle = handle
    self.value = value
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    var length = UInt16(truncatingIfNeeded: value.count)
    try fields.value("length", &length, .unit("bytes"))
    try fields.bytes("value", &value, count: fields.bytesLeft == nil ? value.count : Int(length))
  }
}
