import ATT
import BluetoothCore
import GATTClient

extension ATTLayer {
  /// The fields of the PDU, with the known attributes.
  func fields(of source: RawSpan, _ gatt: GATTLayer?) -> [PacketField] {
    var lister = FieldLister(source, range, reference: reference)
    lister.readAll { lister throws(DecodeError) in
      try ATTPDU.list(&lister)
    }
    return lister.fields.map { field in
      var field = field
      switch field.name {
      case "handle", "handle in error": if let name = gatt?.attribute?.name { field.value += " (\(name))" }
      case "type": field.value = Self.type(of: source, field.range) ?? field.value
      case "value": field.value = words(of: source, field.range, gatt)
      default: break
      }
      return field
    }
  }

  private static func type(of source: RawSpan, _ range: Range<Int>) -> String? {
    var reader = ByteReader(source.extracting(range))
    return (try? BluetoothUUID(parsing: &reader, length: range.count)).map(UUIDName.described)
  }

  private func words(of source: RawSpan, _ range: Range<Int>, _ gatt: GATTLayer?) -> String {
    let value = Array(source.extracting(range))
    switch opcode {
    case .readByGroupTypeResponse: return Self.uuidOrBytes(value)
    case .readByTypeResponse: return Self.words(value, type: gatt?.type)
    case .findByTypeValueRequest, .prepareWriteRequest, .prepareWriteResponse: return Self.value(value, nil)
    case .signedWriteCommand, .readMultipleVariableResponse, .multipleHandleValueNotification:
      return Hex.string(value, separator: " ")
    default: return Self.value(value, gatt?.attribute?.uuid)
    }
  }
}
