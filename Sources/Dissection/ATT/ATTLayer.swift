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
  /// Whether the PDU has more than a handle and a value: ranges, types, lists.
  public var hasList: Bool {
    switch opcode {
    case .readRequest, .readResponse, .readBlobResponse, .writeRequest, .writeResponse, .writeCommand,
      .handleValueNotification, .handleValueIndication, .handleValueConfirmation, .errorResponse:
      false
    default: true
    }
  }

  /// The fields of the PDU, with the known attributes.
  func fields(of source: RawSpan, _ gatt: GATTLayer?) -> [PacketField] {
    var lister = FieldLister(source, range, reference: reference)
    lister.readAll { lister throws(DecodeError) in
      try ATTPDU.list(&lister)
    }
    var fields: [PacketField] = []
    for var field in lister.fields {
      switch field.name {
      case "handle", "handle in error": if let name = gatt?.attribute?.name { field.value += " (\(name))" }
      case "type": field.value = Self.type(of: source, field.range) ?? field.value
      case "value":
        field.value = words(of: source, field.range, gatt)
        if let type = valueType(gatt) { field.reference = Self.reference(of: type) ?? field.reference }
      default: break
      }
      fields.append(field)
      if field.name == "value" { fields += valueFields(of: source, field, gatt) }
    }
    return fields
  }

  /// The type of the attribute whose value the PDU has; nil if it is not known, or not in one PDU.
  private func valueType(_ gatt: GATTLayer?) -> BluetoothUUID? {
    switch opcode {
    case .readByTypeResponse: gatt?.type
    case .readResponse, .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication:
      gatt?.attribute?.valueType
    default: nil
    }
  }

  /// Where the value of a declaration or a descriptor of GATT is specified.
  private static func reference(of type: BluetoothUUID) -> String? {
    switch type {
    case GATTUUID.characteristic: "Vol 3, Part G, 3.3.1.1"
    case GATTUUID.include: "Vol 3, Part G, 3.2"
    default: type.short.flatMap { CharacteristicValue.isKnown($0) ? CharacteristicValue.reference($0) : nil }
    }
  }

  /// The parts of a value, one level below it.
  func valueFields(of source: RawSpan, _ field: PacketField, _ gatt: GATTLayer?) -> [PacketField] {
    guard let type = valueType(gatt) else { return [] }
    if type == GATTUUID.characteristic { return Self.declarationFields(of: source, field) }
    if type == GATTUUID.include { return Self.includeFields(of: source, field) }
    guard let short = type.short,
      var fields = CharacteristicValue.fields(of: source, field.range, type: short)
    else { return [] }
    for index in fields.indices { fields[index].depth += field.depth + 1 }
    return fields
  }

  /// The parts of a value, without the PDU around it; nil if the type of the attribute is not known.
  public func valueFields(of source: RawSpan, _ gatt: GATTLayer?) -> [PacketField]? {
    guard let value, let type = valueType(gatt)?.short else { return nil }
    return CharacteristicValue.fields(of: source, value, type: type)
  }

  /// The handles of an included service, and its UUID if that is short (Vol 3, Part G, 3.2).
  private static func includeFields(of source: RawSpan, _ field: PacketField) -> [PacketField] {
    var lister = FieldLister(source, field.range, reference: "Vol 3, Part G, 3.2")
    lister.readAll { lister throws(DecodeError) in
      var range = HandleRange(0, 0)
      try range.list(&lister)
      if lister.remaining == 2 {
        try lister.show("UUID", { r throws(DecodeError) in try r.readUInt16() }) {
          UUIDName.described(BluetoothUUID($0))
        }
      }
    }
    return lister.fields.map { part in
      var part = part
      part.depth += field.depth + 1
      return part
    }
  }

  private static func declarationFields(of source: RawSpan, _ field: PacketField) -> [PacketField] {
    let value = Array(source.extracting(field.range.clamped(to: 0..<source.byteCount)))
    guard let declared = AttributeTable.declaration(value) else { return [] }
    let start = field.range.lowerBound
    func part(_ name: String, _ text: String, _ number: UInt16?, _ range: Range<Int>) -> PacketField {
      var part = PacketField(
        name, text, range: range, reference: "Vol 3, Part G, 3.3.1.1", depth: field.depth + 1)
      part.number = number.map { FieldNumber(Int64($0)) }
      return part
    }
    return [
      part(
        "properties", "\(declared.properties)", UInt16(declared.properties.rawValue), start..<start + 1),
      part("value handle", "\(declared.value)", declared.value.rawValue, start + 1..<start + 3),
      part(
        "UUID", UUIDName.described(declared.uuid), declared.uuid.short, start + 3..<field.range.upperBound),
    ]
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
    case .readBlobResponse: return Self.part(value, gatt?.attribute?.valueType)
    default: return Self.value(value, gatt?.attribute?.valueType)
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
    case .readResponse(let value):
      return (gatt?.attribute.map { "\($0.name): " } ?? "") + Self.value(value, gatt?.attribute?.valueType)
    case .readBlobResponse(let value), .readMultipleResponse(let value):
      return (gatt?.attribute.map { "\($0.name): " } ?? "") + Self.part(value, gatt?.attribute?.valueType)
    case .readMultipleVariableResponse(let values):
      return values.map { Hex.string($0) }.joined(separator: ", ")
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .signedWriteCommand(let handle, let value, _), .handleValueNotification(let handle, let value),
      .handleValueIndication(let handle, let value):
      return "\(named(handle)): \(Self.value(value, gatt?.attribute?.valueType))"
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

  /// Values of the SIG's characteristics as text; all others in hexadecimal.
  static func value(_ value: [UInt8], _ type: BluetoothUUID?) -> String {
    if let short = type?.short, let text = CharacteristicValue.text(value, type: short) { return text }
    return value.isEmpty ? "empty" : Hex.string(value)
  }

  /// A part of a value: only text is understood without the rest.
  private static func part(_ value: [UInt8], _ type: BluetoothUUID?) -> String {
    self.value(value, type?.short.map(CharacteristicValue.isText) == true ? type : nil)
  }

  private static func uuidOrBytes(_ value: [UInt8]) -> String {
    let uuid = value.withReader { reader in try? BluetoothUUID(parsing: &reader, length: value.count) }
    return uuid.map(UUIDName.short) ?? Hex.string(value)
  }
}
