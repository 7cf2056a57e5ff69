import HaloBluetoothCore

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
