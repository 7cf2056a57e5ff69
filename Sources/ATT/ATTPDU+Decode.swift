import BluetoothCore

extension ATTPDU {
  /// Reads one whole PDU, opcode first, up to the end of the reader.
  ///
  /// Bytes behind the last field of a PDU of fixed size are ignored, as later versions of the specification
  /// may add fields there. Lists must fit exactly: an entry that is cut makes the whole list doubtful.
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    let opcode = ATTOpcode(rawValue: try reader.readUInt8())
    switch opcode {
    case .errorResponse:
      self = .errorResponse(
        ATTErrorResponse(
          request: ATTOpcode(rawValue: try reader.readUInt8()), handle: try reader.readHandle(),
          code: ATTErrorCode(rawValue: try reader.readUInt8())))
    case .exchangeMTURequest: self = .exchangeMTURequest(clientMTU: try reader.readUInt16())
    case .exchangeMTUResponse: self = .exchangeMTUResponse(serverMTU: try reader.readUInt16())
    case .findInformationRequest: self = .findInformationRequest(try reader.readRange())
    case .findInformationResponse: self = .findInformationResponse(try reader.readHandlesAndTypes())
    case .findByTypeValueRequest:
      self = .findByTypeValueRequest(
        try reader.readRange(), type: try reader.readUInt16(), value: reader.readRemainingBytes())
    case .findByTypeValueResponse:
      self = .findByTypeValueResponse(
        try reader.readList { reader throws(DecodeError) in try reader.readRange() })
    case .readByTypeRequest:
      self = .readByTypeRequest(try reader.readRange(), type: try reader.readType())
    case .readByTypeResponse: self = .readByTypeResponse(try reader.readHandlesAndValues())
    case .readRequest: self = .readRequest(try reader.readHandle())
    case .readResponse: self = .readResponse(reader.readRemainingBytes())
    case .readBlobRequest:
      self = .readBlobRequest(try reader.readHandle(), offset: try reader.readUInt16())
    case .readBlobResponse: self = .readBlobResponse(reader.readRemainingBytes())
    case .readMultipleRequest: self = .readMultipleRequest(try reader.readHandles())
    case .readMultipleResponse: self = .readMultipleResponse(reader.readRemainingBytes())
    case .readByGroupTypeRequest:
      self = .readByGroupTypeRequest(try reader.readRange(), type: try reader.readType())
    case .readByGroupTypeResponse: self = .readByGroupTypeResponse(try reader.readGroupsAndValues())
    case .writeRequest:
      self = .writeRequest(try reader.readHandle(), value: reader.readRemainingBytes())
    case .writeResponse: self = .writeResponse
    case .writeCommand:
      self = .writeCommand(try reader.readHandle(), value: reader.readRemainingBytes())
    case .signedWriteCommand:
      let handle = try reader.readHandle()
      let value = try reader.readBytes(reader.remaining - 12)
      let signature = ATTSignature(counter: try reader.readUInt32(), code: try reader.readUInt64())
      self = .signedWriteCommand(handle, value: value, signature: signature)
    case .prepareWriteRequest: self = .prepareWriteRequest(try reader.readPreparedWrite())
    case .prepareWriteResponse: self = .prepareWriteResponse(try reader.readPreparedWrite())
    case .executeWriteRequest:
      self = .executeWriteRequest(ATTExecuteFlags(rawValue: try reader.readUInt8()))
    case .executeWriteResponse: self = .executeWriteResponse
    case .readMultipleVariableRequest: self = .readMultipleVariableRequest(try reader.readHandles())
    case .readMultipleVariableResponse:
      self = .readMultipleVariableResponse(try reader.readVariableValues())
    case .handleValueNotification:
      self = .handleValueNotification(try reader.readHandle(), value: reader.readRemainingBytes())
    case .handleValueIndication:
      self = .handleValueIndication(try reader.readHandle(), value: reader.readRemainingBytes())
    case .handleValueConfirmation: self = .handleValueConfirmation
    case .multipleHandleValueNotification:
      self = .multipleHandleValueNotification(
        try reader.readList { reader throws(DecodeError) in
          let handle = try reader.readHandle()
          return ATTHandleAndValue(
            handle: handle, value: try reader.readBytes(Int(try reader.readUInt16())))
        })
    default: self = .unknown(opcode, parameters: reader.readRemainingBytes())
    }
  }

  /// Reads one whole PDU.
  public init(_ bytes: RawSpan) throws(DecodeError) {
    var reader = ByteReader(bytes)
    try self.init(parsing: &reader)
  }
}

