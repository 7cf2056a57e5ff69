import HaloBluetoothCore

/// Asks for the values of the attributes in a range that have a type (3.4.4.1).
public struct ATTReadByTypeRequest: ATTTypeRequest {
  public static let info = ATTPDUInfo(
    .readByTypeRequest, "Read By Type Request", "4.1", .request, response: .readByTypeResponse)

  public var range = HandleRange.none
  public var type = BluetoothUUID.zero

  public init() {}
}

/// Asks for a value (3.4.4.3).
public struct ATTReadRequest: ATTPDU {
  public static let info = ATTPDUInfo(.readRequest, "Read Request", "4.3", .request, response: .readResponse)

  public var handle: AttributeHandle = 0

  public init() {}
  public init(_ handle: AttributeHandle) { self.handle = handle }

  public var target: ATTTarget { .attribute(handle) }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
  }
}

/// A value, which is cut where the MTU ends (3.4.4.4).
public struct ATTReadResponse: ATTValuePDU {
  public static let info = ATTPDUInfo(.readResponse, "Read Response", "4.4", .response)

  public var value: [UInt8] = []

  public init() {}
}

/// Asks for a part of a value (3.4.4.5).
public struct ATTReadBlobRequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .readBlobRequest, "Read Blob Request", "4.5", .request, response: .readBlobResponse)

  public var handle: AttributeHandle = 0
  /// Where the part begins in the value, in bytes.
  public var offset: UInt16 = 0

  public init() {}

  public init(_ handle: AttributeHandle, offset: UInt16) {
    self.handle = handle
    self.offset = offset
  }

  public var target: ATTTarget { .attribute(handle) }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.value("offset", &offset)
  }
}

/// A part of a value, which is cut where the MTU ends (3.4.4.6).
public struct ATTReadBlobResponse: ATTValuePDU {
  public static let info = ATTPDUInfo(.readBlobResponse, "Read Blob Response", "4.6", .response)

  public var value: [UInt8] = []

  public init() {}
}

/// Asks for several values whose lengths the client knows (3.4.4.7).
public struct ATTReadMultipleRequest: ATTHandlesRequest {
  public static let info = ATTPDUInfo(
    .readMultipleRequest, "Read Multiple Request", "4.7", .request, response: .readMultipleResponse)

  public var handles: [AttributeHandle] = []

  public init() {}
}

/// The concatenated values; their lengths are known only to the client (3.4.4.8).
public struct ATTReadMultipleResponse: ATTValuePDU {
  public static let info = ATTPDUInfo(.readMultipleResponse, "Read Multiple Response", "4.8", .response)

  public var value: [UInt8] = []

  public init() {}
}

/// Asks for the groups of a type that begin in a range: services (3.4.4.9).
public struct ATTReadByGroupTypeRequest: ATTTypeRequest {
  public static let info = ATTPDUInfo(
    .readByGroupTypeRequest, "Read By Group Type Request", "4.9", .request, response: .readByGroupTypeResponse
  )

  public var range = HandleRange.none
  public var type = BluetoothUUID.zero

  public init() {}
}

/// Asks for several values of any length (3.4.4.11).
public struct ATTReadMultipleVariableRequest: ATTHandlesRequest {
  public static let info = ATTPDUInfo(
    .readMultipleVariableRequest, "Read Multiple Variable Request", "4.11", .request,
    response: .readMultipleVariableResponse)

  public var handles: [AttributeHandle] = []

  public init() {}
}

/// Several values, each with its length (3.4.4.12).
public struct ATTReadMultipleVariableResponse: ATTPDU {
  public static let info = ATTPDUInfo(
    .readMultipleVariableResponse, "Read Multiple Variable Response", "4.12", .response)

  public var values: [[UInt8]] = []

  public init() {}
  public init(_ values: [[UInt8]]) { self.values = values }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var entries = values.map { VariableValue(value: $0) }
    try fields.entries("entry", &entries)
    values = entries.map(\.value)
  }
}

/// The last value may be cut where the MTU ends; its length is still that of the whole (3.4.4.12).
private struct VariableValue: PacketFields {
  var value: [UInt8] = []

  init() {}
  init(value: [UInt8]) { self.value = value }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var length = UInt16(truncatingIfNeeded: value.count)
    try fields.value("length", &length, .unit("bytes"))
    try fields.bytes("value", &value, count: min(Int(length), fields.bytesLeft ?? value.count))
  }
}
