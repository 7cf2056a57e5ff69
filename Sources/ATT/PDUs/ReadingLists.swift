import HaloBluetoothCore

/// Values of attributes, all of one size (3.4.4.2).
package struct ATTReadByTypeResponse: ATTPDU {
  package static let info = ATTPDUInfo(.readByTypeResponse, "Read By Type Response", "4.2", .response)

  package var entries: [ATTHandleAndValue] = []

  package init() {}
  package init(_ entries: [ATTHandleAndValue]) { self.entries = entries }

  package var lastFound: AttributeHandle? { entries.last?.handle }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var items = entries.map { ValueEntry($0.handle, nil, $0.value) }
    try items.visit(&fields, like: ValueEntry(0, nil, []))
    entries = items.map { ATTHandleAndValue(handle: $0.handle, value: $0.value) }
  }
}

/// An entry of Read By Type Response (3.4.4.2) and of Multiple Handle Value Notification (3.4.7.4).
package struct ATTHandleAndValue: Hashable, Sendable {
  package var handle: AttributeHandle
  package var value: [UInt8]

  package init(handle: AttributeHandle, value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// Groups of attributes with the values of their first attributes, all of one size (3.4.4.10).
package struct ATTReadByGroupTypeResponse: ATTPDU {
  package static let info = ATTPDUInfo(
    .readByGroupTypeResponse, "Read By Group Type Response", "4.10", .response)

  package var entries: [ATTGroupAndValue] = []

  package init() {}
  package init(_ entries: [ATTGroupAndValue]) { self.entries = entries }

  package var lastFound: AttributeHandle? { entries.last?.group.end }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var items = entries.map { ValueEntry($0.group.start, $0.group.end, $0.value) }
    try items.visit(&fields, like: ValueEntry(0, 0, []))
    entries = items.map {
      ATTGroupAndValue(group: HandleRange($0.handle, $0.last ?? $0.handle), value: $0.value)
    }
  }
}

/// An entry of Read By Group Type Response (3.4.4.10).
package struct ATTGroupAndValue: Hashable, Sendable {
  /// The handles of the group.
  package var group: HandleRange
  package var value: [UInt8]

  package init(group: HandleRange, value: [UInt8]) {
    self.group = group
    self.value = value
  }
}

extension [ValueEntry] {
  /// The length of the entries, and entries of the size of the first.
  ///
  /// - Parameter empty: an entry without a value
  fileprivate mutating func visit<V: FieldVisitor & ~Escapable>(
    _ fields: inout V, like empty: ValueEntry
  ) throws(V.Failure) {
    let size = Swift.min(first?.value.count ?? 0, Int(UInt8.max) - empty.length)
    removeAll { $0.value.count != size }
    var length = UInt8(empty.length + size)
    try fields.value("entry length", &length, .unit("bytes"))
    try fields.check(Int(length) >= empty.length, "entry length \(length) is below \(empty.length)")
    var prototype = empty
    prototype.value = Array<UInt8>(repeating: 0, count: Swift.max(0, Int(length) - empty.length))
    try fields.entries("entry", &self, like: prototype)
  }
}

private struct ValueEntry: PacketFields {
  var handle: AttributeHandle = 0
  /// The last handle of a group; nil for a single attribute.
  var last: AttributeHandle?
  /// The part of the value to be read.
  var value: [UInt8] = []

  /// In bytes.
  var length: Int { (last == nil ? 2 : 4) + value.count }

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
