import HaloBluetoothCore

/// A PDU of the Attribute Protocol (Core Specification Vol 3, Part F, 3.4). Its fields are the parameters after the
/// opcode, in the byte order of the wire. One declaration is sufficient to write, read, name and show the PDU. It also
/// needs a line in ``ATTPDUInfo/declared``.
///
/// Bytes after the last field of a fixed-size PDU are ignored, as later versions of the specification may add fields.
/// Lists must fit exactly: a truncated entry invalidates the list.
package protocol ATTPDU: PacketFields, Hashable {
  static var info: ATTPDUInfo { get }

  /// The first byte of the PDU.
  var opcode: ATTOpcode { get }
  /// The attributes that a request is about.
  var target: ATTTarget { get }
  /// The last handle in the answer to a discovery, after which the client continues; nil for any other PDU.
  var lastFound: AttributeHandle? { get }

  /// Reads the parameters. This and ``write(into:)`` are requirements, so that the ones that are specialized for a type
  /// are also found for a PDU whose type is not known.
  init(parsing reader: inout ByteReader) throws(DecodeError)
  /// Writes the parameters.
  func write(into writer: inout ByteWriter)
}

extension ATTPDU {
  package var opcode: ATTOpcode { Self.info.opcode }
  package var target: ATTTarget { .none }
  package var lastFound: AttributeHandle? { nil }

  /// Reads one complete PDU of this type, opcode first.
  ///
  /// - Throws: `DecodeError` also for a PDU of another type
  package init(pdu: RawSpan) throws(DecodeError) {
    var reader = ByteReader(pdu)
    guard try reader.readUInt8() == Self.info.opcode.rawValue else {
      throw DecodeError(offset: 0, reason: .invalid("another PDU"))
    }
    try self.init(parsing: &reader)
  }

  /// Whether this may be the answer to a request: its response, or an error.
  package func answers(_ request: any ATTPDU) -> Bool {
    guard opcode == .errorResponse else { return opcode == request.opcode.response }
    return (self as? ATTErrorResponse)?.request == request.opcode
  }

  /// Writes the complete PDU, opcode first.
  ///
  /// The format requires list entries of equal size; entries of another size than the first are omitted, as are the
  /// bytes of an entry that exceed a length byte.
  package func writePDU(into writer: inout ByteWriter) {
    writer.write(opcode.rawValue)
    write(into: &writer)
  }

  /// The complete PDU as a byte array.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 32)
    writePDU(into: &writer)
    return writer.bytes
  }

  /// Compares the bytes, as the opcode, which is no field, counts, too.
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

package func == (left: (any ATTPDU)?, right: (any ATTPDU)?) -> Bool { left?.bytes == right?.bytes }

/// The attributes that a request names.
package enum ATTTarget: Hashable, Sendable {
  /// No attribute.
  case none
  /// One; the first one, of several.
  case attribute(AttributeHandle)
  /// All that match in a range.
  case range(HandleRange)

  /// The attribute, or the first handle of the range; nil for no attribute.
  package var start: AttributeHandle? {
    switch self {
    case .none: nil
    case .attribute(let handle): handle
    case .range(let range): range.start
    }
  }

  /// The range; nil for other targets.
  package var range: HandleRange? {
    if case .range(let range) = self { range } else { nil }
  }
}

/// The specification of a PDU, except its parameters.
package struct ATTPDUInfo: Sendable {
  package let opcode: ATTOpcode
  /// The name in the specification.
  package let name: String
  package let kind: ATTOpcode.Kind
  /// The opcode of the success answer, if it is a request or an indication.
  package let response: ATTOpcode?
  /// In Vol 3, Part F, 3.4.
  private let section: String

  /// - Parameters:
  ///   - opcode: the number
  ///   - name: the name in the specification
  ///   - section: in Vol 3, Part F, 3.4
  ///   - kind: how it is answered
  ///   - response: the response to it, if it is a request or an indication
  init(
    _ opcode: ATTOpcode, _ name: String, _ section: String, _ kind: ATTOpcode.Kind, response: ATTOpcode? = nil
  ) {
    self.opcode = opcode
    self.name = name
    self.section = section
    self.kind = kind
    self.response = response
  }

  /// Where the PDU is specified: `Vol 3, Part F, 3.4.7.1`.
  package var reference: String { "Vol 3, Part F, 3.4.\(section)" }

  /// All PDUs of the specification.
  package static let declared: [any ATTPDU.Type] = [
    ATTErrorResponse.self,
    ATTExchangeMTURequest.self, ATTExchangeMTUResponse.self,
    ATTFindInformationRequest.self, ATTFindInformationResponse.self,
    ATTFindByTypeValueRequest.self, ATTFindByTypeValueResponse.self,
    ATTReadByTypeRequest.self, ATTReadByTypeResponse.self,
    ATTReadRequest.self, ATTReadResponse.self,
    ATTReadBlobRequest.self, ATTReadBlobResponse.self,
    ATTReadMultipleRequest.self, ATTReadMultipleResponse.self,
    ATTReadByGroupTypeRequest.self, ATTReadByGroupTypeResponse.self,
    ATTReadMultipleVariableRequest.self, ATTReadMultipleVariableResponse.self,
    ATTWriteRequest.self, ATTWriteResponse.self, ATTWriteCommand.self, ATTSignedWriteCommand.self,
    ATTPrepareWriteRequest.self, ATTPrepareWriteResponse.self,
    ATTExecuteWriteRequest.self, ATTExecuteWriteResponse.self,
    ATTHandleValueNotification.self, ATTMultipleHandleValueNotification.self,
    ATTHandleValueIndication.self, ATTHandleValueConfirmation.self,
  ]
}

/// A PDU with an opcode that this version of the specification does not have.
package struct ATTUnknownPDU: ATTPDU {
  package static let info = ATTPDUInfo(ATTOpcode(rawValue: 0), "", "", .unknown)

  package var opcode = ATTOpcode(rawValue: 0)
  package var parameters: [UInt8] = []

  package init() {}

  package init(_ opcode: ATTOpcode, parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.rest("value", &parameters)
  }
}

/// Reads PDUs of any kind.
package enum ATTReader {
  /// Reads one complete PDU, opcode first, up to the end of the reader.
  package static func read(_ reader: inout ByteReader) throws(DecodeError) -> any ATTPDU {
    let opcode = ATTOpcode(rawValue: try reader.readUInt8())
    return try opcode.type.map { type throws(DecodeError) in try type.init(parsing: &reader) }
      ?? ATTUnknownPDU(opcode, parameters: reader.readRemainingBytes())
  }

  /// Reads one complete PDU.
  package static func read(_ bytes: RawSpan) throws(DecodeError) -> any ATTPDU {
    var reader = ByteReader(bytes)
    return try read(&reader)
  }

  /// Lists the opcode and the parameters of the PDU that `lister` stands at.
  package static func list(_ lister: inout FieldLister) throws(DecodeError) {
    var opcode = ATTOpcode(rawValue: 0)
    try lister.value("opcode", &opcode)
    var pdu: any ATTPDU = opcode.type?.init() ?? ATTUnknownPDU(opcode, parameters: [])
    try pdu.list(&lister)
  }
}
