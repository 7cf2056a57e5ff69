import ATT
import BluetoothCore
import GATTClient

/// An ATT PDU (Core Specification Vol 3, Part F, 3.4).
public struct ATTLayer: Hashable, Sendable {
  public var opcode: ATTOpcode
  /// The whole PDU, in ``DissectedPacket/source``.
  public var range: Range<Int>
  /// The one attribute that the PDU names, if it names one; of an Error Response, the attribute in error.
  public var handle: AttributeHandle?
  /// The range of the value in ``DissectedPacket/source``, if the PDU carries exactly one.
  public var value: Range<Int>?
  /// Of an Error Response.
  public var error: ATTErrorCode?
  /// Of an Error Response: the request that failed.
  public var failed: ATTOpcode?
  /// Why the PDU cannot be parsed.
  public var problem: DecodeError?

  /// The parameters that follow the opcode.
  public var parameters: Range<Int> { range.lowerBound + 1..<range.upperBound }

  /// Reads what is in a fixed place.
  ///
  /// - Returns: nil if there is not even an opcode
  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard !range.isEmpty, let byte = source.byte(at: range.lowerBound) else { return nil }
    opcode = ATTOpcode(rawValue: byte)
    self.range = range
    var reader = ByteReader(source.extracting(range))
    do throws(DecodeError) {
      try reader.skip(1)
      var end = range.upperBound
      switch opcode {
      case .errorResponse:
        failed = ATTOpcode(rawValue: try reader.readUInt8())
        handle = AttributeHandle(try reader.readUInt16())
        error = ATTErrorCode(rawValue: try reader.readUInt8())
        return
      case .readRequest, .readBlobRequest:
        handle = AttributeHandle(try reader.readUInt16())
        return
      case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication:
        handle = AttributeHandle(try reader.readUInt16())
      case .signedWriteCommand:
        handle = AttributeHandle(try reader.readUInt16())
        guard reader.remaining >= 12 else {
          throw DecodeError(offset: 3, reason: .truncated(needed: 12, available: reader.remaining))
        }
        end -= 12
      case .prepareWriteRequest, .prepareWriteResponse:
        handle = AttributeHandle(try reader.readUInt16())
        try reader.skip(2)
      case .findByTypeValueRequest: try reader.skip(6)
      case .readResponse, .readBlobResponse, .readMultipleResponse: break
      default: return
      }
      value = range.lowerBound + reader.offset..<end
    } catch {
      problem = error
    }
  }

  /// The section of the PDU.
  var reference: String { opcode.reference }
}

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

  private static func uuidOrBytes(_ value: [UInt8]) -> String {
    let uuid = value.withReader { reader in try? BluetoothUUID(parsing: &reader, length: value.count) }
    return uuid.map(UUIDName.short) ?? Hex.string(value)
  }
}
