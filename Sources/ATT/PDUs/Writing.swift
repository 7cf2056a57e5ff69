import HaloBluetoothCore

/// Asks to write a value (3.4.5.1).
public struct ATTWriteRequest: ATTWrite {
  public static let info = ATTPDUInfo(
    .writeRequest, "Write Request", "5.1", .request, response: .writeResponse)

  public var handle: AttributeHandle = 0
  public var value: [UInt8] = []

  public init() {}
}

/// The value was written (3.4.5.2).
public struct ATTWriteResponse: ATTEmptyPDU {
  public static let info = ATTPDUInfo(.writeResponse, "Write Response", "5.2", .response)

  public init() {}
}

/// Asks to write a value; there is no answer (3.4.5.3).
public struct ATTWriteCommand: ATTWrite {
  public static let info = ATTPDUInfo(.writeCommand, "Write Command", "5.3", .command)

  public var handle: AttributeHandle = 0
  public var value: [UInt8] = []

  public init() {}
}

/// A Write Command with an authentication signature (3.4.5.4).
public struct ATTSignedWriteCommand: ATTWrite {
  public static let info = ATTPDUInfo(.signedWriteCommand, "Signed Write Command", "5.4", .command)

  public var handle: AttributeHandle = 0
  public var value: [UInt8] = []
  public var signature = ATTSignature(counter: 0, code: 0)

  public init() {}

  public init(_ handle: AttributeHandle, value: [UInt8], signature: ATTSignature) {
    self.handle = handle
    self.value = value
    self.signature = signature
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.bytes("value", &value, count: fields.bytesLeft.map { $0 - ATTSignature.length } ?? value.count)
    try fields.value("sign counter", &signature.counter)
    try fields.value("signature", &signature.code, .hex)
  }
}

/// The authentication signature after a Signed Write Command (3.3.1): a counter and a message authentication code of 8
/// bytes.
public struct ATTSignature: Hashable, Sendable {
  /// In bytes.
  static let length = 12

  /// SignCounter; the client increments it with each signed write.
  public var counter: UInt32
  /// The message authentication code.
  public var code: UInt64

  public init(counter: UInt32, code: UInt64) {
    self.counter = counter
    self.code = code
  }
}

/// Asks to put a part of a value into the queue (3.4.6.1).
public struct ATTPrepareWriteRequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .prepareWriteRequest, "Prepare Write Request", "6.1", .request, response: .prepareWriteResponse)

  public var part = ATTPreparedWrite()

  public init() {}
  public init(_ part: ATTPreparedWrite) { self.part = part }

  public var target: ATTTarget { .attribute(part.handle) }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try part.visit(&fields)
  }
}

/// The echo of a part that is in the queue (3.4.6.2).
public struct ATTPrepareWriteResponse: ATTPDU {
  public static let info = ATTPDUInfo(.prepareWriteResponse, "Prepare Write Response", "6.2", .response)

  public var part = ATTPreparedWrite()

  public init() {}
  public init(_ part: ATTPreparedWrite) { self.part = part }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try part.visit(&fields)
  }
}

/// A part of a queued write, and its echo (3.4.6.1, 3.4.6.2).
public struct ATTPreparedWrite: PacketFields, Hashable {
  public var handle: AttributeHandle = 0
  /// Where the part begins in the value, in bytes.
  public var offset: UInt16 = 0
  public var value: [UInt8] = []

  public init() {}

  public init(handle: AttributeHandle, offset: UInt16, value: [UInt8]) {
    self.handle = handle
    self.offset = offset
    self.value = value
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("handle", &handle)
    try fields.value("offset", &offset)
    try fields.rest("value", &value)
  }
}

/// Asks to write the queue, or to discard it (3.4.6.3).
public struct ATTExecuteWriteRequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .executeWriteRequest, "Execute Write Request", "6.3", .request, response: .executeWriteResponse)

  public var flags = ATTExecuteFlags.cancel

  public init() {}
  public init(_ flags: ATTExecuteFlags) { self.flags = flags }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("flags", &flags)
  }
}

/// What Execute Write Request does with the queue (3.4.6.3).
public struct ATTExecuteFlags: RawRepresentable, Hashable, FieldCode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Discards the queue.
  public static let cancel = ATTExecuteFlags(rawValue: 0)
  /// Writes all parts in the queue.
  public static let write = ATTExecuteFlags(rawValue: 1)

  public var description: String {
    switch self {
    case .cancel: "cancel"
    case .write: "write"
    default: "\(rawValue)"
    }
  }
}

/// The queue was written or discarded (3.4.6.4).
public struct ATTExecuteWriteResponse: ATTEmptyPDU {
  public static let info = ATTPDUInfo(.executeWriteResponse, "Execute Write Response", "6.4", .response)

  public init() {}
}
