import HaloBluetoothCore

/// Asks to write a value (3.4.5.1).
package struct ATTWriteRequest: ATTWrite {
  package static let info = ATTPDUInfo(
    .writeRequest, "Write Request", "5.1", .request, response: .writeResponse)

  package var handle: AttributeHandle = 0
  package var value: [UInt8] = []

  package init() {}
}

/// The value was written (3.4.5.2).
package struct ATTWriteResponse: ATTEmptyPDU {
  package static let info = ATTPDUInfo(.writeResponse, "Write Response", "5.2", .response)

  package init() {}
}

/// Asks to write a value; there is no answer (3.4.5.3).
package struct ATTWriteCommand: ATTWrite {
  package static let info = ATTPDUInfo(.writeCommand, "Write Command", "5.3", .command)

  package var handle: AttributeHandle = 0
  package var value: [UInt8] = []

  package init() {}
}

/// A Write Command with an authentication signature (3.4.5.4).
package struct ATTSignedWriteCommand: ATTWrite {
  package static let info = ATTPDUInfo(.signedWriteCommand, "Signed Write Command", "5.4", .command)

  package var handle: AttributeHandle = 0
  package var value: [UInt8] = []
  package var signature = ATTSignature(counter: 0, code: 0)

  package init() {}

  package init(_ handle: AttributeHandle, value: [UInt8], signature: ATTSignature) {
    self.handle = handle
    self.value = value
    self.signature = signature
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.bytes("value", &value, count: fields.bytesLeft.map { $0 - ATTSignature.length } ?? value.count)
    try fields.value("sign counter", &signature.counter)
    try fields.value("signature", &signature.code, .hex)
  }

  /// The bytes that are signed, with the counter behind them: the PDU up to its signature.
  package var message: [UInt8] { Array(bytes.dropLast(ATTSignature.length)) }
}

/// The authentication signature after a Signed Write Command (3.3.1): a counter and a message authentication code of 8
/// bytes.
package struct ATTSignature: Hashable, Sendable {
  /// In bytes.
  package static let length = 12

  /// SignCounter; the client increments it with each signed write.
  package var counter: UInt32
  /// The message authentication code.
  package var code: UInt64

  package init(counter: UInt32, code: UInt64) {
    self.counter = counter
    self.code = code
  }
}

/// Asks to put a part of a value into the queue (3.4.6.1).
package struct ATTPrepareWriteRequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .prepareWriteRequest, "Prepare Write Request", "6.1", .request, response: .prepareWriteResponse)

  package var part = ATTPreparedWrite()

  package init() {}
  package init(_ part: ATTPreparedWrite) { self.part = part }

  package var target: ATTTarget { .attribute(part.handle) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try part.visit(&fields)
  }
}

/// The echo of a part that is in the queue (3.4.6.2).
package struct ATTPrepareWriteResponse: ATTPDU {
  package static let info = ATTPDUInfo(.prepareWriteResponse, "Prepare Write Response", "6.2", .response)

  package var part = ATTPreparedWrite()

  package init() {}
  package init(_ part: ATTPreparedWrite) { self.part = part }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try part.visit(&fields)
  }
}

/// A part of a queued write, and its echo (3.4.6.1, 3.4.6.2).
package struct ATTPreparedWrite: PacketFields, Hashable {
  package var handle: AttributeHandle = 0
  /// Where the part begins in the value, in bytes.
  package var offset: UInt16 = 0
  package var value: [UInt8] = []

  package init() {}

  package init(handle: AttributeHandle, offset: UInt16, value: [UInt8]) {
    self.handle = handle
    self.offset = offset
    self.value = value
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.value("offset", &offset)
    try fields.rest("value", &value)
  }
}

/// Asks to write the queue, or to discard it (3.4.6.3).
package struct ATTExecuteWriteRequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .executeWriteRequest, "Execute Write Request", "6.3", .request, response: .executeWriteResponse)

  package var flags = ATTExecuteFlags.cancel

  package init() {}
  package init(_ flags: ATTExecuteFlags) { self.flags = flags }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("flags", &flags)
  }
}

/// The action of an Execute Write Request on the queue (3.4.6.3).
package struct ATTExecuteFlags: RawRepresentable, Hashable, FieldCode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Discards the queue.
  package static let cancel = ATTExecuteFlags(rawValue: 0)
  /// Writes all parts in the queue.
  package static let write = ATTExecuteFlags(rawValue: 1)

  package var description: String {
    switch self {
    case .cancel: "cancel"
    case .write: "write"
    default: "\(rawValue)"
    }
  }
}

/// The queue was written or discarded (3.4.6.4).
package struct ATTExecuteWriteResponse: ATTEmptyPDU {
  package static let info = ATTPDUInfo(.executeWriteResponse, "Execute Write Response", "6.4", .response)

  package init() {}
}

/// A value that a server sends on its own; there is no answer (3.4.7.1).
package struct ATTHandleValueNotification: ATTAttributePDU {
  package static let info = ATTPDUInfo(
    .handleValueNotification, "Handle Value Notification", "7.1", .notification)

  package var handle: AttributeHandle = 0
  package var value: [UInt8] = []

  package init() {}
}

/// A value that a server sends on its own, and that the client confirms (3.4.7.2).
package struct ATTHandleValueIndication: ATTAttributePDU {
  package static let info = ATTPDUInfo(
    .handleValueIndication, "Handle Value Indication", "7.2", .indication, response: .handleValueConfirmation)

  package var handle: AttributeHandle = 0
  package var value: [UInt8] = []

  package init() {}
}

/// The client has received an indication (3.4.7.3).
package struct ATTHandleValueConfirmation: ATTEmptyPDU {
  package static let info = ATTPDUInfo(
    .handleValueConfirmation, "Handle Value Confirmation", "7.3", .confirmation)

  package init() {}
}

/// Several values that a server sends on its own, each with its length (3.4.7.4).
package struct ATTMultipleHandleValueNotification: ATTPDU {
  package static let info = ATTPDUInfo(
    .multipleHandleValueNotification, "Multiple Handle Value Notification", "7.4", .notification)

  package var entries: [ATTHandleAndValue] = []

  package init() {}
  package init(_ entries: [ATTHandleAndValue]) { self.entries = entries }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var items = entries.map { Entry(handle: $0.handle, value: $0.value) }
    try fields.entries("entry", &items)
    entries = items.map { ATTHandleAndValue(handle: $0.handle, value: $0.value) }
  }

  private struct Entry: PacketFields {
    var handle: AttributeHandle = 0
    var value: [UInt8] = []

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("handle", &handle)
      var length = UInt16(truncatingIfNeeded: value.count)
      try fields.value("length", &length, .unit("bytes"))
      try fields.bytes("value", &value, count: fields.bytesLeft == nil ? value.count : Int(length))
    }
  }
}
