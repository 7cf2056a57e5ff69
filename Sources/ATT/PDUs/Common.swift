import HaloBluetoothCore

/// A PDU without parameters.
package protocol ATTEmptyPDU: ATTPDU {}

extension ATTEmptyPDU {
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {}
}

/// A PDU that is a value.
package protocol ATTValuePDU: ATTPDU {
  var value: [UInt8] { get set }
}

extension ATTValuePDU {
  package init(_ value: [UInt8]) { self.init { $0.value = value } }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.rest("value", &value)
  }
}

/// A PDU that is a handle and a value.
package protocol ATTAttributePDU: ATTPDU {
  var handle: AttributeHandle { get set }
  var value: [UInt8] { get set }
}

extension ATTAttributePDU {
  package var target: ATTTarget { .attribute(handle) }

  package init(_ handle: AttributeHandle, value: [UInt8]) {
    self.init()
    self.handle = handle
    self.value = value
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.rest("value", &value)
  }
}

/// A value that a client writes, in one PDU.
package protocol ATTWrite: ATTAttributePDU {}

/// A request for the attributes of a type in a range.
package protocol ATTTypeRequest: ATTPDU {
  var range: HandleRange { get set }
  var type: BluetoothUUID { get set }
}

extension ATTTypeRequest {
  package var target: ATTTarget { .range(range) }

  package init(_ range: HandleRange, type: BluetoothUUID) {
    self.init()
    self.range = range
    self.type = type
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try range.visit(&fields)
    try fields.attributeType(&type)
  }
}

/// A request for the values of several attributes.
package protocol ATTHandlesRequest: ATTPDU {
  var handles: [AttributeHandle] { get set }
}

extension ATTHandlesRequest {
  package var target: ATTTarget { .attribute(handles.first ?? 0) }

  package init(_ handles: [AttributeHandle]) { self.init { $0.handles = handles } }

  /// Two handles or more (3.4.4.7).
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var items = handles.map { HandleItem(handle: $0) }
    try fields.items(nil, &items, like: HandleItem())
    try fields.check(items.count >= 2, "a set of \(items.count) handle, two are needed")
    handles = items.map(\.handle)
  }
}

private struct HandleItem: PacketFields {
  var handle: AttributeHandle = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
  }
}

extension HandleRange: PacketFields {
  static let none = HandleRange(0, 0)

  package init() { self = .none }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("first handle", &start)
    try fields.value("last handle", &end)
  }
}

extension FieldVisitor where Self: ~Escapable {
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
}
