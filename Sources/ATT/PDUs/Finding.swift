import HaloBluetoothCore

/// Asks for the types of the attributes in a range (3.4.3.1).
public struct ATTFindInformationRequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .findInformationRequest, "Find Information Request", "3.1", .request, response: .findInformationResponse)

  public var range = HandleRange.none

  public init() {}
  public init(_ range: HandleRange) { self.range = range }

  public var target: ATTTarget { .range(range) }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try range.visit(&fields)
  }
}

/// Types of attributes, all of one size (3.4.3.2).
public struct ATTFindInformationResponse: ATTPDU {
  public static let info = ATTPDUInfo(.findInformationResponse, "Find Information Response", "3.2", .response)

  public var entries: [ATTHandleAndType] = []

  public init() {}
  public init(_ entries: [ATTHandleAndType]) { self.entries = entries }

  public var lastFound: AttributeHandle? { entries.last?.handle }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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
public struct ATTHandleAndType: Hashable, Sendable {
  public var handle: AttributeHandle
  public var type: BluetoothUUID

  public init(handle: AttributeHandle, type: BluetoothUUID) {
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
public struct ATTFindByTypeValueRequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .findByTypeValueRequest, "Find By Type Value Request", "3.3", .request, response: .findByTypeValueResponse
  )

  public var range = HandleRange.none
  public var type: UInt16 = 0
  public var value: [UInt8] = []

  public init() {}

  public init(_ range: HandleRange, type: UInt16, value: [UInt8]) {
    self.range = range
    self.type = type
    self.value = value
  }

  public var target: ATTTarget { .range(range) }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try range.visit(&fields)
    try fields.value("type", &type, .hex)
    try fields.rest("value", &value)
  }
}

/// The attributes that were found, each with the end of its group (3.4.3.4).
public struct ATTFindByTypeValueResponse: ATTPDU {
  public static let info = ATTPDUInfo(
    .findByTypeValueResponse, "Find By Type Value Response", "3.4", .response)

  public var ranges: [HandleRange] = []

  public init() {}
  public init(_ ranges: [HandleRange]) { self.ranges = ranges }

  public var lastFound: AttributeHandle? { ranges.last?.end }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.entries(nil, &ranges)
  }
}
