import ATT
import BluetoothCore
import GATTClient

extension ATTLayer {
  /// A one-line summary of the PDU.
  func summary(of source: RawSpan, _ gatt: GATTLayer?) -> String {
    if let problem { return "\(opcode), damaged: \(problem)" }
    let words = arguments(of: source, gatt)
    return words.isEmpty ? "\(opcode)" : "\(opcode), \(words)"
  }

  private func arguments(of source: RawSpan, _ gatt: GATTLayer?) -> String {
    let pdu: ATTPDU
    do throws(DecodeError) {
      pdu = try ATTPDU(source.extracting(range.clamped(to: 0..<source.byteCount)))
    } catch {
      return "damaged: \(error)"
    }
    func named(_ handle: AttributeHandle) -> String {
      gatt?.attribute.map { "\(handle) \($0.name)" } ?? "\(handle)"
    }
    switch pdu {
    case .errorResponse(let error): return "\(error.code) for \(error.request), \(named(error.handle))"
    case .exchangeMTURequest(let mtu): return "client MTU \(mtu)"
    case .exchangeMTUResponse(let mtu): return "server MTU \(mtu)"
    case .findInformationRequest(let range): return "\(range)"
    case .findInformationResponse(let entries):
      return entries.map { "\($0.handle) \(UUIDName.short($0.type))" }.joined(separator: ", ")
    case .findByTypeValueRequest(let range, let type, let value):
      return "\(UUIDName.short(BluetoothUUID(type))) \(Self.uuidOrBytes(value)), \(range)"
    case .findByTypeValueResponse(let ranges): return ranges.map(\.description).joined(separator: ", ")
    case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
      return "\(UUIDName.short(type)), \(range)"
    case .readByTypeResponse(let entries):
      return entries.map { "\($0.handle) \(Self.words($0.value, type: gatt?.type))" }.joined(separator: ", ")
    case .readByGroupTypeResponse(let entries):
      return entries.map { "\($0.group) \(Self.uuidOrBytes($0.value))" }.joined(separator: ", ")
    case .readRequest(let handle): return named(handle)
    case .readBlobRequest(let handle, let offset): return "\(named(handle)) from byte \(offset)"
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      return handles.map(\.description).joined(separator: ", ")
    case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value):
      return (gatt?.attribute.map { "\($0.name): " } ?? "") + Self.value(value, gatt?.attribute?.uuid)
    case .readMultipleVariableResponse(let values):
      return values.map { Hex.string($0) }.joined(separator: ", ")
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .signedWriteCommand(let handle, let value, _), .handleValueNotification(let handle, let value),
      .handleValueIndication(let handle, let value):
      return "\(named(handle)): \(Self.value(value, gatt?.attribute?.uuid))"
    case .prepareWriteRequest(let part), .prepareWriteResponse(let part):
      return "\(named(part.handle)) from byte \(part.offset): \(Hex.string(part.value))"
    case .executeWriteRequest(let flags): return flags == .cancel ? "cancel" : "write"
    case .multipleHandleValueNotification(let entries):
      return entries.map { "\($0.handle) \(Hex.string($0.value))" }.joined(separator: ", ")
    case .unknown(_, let parameters): return Hex.string(parameters)
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: return ""
    }
  }

  /// The value of an entry of Read By Type Response, if its type is known.
  static func words(_ value: [UInt8], type: BluetoothUUID?) -> String {
    guard type == GATTUUID.characteristic, let declared = AttributeTable.declaration(value) else {
      return Self.value(value, type)
    }
    return "\(UUIDName.short(declared.uuid)) (\(declared.properties)) at \(declared.value)"
  }

  /// Values of a few types as text; all others in hexadecimal.
  static func value(_ value: [UInt8], _ type: BluetoothUUID?) -> String {
    switch type?.short {
    case 0x2902? where value.count == 2:
      switch value[0] & 3 {
      case 0: return "off"
      case 1: return "notifications on"
      case 2: return "indications on"
      default: return "notifications and indications on"
      }
    case 0x2A19? where value.count == 1: return "\(value[0]) percent"
    case 0x2A00?, 0x2A24?, 0x2A25?, 0x2A26?, 0x2A27?, 0x2A28?, 0x2A29?, 0x2901?:
      return "\"\(String(printable: value))\""
    default: return value.isEmpty ? "empty" : Hex.string(value)
    }
  }

  static func uuidOrBytes(_ value: [UInt8]) -> String {
    let uuid = value.withReader { reader in try? BluetoothUUID(parsing: &reader, length: value.count) }
    return uuid.map(UUIDName.short) ?? Hex.string(value)
  }
}