extension ByteReader {
  mutating func readHandle() throws(DecodeError) -> AttributeHandle {
    AttributeHandle(try readUInt16())
  }

  fileprivate mutating func readRange() throws(DecodeError) -> HandleRange {
    HandleRange(try readHandle(), try readHandle())
  }

  /// The attribute type at the end of a request: 2 or 16 bytes (3.2.1).
  fileprivate mutating func readType() throws(DecodeError) -> BluetoothUUID {
    guard remaining == 2 || remaining == 16 else {
      throw invalid("an attribute type has 2 or 16 bytes, not \(remaining)")
    }
    return try BluetoothUUID(parsing: &self, length: remaining)
  }

  /// One entry or more, up to the end.
  fileprivate mutating func readList<Entry>(
    _ entry: (inout ByteReader) throws(DecodeError) -> Entry
  ) throws(DecodeError) -> [Entry] {
    var entries: [Entry] = []
    repeat { entries.append(try entry(&self)) } while !isAtEnd
    return entries
  }

  /// Two handles or more (3.4.4.7).
  fileprivate mutating func readHandles() throws(DecodeError) -> [AttributeHandle] {
    let handles = try readList { reader throws(DecodeError) in try reader.readHandle() }
    guard handles.count >= 2 else { throw invalid("a set of \(handles.count) handle, two are needed") }
    return handles
  }

  fileprivate mutating func readHandlesAndTypes() throws(DecodeError) -> [ATTHandleAndType] {
    let format = try readUInt8()
    guard format == 1 || format == 2 else { throw invalid("information format \(format) is not 1 or 2") }
    return try readList { reader throws(DecodeError) in
      ATTHandleAndType(
        handle: try reader.readHandle(),
        type: try BluetoothUUID(parsing: &reader, length: format == 1 ? 2 : 16))
    }
  }

  fileprivate mutating func readHandlesAndValues() throws(DecodeError) -> [ATTHandleAndValue] {
    let length = Int(try readUInt8())
    guard length >= 2 else { throw invalid("entry length \(length) is below 2") }
    return try readList { reader throws(DecodeError) in
      ATTHandleAndValue(handle: try reader.readHandle(), value: try reader.readBytes(length - 2))
    }
  }

  fileprivate mutating func readGroupsAndValues() throws(DecodeError) -> [ATTGroupAndValue] {
    let length = Int(try readUInt8())
    guard length >= 4 else { throw invalid("entry length \(length) is below 4") }
    return try readList { reader throws(DecodeError) in
      ATTGroupAndValue(group: try reader.readRange(), value: try reader.readBytes(length - 4))
    }
  }

  fileprivate mutating func readPreparedWrite() throws(DecodeError) -> ATTPreparedWrite {
    ATTPreparedWrite(
      handle: try readHandle(), offset: try readUInt16(), value: readRemainingBytes())
  }

  /// The last value may be cut where the MTU ends; its length still tells the whole (3.4.4.12).
  fileprivate mutating func readVariableValues() throws(DecodeError) -> [[UInt8]] {
    try readList { reader throws(DecodeError) in
      let length = Int(try reader.readUInt16())
      return try reader.readBytes(min(length, reader.remaining))
    }
  }
}
