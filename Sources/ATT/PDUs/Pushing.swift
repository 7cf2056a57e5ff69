import HaloBluetoothCore

/// A value that a server sends on its own; there is no answer (3.4.7.1).
public struct ATTHandleValueNotification: ATTAttributePDU {
  public static let info = ATTPDUInfo(
    .handleValueNotification, "Handle Value Notification", "7.1", .notification)

  public var handle: AttributeHandle = 0
  public var value: [UInt8] = []

  public init() {}
}

/// A value that a server sends on its own, and that the client confirms (3.4.7.2).
public struct ATTHandleValueIndication: ATTAttributePDU {
  public static let info = ATTPDUInfo(
    .handleValueIndication, "Handle Value Indication", "7.2", .indication, response: .handleValueConfirmation)

  public var handle: AttributeHandle = 0
  public var value: [UInt8] = []

  public init() {}
}

/// The client has received an indication (3.4.7.3).
public struct ATTHandleValueConfirmation: ATTEmptyPDU {
  public static let info = ATTPDUInfo(
    .handleValueConfirmation, "Handle Value Confirmation", "7.3", .confirmation)

  public init() {}
}

/// Several values that a server sends on its own, each with its length (3.4.7.4).
public struct ATTMultipleHandleValueNotification: ATTPDU {
  public static let info = ATTPDUInfo(
    .multipleHandleValueNotification, "Multiple Handle Value Notification", "7.4", .notification)

  public var entries: [ATTHandleAndValue] = []

  public init() {}
  public init(_ entries: [ATTHandleAndValue]) { self.entries = entries }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var items = entries.map { Entry(handle: $0.handle, value: $0.value) }
    try fields.entries("entry", &items)
    entries = items.map { ATTHandleAndValue(handle: $0.handle, value: $0.value) }
  }

  private struct Entry: PacketFields {
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
}
