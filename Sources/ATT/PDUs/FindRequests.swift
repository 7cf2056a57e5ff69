import HaloBluetoothCore

/// Asks for the types of the attributes in a range (3.4.3.1).
package struct ATTFindInformationRequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .findInformationRequest, "Find Information Request", "3.1", .request, response: .findInformationResponse)

  package var range = HandleRange.none

  package init() {}
  package init(_ range: HandleRange) { self.range = range }

  package var target: ATTTarget { .range(range) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try range.visit(&fields)
  }
}

/// Types of attributes, all of one size (3.4.3.2).
package struct ATTFindInformationResponse: ATTPDU {
  package static let info = ATTPDUInfo(
    .findInformationResponse, "Find Information Response", "3.2", .response)

  package var entries: [ATTHandleAndType] = []

  package init() {}
  package init(_ entries: [ATTHandleAndType]) { self.entries = entries }

  package var lastFound: AttributeHandle? { entries.last?.handle }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let length = entries.first?.type.wireLength ?? 2
    var format = UInt8(length == 2 ? 1 : 2)
    try fields.value("format", &format, .names([1: "16-bit UUIDs", 2: "128-bit UUIDs"]))
    try fields.check(format == 1 || format == 2, "information format \(format) is not 1 or 2")
    var items = entries.filter { $0.type.wireLength == length }.map {
      TypeEntry($0.handle, $0.type, length: length)
    }
    try fields.entries("entry", &items, like: TypeEntry(0, .zero, length: format == 1 ? 2 : 16))
    entries = items.map { ATTHandleAndType(handle: $0.handle, type: $0.type) }
  }
}

/// An entry of Find Information Response (3.4.3.2).
package struct ATTHandleAndType: Hashable, Sendable {
  package var handle: AttributeHandle
  package var type: BluetoothUUID

  package init(handle: AttributeHandle, type: BluetoothUUID) {
    self.handle = handle
    self.type = type
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

/// Asks for the attributes in a range that have a type of 16 bits and a value (3.4.3.3).
package struct ATTFindByTypeValueRequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .findByTypeValueRequest, "Find By Type Value Request", "3.3", .request, response: .findByTypeValueResponse
  )

  package var range = HandleRange.none
  package var type: UInt16 = 0
  package var value: [UInt8] = []

  package init() {}

  package init(_ range: HandleRange, type: UInt16, value: [UInt8]) {
    self.range = range
    self.type = type
    self.value = value
  }

  package var target: ATTTarget { .range(range) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try range.visit(&fields)
    try fields.value("type", &type, .hex)
    try fields.rest("value", &value)
  }
}

/// The attributes that were found, each with the end of its group (3.4.3.4).
package struct ATTFindByTypeValueResponse: ATTPDU {
  package static let info = ATTPDUInfo(
    .findByTypeValueResponse, "Find By Type Value Response", "3.4", .response)

  package var ranges: [HandleRange] = []

  package init() {}
  package init(_ ranges: [HandleRange]) { self.ranges = ranges }

  package var lastFound: AttributeHandle? { ranges.last?.end }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.entries(nil, &ranges)
  }
}
