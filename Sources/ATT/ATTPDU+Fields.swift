import BluetoothCore

extension ATTPDU {
  /// Visits the parameters after the opcode.
  ///
  /// Bytes after the last field of a fixed-size PDU are ignored, as later versions of the specification may add fields.
  /// Lists must fit exactly: a truncated entry invalidates the list.
  mutating func visitParameters<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    switch self {
    case .errorResponse(var error):
      try fields.value("request in error", &error.request)
      try fields.value("handle in error", &error.handle)
      try fields.value("error", &error.code)
      self = .errorResponse(error)
    case .exchangeMTURequest(var mtu):
      try fields.value("client MTU", &mtu, .unit("bytes"))
      self = .exchangeMTURequest(clientMTU: mtu)
    case .exchangeMTUResponse(var mtu):
      try fields.value("server MTU", &mtu, .unit("bytes"))
      self = .exchangeMTUResponse(serverMTU: mtu)
    case .findInformationRequest(var range):
      try range.visit(&fields)
      self = .findInformationRequest(range)
    case .findInformationResponse(var entries):
      try entries.visit(&fields)
      self = .findInformationResponse(entries)
    case .findByTypeValueRequest(var range, var type, var value):
      try range.visit(&fields)
      try fields.value("type", &type, .hex)
      try fields.rest("value", &value)
      self = .findByTypeValueRequest(range, type: type, value: value)
    case .findByTypeValueResponse(var ranges):
      try fields.entries(nil, &ranges)
      self = .findByTypeValueResponse(ranges)
    case .readByTypeRequest(var range, var type):
      try range.visit(&fields)
      try fields.attributeType(&type)
      self = .readByTypeRequest(range, type: type)
    case .readByGroupTypeRequest(var range, var type):
      try range.visit(&fields)
      try fields.attributeType(&type)
      self = .readByGroupTypeRequest(range, type: type)
    case .readByTypeResponse(var entries):
      try entries.visit(&fields)
      self = .readByTypeResponse(entries)
    case .readByGroupTypeResponse(var entries):
      try entries.visit(&fields)
      self = .readByGroupTypeResponse(entries)
    case .readRequest(var handle):
      try fields.value("handle", &handle)
      self = .readRequest(handle)
    case .readBlobRequest(var handle, var offset):
      try fields.value("handle", &handle)
      try fields.value("offset", &offset)
      self = .readBlobRequest(handle, offset: offset)
    case .readMultipleRequest(var handles):
      try fields.handles(&handles)
      self = .readMultipleRequest(handles)
    case .readMultipleVariableRequest(var handles):
      try fields.handles(&handles)
      self = .readMultipleVariableRequest(handles)
    case .readResponse(var value):
      try fields.rest("value", &value)
      self = .readResponse(value)
    case .readBlobResponse(var value):
      try fields.rest("value", &value)
      self = .readBlobResponse(value)
    case .readMultipleResponse(var value):
      try fields.rest("value", &value)
      self = .readMultipleResponse(value)
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: break
    case .writeRequest, .writeCommand, .signedWriteCommand, .prepareWriteRequest, .prepareWriteResponse,
      .executeWriteRequest, .readMultipleVariableResponse, .handleValueNotification, .handleValueIndication,
      .multipleHandleValueNotification, .unknown:
      try visitWrites(&fields)
    }
  }

  private mutating func visitWrites<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    switch self {
    case .writeRequest(var handle, var value):
      try fields.attribute(&handle, &value)
      self = .writeRequest(handle, value: value)
    case .writeCommand(var handle, var value):
      try fields.attribute(&handle, &value)
      self = .writeCommand(handle, value: value)
    case .handleValueNotification(var handle, var value):
      try fields.attribute(&handle, &value)
      self = .handleValueNotification(handle, value: value)
    case .handleValueIndication(var handle, var value):
      try fields.attribute(&handle, &value)
      self = .handleValueIndication(handle, value: value)
    case .signedWriteCommand(var handle, var value, var signature):
      try fields.value("handle", &handle)
      try fields.bytes(
        "value", &value, count: fields.bytesLeft.map { $0 - ATTSignature.length } ?? value.count)
      try fields.value("sign counter", &signature.counter)
      try fields.value("signature", &signature.code, .hex)
      self = .signedWriteCommand(handle, value: value, signature: signature)
    case .prepareWriteRequest(var part):
      try part.visit(&fields)
      self = .prepareWriteRequest(part)
    case .prepareWriteResponse(var part):
      try part.visit(&fields)
      self = .prepareWriteResponse(part)
    case .executeWriteRequest(var flags):
      try fields.value("flags", &flags)
      self = .executeWriteRequest(flags)
    case .readMultipleVariableResponse(let values):
      var entries = values.map { VariableValue(value: $0) }
      try fields.entries("entry", &entries)
      self = .readMultipleVariableResponse(entries.map(\.value))
    case .multipleHandleValueNotification(let values):
      var entries = values.map { HandleAndVariableValue(handle: $0.handle, value: $0.value) }
      try fields.entries("entry", &entries)
      self = .multipleHandleValueNotification(entries.map { .init(handle: $0.handle, value: $0.value) })
    case .unknown(let opcode, var parameters):
      try fields.rest("value", &parameters)
      self = .unknown(opcode, parameters: parameters)
    default: break
    }
  }
}

extension ATTPDU {
  /// Reads one complete PDU, opcode first, up to the end of the reader.
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self = ATTOpcode(rawValue: try reader.readUInt8()).emptyPDU
    try visitParameters(&reader)
  }

  /// Reads one complete PDU.
  public init(_ bytes: RawSpan) throws(DecodeError) {
    var reader = ByteReader(bytes)
    try self.init(parsing: &reader)
  }

  /// Writes the PDU, opcode first.
  ///
  /// The format requires list entries of equal size; entries of another size than the first are omitted, as are the
  /// bytes of an entry that exceed a length byte.
  public func write(into writer: inout ByteWriter) {
    opcode.write(into: &writer)
    var pdu = self
    pdu.visitParameters(&writer)
  }

  /// The PDU as a byte array.
  public var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 32)
    write(into: &writer)
    return writer.bytes
  }

  /// Lists the opcode and the parameters of the PDU that `lister` stands at.
  public static func list(_ lister: inout FieldLister) throws(DecodeError) {
    var opcode = ATTOpcode(rawValue: 0)
    try lister.value("opcode", &opcode)
    var pdu = opcode.emptyPDU
    try pdu.visitParameters(&lister)
  }
}
