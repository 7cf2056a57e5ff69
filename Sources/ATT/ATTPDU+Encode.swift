import BluetoothCore

extension ATTPDU {
  /// Writes the PDU, opcode first.
  ///
  /// Lists must have entries of one size, as the format demands; entries of another size than the first are
  /// left out, and so is an entry that is too large for a length byte.
  public func write(into writer: inout ByteWriter) {
    writer.write(opcode.rawValue)
    switch self {
    case .errorResponse(let error):
      writer.write(error.request.rawValue)
      writer.write(error.handle.rawValue)
      writer.write(error.code.rawValue)
    case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): writer.write(mtu)
    case .findInformationRequest(let range): writer.write(range)
    case .findInformationResponse(let entries):
      let length = entries.first?.type.wireLength ?? 2
      writer.write(UInt8(length == 2 ? 1 : 2))
      for entry in entries where entry.type.wireLength == length {
        writer.write(entry.handle.rawValue)
        entry.type.write(into: &writer)
      }
    case .findByTypeValueRequest(let range, let type, let value):
      writer.write(range)
      writer.write(type)
      writer.write(value)
    case .findByTypeValueResponse(let ranges): for range in ranges { writer.write(range) }
    case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
      writer.write(range)
      type.write(into: &writer)
    case .readByTypeResponse(let entries):
      let length = min(entries.first?.value.count ?? 0, 253)
      writer.write(UInt8(length + 2))
      for entry in entries where entry.value.count == length {
        writer.write(entry.handle.rawValue)
        writer.write(entry.value)
      }
    case .readByGroupTypeResponse(let entries):
      let length = min(entries.first?.value.count ?? 0, 251)
      writer.write(UInt8(length + 4))
      for entry in entries where entry.value.count == length {
        writer.write(entry.group)
        writer.write(entry.value)
      }
    case .readRequest(let handle): writer.write(handle.rawValue)
    case .readBlobRequest(let handle, let offset):
      writer.write(handle.rawValue)
      writer.write(offset)
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      for handle in handles { writer.write(handle.rawValue) }
    case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value):
      writer.write(value)
    case .readMultipleVariableResponse(let values):
      for value in values {
        writer.write(UInt16(truncatingIfNeeded: value.count))
        writer.write(value)
      }
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
      writer.write(handle.rawValue)
      writer.write(value)
    case .signedWriteCommand(let handle, let value, let signature):
      writer.write(handle.rawValue)
      writer.write(value)
      writer.write(signature.counter)
      writer.write(signature.code)
    case .prepareWriteRequest(let part), .prepareWriteResponse(let part):
      writer.write(part.handle.rawValue)
      writer.write(part.offset)
      writer.write(part.value)
    case .executeWriteRequest(let flags): writer.write(flags.rawValue)
    case .multipleHandleValueNotification(let entries):
      for entry in entries {
        writer.write(entry.handle.rawValue)
        writer.write(UInt16(truncatingIfNeeded: entry.value.count))
        writer.write(entry.value)
      }
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: break
    case .unknown(_, let parameters): writer.write(parameters)
    }
  }

  /// The PDU as bytes of its own.
  public var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 32)
    write(into: &writer)
    return writer.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func write(_ range: HandleRange) {
    write(range.start.rawValue)
    write(range.end.rawValue)
  }
}
