import ATT
import HaloBluetoothCore
import HaloGATT

/// An ATT PDU (Core Specification Vol 3, Part F, 3.4).
package struct ATTLayer: Hashable, Sendable {
  package var opcode: ATTOpcode
  /// The whole PDU, in ``DissectedPacket/source``.
  package var range: Range<Int>
  /// The one attribute that the PDU names, if it names one; of an Error Response, the attribute in error.
  package var handle: AttributeHandle?
  /// The range of the value in ``DissectedPacket/source``, if the PDU carries exactly one.
  package var value: Range<Int>?
  /// The code of an Error Response.
  package var error: ATTErrorCode?
  /// The request that an Error Response answers.
  package var failed: ATTOpcode?
  /// Why the PDU cannot be parsed.
  package var problem: PacketProblem?

  /// The parameters that follow the opcode.
  package var parameters: Range<Int> { range.lowerBound + 1..<range.upperBound }

  /// Reads the fields in fixed places.
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
      problem = PacketProblem(error)
    }
  }

  /// Whether the PDU has more than a handle and a value: ranges, types, lists.
  package var hasList: Bool {
    switch opcode {
    case .readRequest, .readResponse, .readBlobResponse, .writeRequest, .writeResponse, .writeCommand,
      .handleValueNotification, .handleValueIndication, .handleValueConfirmation, .errorResponse:
      false
    default: true
    }
  }

  /// Lists the fields of the PDU, with the known attributes and the parts of values.
  func list(_ source: RawSpan, _ gatt: GATTLayer?, to list: FieldList) {
    var index = list.count
    list.read(source, range, reference: opcode.reference) { lister throws(DecodeError) in
      try ATTReader.list(&lister)
    }
    while index < list.count {
      let range = list.entries[index].range
      let bytes = source.extracting(range)
      var parts: [PacketField] = []
      if list.isNamed(index, "value") {
        list.setValue(of: index) { writeField(bytes, gatt, to: &$0) }
        if let type = valueType(gatt) {
          if let reference = Self.reference(of: type) { list.setReference(of: index, reference) }
          parts = Self.valueFields(
            of: source, range, type, in: gatt?.service?.uuid, depth: list.entries[index].depth + 1)
        }
      } else if list.isNamed(index, "type") {
        var reader = ByteReader(bytes)
        if let uuid = try? BluetoothUUID(parsing: &reader, length: bytes.byteCount) {
          list.setValue(of: index) { $0.write(UUIDName.ofAttribute(uuid, isLong: true)) }
        }
      } else if list.isNamed(index, "handle") || list.isNamed(index, "handle in error"),
        let name = gatt?.attribute?.name
      {
        list.extendValue(of: index) { text in
          text.write(" (", name, ")")
        }
      }
      index += 1
      list.insert(parts, at: index)
      index += parts.count
    }
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
    case GATTUUID.characteristic: "Vol 3, Part G, 3.3.1"
    case GATTUUID.include: "Vol 3, Part G, 3.2"
    default: type.short.flatMap { CharacteristicValue.isKnown($0) ? CharacteristicValue.reference($0) : nil }
    }
  }

  /// The parts of a value.
  private static func valueFields(
    of source: RawSpan, _ range: Range<Int>, _ type: BluetoothUUID, in service: BluetoothUUID?, depth: Int
  ) -> [PacketField] {
    if type == GATTUUID.characteristic {
      return declarationFields(of: source, range, in: service, depth: depth)
    }
    if type == GATTUUID.include { return includeFields(of: source, range, depth: depth) }
    let fields = type.short.flatMap { CharacteristicValue.fields(of: source, range, type: $0) }
    return deepened(fields ?? [], by: depth)
  }

  private static func deepened(_ fields: [PacketField], by depth: Int) -> [PacketField] {
    fields.map { field in
      var field = field
      field.depth += depth
      return field
    }
  }

  /// The parts of a value, without the PDU around it; nil if the type of the attribute is not known.
  package func valueFields(of source: RawSpan, _ gatt: GATTLayer?) -> [PacketField]? {
    guard let value, let type = valueType(gatt)?.short else { return nil }
    return CharacteristicValue.fields(of: source, value, type: type)
  }

  /// The handles of an included service, and its UUID if that is short (Vol 3, Part G, 3.2).
  private static func includeFields(of source: RawSpan, _ range: Range<Int>, depth: Int) -> [PacketField] {
    var lister = FieldLister(source, range, reference: "Vol 3, Part G, 3.2")
    lister.readAll { lister throws(DecodeError) in
      var range = HandleRange(0, 0)
      try range.list(&lister)
      if lister.remaining == 2 {
        try lister.show("UUID", { r throws(DecodeError) in try r.readUInt16() }) {
          UUIDName.described(BluetoothUUID($0))
        }
      }
    }
    return deepened(lister.fields, by: depth)
  }

  private static func declarationFields(
    of source: RawSpan, _ range: Range<Int>, in service: BluetoothUUID?, depth: Int
  ) -> [PacketField] {
    let value = Array(source.extracting(range.clamped(to: 0..<source.byteCount)))
    guard let declared = CharacteristicDeclaration(parsing: value) else { return [] }
    let start = range.lowerBound
    func part(
      _ name: String, _ text: String, _ number: UInt16?, _ range: Range<Int>, _ section: String
    ) -> PacketField {
      var part = PacketField(name, text, range: range, reference: "Vol 3, Part G, \(section)", depth: depth)
      part.number = number.map { FieldNumber(Int64($0)) }
      return part
    }
    return [
      part(
        "properties", "\(declared.properties)", UInt16(declared.properties.rawValue), start..<start + 1,
        "3.3.1.1"),
      part(
        "value handle", "\(declared.valueHandle)", declared.valueHandle.rawValue, start + 1..<start + 3,
        "3.3.1.2"),
      part(
        "UUID", UUIDName.ofAttribute(declared.uuid, in: service, isLong: true), declared.uuid.short,
        start + 3..<range.upperBound, "3.3.1.3"),
    ]
  }

  private func writeField(_ value: RawSpan, _ gatt: GATTLayer?, to text: inout TextBuffer) {
    switch opcode {
    case .readByGroupTypeResponse: Self.writeUUID(value, to: &text)
    case .readByTypeResponse: Self.write(value, ofEntry: gatt, to: &text)
    case .findByTypeValueRequest, .prepareWriteRequest, .prepareWriteResponse:
      Self.write(value, of: nil, to: &text)
    case .signedWriteCommand, .readMultipleVariableResponse, .multipleHandleValueNotification:
      text.writeSpacedHex(value)
    case .readBlobResponse: Self.writePart(value, of: gatt?.attribute?.valueType, to: &text)
    default: Self.write(value, of: gatt?.attribute?.valueType, to: &text)
    }
  }

  /// Writes a one-line summary of the PDU.
  func writeSummary(of source: RawSpan, _ gatt: GATTLayer?, to text: inout TextBuffer) {
    text.write(opcode)
    let end = text.count
    text.write(", ")
    let start = text.count
    let whole = 0..<source.byteCount
    if let problem {
      if problem != .cut { text.write("damaged: ") }
      text.write(problem)
    } else if value.map({ writeValue(source.extracting($0.clamped(to: whole)), gatt, to: &text) }) != true {
      do throws(DecodeError) {
        try writeArguments(source.extracting(range.clamped(to: whole)), source, gatt, to: &text)
      } catch {
        text.write("damaged: \(error)")
      }
    }
    if text.count == start { text.truncate(to: end) }
  }

  /// Writes the arguments of a PDU that carries one value, which is read in place.
  ///
  /// - Returns: false if it has others, too
  private func writeValue(_ value: RawSpan, _ gatt: GATTLayer?, to text: inout TextBuffer) -> Bool {
    switch opcode {
    case .readResponse, .readBlobResponse, .readMultipleResponse:
      if let attribute = gatt?.attribute { text.write("", attribute.name, ": ") }
      let type = gatt?.attribute?.valueType
      if opcode == .readResponse {
        Self.write(value, of: type, to: &text)
      } else {
        Self.writePart(value, of: type, to: &text)
      }
    case .writeRequest, .writeCommand, .signedWriteCommand, .handleValueNotification, .handleValueIndication:
      if let handle { write(handle, gatt, to: &text) }
      text.write(": ")
      Self.write(value, of: gatt?.attribute?.valueType, to: &text)
    default: return false
    }
    return true
  }

  /// The handle and the name of its attribute.
  private func write(_ handle: AttributeHandle, _ gatt: GATTLayer?, to text: inout TextBuffer) {
    text.write(handle)
    guard let attribute = gatt?.attribute else { return }
    text.write(" ", attribute.name)
  }

  private func write(_ part: ATTPreparedWrite, _ gatt: GATTLayer?, to text: inout TextBuffer) {
    write(part.handle, gatt, to: &text)
    text.write(" from byte ", Int(part.offset), ": ")
    text.writeHex(part.value.span.bytes)
  }

  /// - Parameter pdu: the part of the source with the PDU
  private func writeArguments(
    _ pdu: RawSpan, _ source: RawSpan, _ gatt: GATTLayer?, to text: inout TextBuffer
  ) throws(DecodeError) {
    switch opcode {
    case .errorResponse:
      let error = try ATTErrorResponse(pdu: pdu)
      text.write("", error.code.description, " for ")
      text.write("", error.request, ", ")
      write(error.handle, gatt, to: &text)
    case .exchangeMTURequest:
      text.write("client MTU ")
      text.write(Int(try ATTExchangeMTURequest(pdu: pdu).clientMTU))
    case .exchangeMTUResponse:
      text.write("server MTU ")
      text.write(Int(try ATTExchangeMTUResponse(pdu: pdu).serverMTU))
    case .findInformationRequest: text.write(try ATTFindInformationRequest(pdu: pdu).range)
    case .findInformationResponse:
      text.write(try ATTFindInformationResponse(pdu: pdu).entries, at: { $0.handle }) { entry, text in
        text.write(UUIDName.ofAttribute(entry.type))
      }
    case .findByTypeValueRequest:
      let find = try ATTFindByTypeValueRequest(pdu: pdu)
      text.write("", UUIDName.ofAttribute(BluetoothUUID(find.type)), " ")
      Self.writeUUID(find.value.span.bytes, to: &text)
      text.write(", ", find.range)
    case .findByTypeValueResponse:
      text.write(try ATTFindByTypeValueResponse(pdu: pdu).ranges) { $1.write($0) }
    case .readByTypeRequest: Self.write(try ATTReadByTypeRequest(pdu: pdu), to: &text)
    case .readByGroupTypeRequest: Self.write(try ATTReadByGroupTypeRequest(pdu: pdu), to: &text)
    case .readByTypeResponse:
      text.write(try ATTReadByTypeResponse(pdu: pdu).entries, at: { $0.handle }) { entry, text in
        Self.write(entry.value.span.bytes, ofEntry: gatt, to: &text)
      }
    case .readByGroupTypeResponse:
      text.write(try ATTReadByGroupTypeResponse(pdu: pdu).entries, at: { $0.group }) { entry, text in
        Self.writeUUID(entry.value.span.bytes, to: &text)
      }
    case .readRequest: write(try ATTReadRequest(pdu: pdu).handle, gatt, to: &text)
    case .readBlobRequest:
      let read = try ATTReadBlobRequest(pdu: pdu)
      write(read.handle, gatt, to: &text)
      text.write(" from byte ", Int(read.offset))
    case .readMultipleRequest: text.write(try ATTReadMultipleRequest(pdu: pdu).handles) { $1.write($0) }
    case .readMultipleVariableRequest:
      text.write(try ATTReadMultipleVariableRequest(pdu: pdu).handles) { $1.write($0) }
    case .readMultipleVariableResponse:
      text.write(try ATTReadMultipleVariableResponse(pdu: pdu).values) { $1.writeHex($0.span.bytes) }
    case .prepareWriteRequest: write(try ATTPrepareWriteRequest(pdu: pdu).part, gatt, to: &text)
    case .prepareWriteResponse: write(try ATTPrepareWriteResponse(pdu: pdu).part, gatt, to: &text)
    case .executeWriteRequest:
      text.write(try ATTExecuteWriteRequest(pdu: pdu).flags == .cancel ? "cancel" : "write")
    case .multipleHandleValueNotification:
      text.write(try ATTMultipleHandleValueNotification(pdu: pdu).entries, at: { $0.handle }) { entry, text in
        text.writeHex(entry.value.span.bytes)
      }
    default:
      guard opcode.type == nil else {
        // PDUs with a value were read in place; others have their fields in order.
        let fields = FieldList()
        list(source, gatt, to: fields)
        return text.write(fields, after: "") { $0 == 0 }
      }
      text.writeHex(pdu.extracting(1..<pdu.byteCount))
    }
  }

  private static func write(_ request: some ATTTypeRequest, to text: inout TextBuffer) {
    text.write("", UUIDName.ofAttribute(request.type), ", ")
    text.write(request.range)
  }

  /// Writes the value of an entry of Read By Type Response, if its type is known.
  private static func write(_ value: RawSpan, ofEntry gatt: GATTLayer?, to text: inout TextBuffer) {
    guard gatt?.type == GATTUUID.characteristic,
      let declared = CharacteristicDeclaration(parsing: Array(value))
    else {
      return write(value, of: gatt?.type, to: &text)
    }
    text.write(
      "\(UUIDName.ofAttribute(declared.uuid, in: gatt?.service?.uuid)) (\(declared.properties)) at \(declared.valueHandle)"
    )
  }

  /// Writes values of the SIG's characteristics as text; all others in hexadecimal.
  static func write(_ value: RawSpan, of type: BluetoothUUID?, to text: inout TextBuffer) {
    if let short = type?.short, let words = CharacteristicValue.text(Array(value), type: short) {
      text.write(words)
    } else if value.byteCount == 0 {
      text.write("empty")
    } else {
      text.writeHex(value)
    }
  }

  /// Writes a part of a value: only text is understood without the rest.
  private static func writePart(_ value: RawSpan, of type: BluetoothUUID?, to text: inout TextBuffer) {
    write(value, of: type?.short.map(CharacteristicValue.isText) == true ? type : nil, to: &text)
  }

  private static func writeUUID(_ value: RawSpan, to text: inout TextBuffer) {
    var reader = ByteReader(value)
    if let uuid = try? BluetoothUUID(parsing: &reader, length: value.byteCount) {
      text.write(UUIDName.short(uuid))
    } else {
      text.writeHex(value)
    }
  }
}

extension TextBuffer {
  /// Writes items with commas between them.
  fileprivate mutating func write<Item>(_ items: [Item], _ body: (Item, inout TextBuffer) -> Void) {
    for (index, item) in items.enumerated() {
      if index > 0 { write(", ") }
      body(item, &self)
    }
  }

  /// The same for items that begin with a handle or a range.
  @inline(__always)
  fileprivate mutating func write<Item>(
    _ items: [Item], at place: (Item) -> some TextWritable, _ body: (Item, inout TextBuffer) -> Void
  ) {
    write(items) { item, text in
      text.write("", place(item), " ")
      body(item, &text)
    }
  }
}
