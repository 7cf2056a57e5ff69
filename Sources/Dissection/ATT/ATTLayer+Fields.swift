import ATT
import BluetoothCore
import GATTClient

extension ATTLayer {
  func fields(of source: RawSpan, _ gatt: GATTLayer?) -> [PacketField] {
    var f = FieldReader(source, range, reference: reference)
    f.readAll { f throws(DecodeError) in
      try f.value("opcode", { r throws(DecodeError) in ATTOpcode(rawValue: try r.readUInt8()) }) {
        let flags = ($0.rawValue & 0x40 != 0 ? ", command" : "") + ($0.rawValue & 0x80 != 0 ? ", signed" : "")
        return "\($0) (\(Hex.string($0.rawValue))\(flags))"
      }
      try readParameters(&f, gatt)
    }
    return f.fields
  }

  private func readParameters(_ f: inout FieldReader, _ gatt: GATTLayer?) throws(DecodeError) {
    let attribute = gatt?.attribute
    switch opcode {
    case .errorResponse:
      try f.value("request in error", { r throws(DecodeError) in ATTOpcode(rawValue: try r.readUInt8()) }) {
        "\($0) (\(Hex.string($0.rawValue)))"
      }
      try f.attributeHandle("handle in error", attribute)
      try f.value("error", { r throws(DecodeError) in ATTErrorCode(rawValue: try r.readUInt8()) }) { "\($0)" }
    case .exchangeMTURequest: try f.uint16("client MTU", unit: "bytes")
    case .exchangeMTUResponse: try f.uint16("server MTU", unit: "bytes")
    case .findInformationRequest: try f.handleRange()
    case .findInformationResponse:
      let format = try f.uint8("format", words: [1: "16-bit UUIDs", 2: "128-bit UUIDs"])
      while !f.isAtEnd {
        try f.group("entry") { f throws(DecodeError) in
          try f.hex16("handle")
          try f.uuid("type", length: format == 1 ? 2 : 16)
        }
      }
    case .findByTypeValueRequest:
      try f.handleRange()
      try f.uuid("type", length: 2)
      f.attributeValue(nil)
    case .findByTypeValueResponse: while !f.isAtEnd { try f.handleRange() }
    case .readByTypeRequest, .readByGroupTypeRequest:
      try f.handleRange()
      try f.uuid("type", length: f.remaining)
    case .readByTypeResponse: try readEntries(&f, handles: 1, gatt?.type)
    case .readByGroupTypeResponse: try readEntries(&f, handles: 2, gatt?.type)
    case .readRequest: try f.attributeHandle("handle", attribute)
    case .readBlobRequest:
      try f.attributeHandle("handle", attribute)
      try f.uint16("offset")
    case .readMultipleRequest, .readMultipleVariableRequest: while !f.isAtEnd { try f.hex16("handle") }
    case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication:
      try f.attributeHandle("handle", attribute)
      f.attributeValue(attribute?.uuid)
    case .signedWriteCommand:
      try f.attributeHandle("handle", attribute)
      try f.bytes("value", f.remaining - 12)
      try f.uint32("sign counter")
      try f.hex64("signature")
    case .prepareWriteRequest, .prepareWriteResponse:
      try f.attributeHandle("handle", attribute)
      try f.uint16("offset")
      f.attributeValue(nil)
    case .executeWriteRequest: try f.uint8("flags", words: [0: "cancel", 1: "write"])
    case .readMultipleVariableResponse, .multipleHandleValueNotification:
      while !f.isAtEnd {
        try f.group("entry") { f throws(DecodeError) in
          if opcode == .multipleHandleValueNotification { try f.hex16("handle") }
          let length = Int(try f.uint16("length", unit: "bytes"))
          try f.bytes("value", min(length, f.remaining))
        }
      }
    default: f.attributeValue(attribute?.uuid)
    }
  }

  private func readEntries(
    _ f: inout FieldReader, handles: Int, _ type: BluetoothUUID?
  ) throws(DecodeError) {
    let length = Int(try f.uint8("entry length", unit: "bytes"))
    guard length >= handles * 2 else { return }
    while !f.isAtEnd {
      try f.group("entry") { f throws(DecodeError) in
        try f.hex16("handle")
        if handles == 2 { try f.hex16("last handle of the group") }
        try f.value("value", { r throws(DecodeError) in try r.readBytes(length - handles * 2) }) {
          handles == 2 ? Self.uuidOrBytes($0) : Self.words($0, type: type)
        }
      }
    }
  }
}

extension FieldReader {
  fileprivate mutating func attributeHandle(_ name: String, _ attribute: Attribute?) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in AttributeHandle(try reader.readUInt16()) }) {
      "\($0)" + (attribute.map { " (\($0.name))" } ?? "")
    }
  }

  fileprivate mutating func handleRange() throws(DecodeError) {
    try hex16("first handle")
    try hex16("last handle")
  }

  fileprivate mutating func attributeValue(_ type: BluetoothUUID?) {
    guard !isAtEnd else { return }
    let count = remaining
    _ = try? value("value", { reader throws(DecodeError) in try reader.readBytes(count) }) {
      ATTLayer.value($0, type)
    }
  }
}
