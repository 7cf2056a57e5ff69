import HaloBluetoothCore

/// The first byte of an ATT PDU: the method, a command flag and a signature flag (Core Specification Vol 3,
/// Part F, 3.3.1).
@usableFromInline package struct ATTOpcode: RawRepresentable, Hashable, Sendable, TextWritable, FieldCode {
  @usableFromInline package var rawValue: UInt8

  @usableFromInline package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  private init(_ rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let errorResponse = ATTOpcode(0x01)
  package static let exchangeMTURequest = ATTOpcode(0x02)
  package static let exchangeMTUResponse = ATTOpcode(0x03)
  package static let findInformationRequest = ATTOpcode(0x04)
  package static let findInformationResponse = ATTOpcode(0x05)
  package static let findByTypeValueRequest = ATTOpcode(0x06)
  package static let findByTypeValueResponse = ATTOpcode(0x07)
  package static let readByTypeRequest = ATTOpcode(0x08)
  package static let readByTypeResponse = ATTOpcode(0x09)
  package static let readRequest = ATTOpcode(0x0A)
  package static let readResponse = ATTOpcode(0x0B)
  package static let readBlobRequest = ATTOpcode(0x0C)
  package static let readBlobResponse = ATTOpcode(0x0D)
  package static let readMultipleRequest = ATTOpcode(0x0E)
  package static let readMultipleResponse = ATTOpcode(0x0F)
  package static let readByGroupTypeRequest = ATTOpcode(0x10)
  package static let readByGroupTypeResponse = ATTOpcode(0x11)
  package static let writeRequest = ATTOpcode(0x12)
  package static let writeResponse = ATTOpcode(0x13)
  package static let prepareWriteRequest = ATTOpcode(0x16)
  package static let prepareWriteResponse = ATTOpcode(0x17)
  package static let executeWriteRequest = ATTOpcode(0x18)
  package static let executeWriteResponse = ATTOpcode(0x19)
  package static let handleValueNotification = ATTOpcode(0x1B)
  package static let handleValueIndication = ATTOpcode(0x1D)
  package static let handleValueConfirmation = ATTOpcode(0x1E)
  package static let readMultipleVariableRequest = ATTOpcode(0x20)
  package static let readMultipleVariableResponse = ATTOpcode(0x21)
  package static let multipleHandleValueNotification = ATTOpcode(0x23)
  package static let writeCommand = ATTOpcode(0x52)
  package static let signedWriteCommand = ATTOpcode(0xD2)

  /// The type of a PDU, which determines how it is answered (3.3).
  @usableFromInline package enum Kind: Sendable {
    /// Sent to a server, which responds.
    case request
    /// Sent to a server, which does not respond.
    case command
    /// A server's answer to the outstanding request.
    case response
    /// Sent by a server at any time.
    case notification
    /// Sent by a server, which waits for a confirmation.
    case indication
    case confirmation
    /// Not in the specification; without the command flag it may be a request of a later version.
    case unknown

    /// Which half of a bearer gets a PDU of this kind.
    package var half: Half {
      switch self {
      case .response, .notification, .indication: .client
      case .request, .command, .confirmation, .unknown: .server
      }
    }

    /// Whether a PDU of this kind gets a response or an Error Response.
    package var isAnswered: Bool { self == .request || self == .unknown }
  }

  /// The two halves of a bearer: each end of a link may be a client, a server or both (3.2.12).
  package enum Half: Sendable {
    /// Gets the PDUs of a server.
    case client
    /// Gets the PDUs of a client.
    case server
  }

  /// The name in the specification; nil if it has none.
  package var name: String? { table[Int(rawValue)]?.info.name }

  /// Where the PDU is specified: `Vol 3, Part F, 3.4.7.1`.
  package var reference: String { references[Int(rawValue)] }

  @usableFromInline package var kind: Kind {
    if let known = table[Int(rawValue)]?.info.kind { return known }
    return rawValue & 0x40 != 0 ? .command : .unknown
  }

  /// The opcode of the success answer to this request or indication.
  package var response: ATTOpcode? { table[Int(rawValue)]?.info.response }

  /// The declaration of the PDU; nil if the specification has none.
  package var type: (any ATTPDU.Type)? { table[Int(rawValue)]?.type }

  @usableFromInline package func write(to text: inout TextBuffer) {
    if let name { return text.write(name) }
    text.write("opcode ")
    text.writeHex(rawValue)
  }

  /// Name, number and flags (3.3.1).
  @usableFromInline package var fieldText: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    text.write(self)
    text.write(" (")
    text.writeHex(rawValue)
    if rawValue & 0x40 != 0 { text.write(", command") }
    if rawValue & 0x80 != 0 { text.write(", signed") }
    text.write(")")
  }
}

/// The known PDUs by opcode, as each of them is looked up.
private let table: [(info: ATTPDUInfo, type: any ATTPDU.Type)?] = {
  var table: [(info: ATTPDUInfo, type: any ATTPDU.Type)?] = Array(repeating: nil, count: 256)
  for type in ATTPDUInfo.declared { table[Int(type.info.opcode.rawValue)] = (type.info, type) }
  return table
}()

private let references = table.map { $0?.info.reference ?? "Vol 3, Part F, 3.4" }
