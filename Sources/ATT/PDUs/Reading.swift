import HaloBluetoothCore

/// Asks for the values of the attributes in a range that have a type (3.4.4.1).
package struct ATTReadByTypeRequest: ATTTypeRequest {
  package static let info = ATTPDUInfo(
    .readByTypeRequest, "Read By Type Request", "4.1", .request, response: .readByTypeResponse)

  package var range = HandleRange.none
  package var type = BluetoothUUID.zero

  package init() {}
}

/// Asks for a value (3.4.4.3).
package struct ATTReadRequest: ATTPDU {
  package static let info = ATTPDUInfo(.readRequest, "Read Request", "4.3", .request, response: .readResponse)

  package var handle: AttributeHandle = 0

  package init() {}
  package init(_ handle: AttributeHandle) { self.handle = handle }

  package var target: ATTTarget { .attribute(handle) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
  }
}

/// A value, which is cut where the MTU ends (3.4.4.4).
package struct ATTReadResponse: ATTValuePDU {
  package static let info = ATTPDUInfo(.readResponse, "Read Response", "4.4", .response)

  package var value: [UInt8] = []

  package init() {}
}

/// Asks for a part of a value (3.4.4.5).
package struct ATTReadBlobRequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .readBlobRequest, "Read Blob Request", "4.5", .request, response: .readBlobResponse)

  package var handle: AttributeHandle = 0
  /// Where the part begins in the value, in bytes.
  package var offset: UInt16 = 0

  package init() {}

  package init(_ handle: AttributeHandle, offset: UInt16) {
    self.handle = handle
    self.offset = offset
  }

  package var target: ATTTarget { .attribute(handle) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.value("offset", &offset)
  }
}

/// A part of a value, which is cut where the MTU ends (3.4.4.6).
package struct ATTReadBlobResponse: ATTValuePDU {
  package static let info = ATTPDUInfo(.readBlobResponse, "Read Blob Response", "4.6", .response)

  package var value: [UInt8] = []

  package init() {}
}

/// Asks for several values whose lengths the client knows (3.4.4.7).
package struct ATTReadMultipleRequest: ATTHandlesRequest {
  package static let info = ATTPDUInfo(
    .readMultipleRequest, "Read Multiple Request", "4.7", .request, response: .readMultipleResponse)

  package var handles: [AttributeHandle] = []

  package init() {}
}

/// The concatenated values; their lengths are known only to the client (3.4.4.8).
package struct ATTReadMultipleResponse: ATTValuePDU {
  package static let info = ATTPDUInfo(.readMultipleResponse, "Read Multiple Response", "4.8", .response)

  package var value: [UInt8] = []

  package init() {}
}

/// Asks for the groups of a type that begin in a range: services (3.4.4.9).
package struct ATTReadByGroupTypeRequest: ATTTypeRequest {
  package static let info = ATTPDUInfo(
    .readByGroupTypeRequest, "Read By Group Type Request", "4.9", .request, response: .readByGroupTypeResponse
  )

  package var range = HandleRange.none
  package var type = BluetoothUUID.zero

  package init() {}
}

/// Asks for several values of any length (3.4.4.11).
package struct ATTReadMultipleVariableRequest: ATTHandlesRequest {
  package static let info = ATTPDUInfo(
    .readMultipleVariableRequest, "Read Multiple Variable Request", "4.11", .request,
    response: .readMultipleVariableResponse)

  package var handles: [AttributeHandle] = []

  package init() {}
}

/// Several values, each with its length (3.4.4.12).
package struct ATTReadMultipleVariableResponse: ATTPDU {
  package static let info = ATTPDUInfo(
    .readMultipleVariableResponse, "Read Multiple Variable Response", "4.12", .response)

  package var values: [[UInt8]] = []

  package init() {}
  package init(_ values: [[UInt8]]) { self.values = values }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var entries = values.map { VariableValue(value: $0) }
    try fields.entries("entry", &entries)
    values = entries.map(\.value)
  }
}

/// The last value may be cut where the MTU ends; its length is still that of the whole (3.4.4.12).
private struct VariableValue: PacketFields {
  var value: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var length = UInt16(truncatingIfNeeded: value.count)
    try fields.value("length", &length, .unit("bytes"))
    try fields.bytes("value", &value, count: min(Int(length), fields.bytesLeft ?? value.count))
  }
}
