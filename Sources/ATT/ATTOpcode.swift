import HaloBluetoothCore

/// The first byte of an ATT PDU: the method, a command flag and a signature flag (Core Specification Vol 3,
/// Part F, 3.3.1).
public struct ATTOpcode: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  private init(_ rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let errorResponse = ATTOpcode(0x01)
  public static let exchangeMTURequest = ATTOpcode(0x02)
  public static let exchangeMTUResponse = ATTOpcode(0x03)
  public static let findInformationRequest = ATTOpcode(0x04)
  public static let findInformationResponse = ATTOpcode(0x05)
  public static let findByTypeValueRequest = ATTOpcode(0x06)
  public static let findByTypeValueResponse = ATTOpcode(0x07)
  public static let readByTypeRequest = ATTOpcode(0x08)
  public static let readByTypeResponse = ATTOpcode(0x09)
  public static let readRequest = ATTOpcode(0x0A)
  public static let readResponse = ATTOpcode(0x0B)
  public static let readBlobRequest = ATTOpcode(0x0C)
  public static let readBlobResponse = ATTOpcode(0x0D)
  public static let readMultipleRequest = ATTOpcode(0x0E)
  public static let readMultipleResponse = ATTOpcode(0x0F)
  public static let readByGroupTypeRequest = ATTOpcode(0x10)
  public static let readByGroupTypeResponse = ATTOpcode(0x11)
  public static let writeRequest = ATTOpcode(0x12)
  public static let writeResponse = ATTOpcode(0x13)
  public static let prepareWriteRequest = ATTOpcode(0x16)
  public static let prepareWriteResponse = ATTOpcode(0x17)
  public static let executeWriteRequest = ATTOpcode(0x18)
  public static let executeWriteResponse = ATTOpcode(0x19)
  public static let handleValueNotification = ATTOpcode(0x1B)
  public static let handleValueIndication = ATTOpcode(0x1D)
  public static let handleValueConfirmation = ATTOpcode(0x1E)
  public static let readMultipleVariableRequest = ATTOpcode(0x20)
  public static let readMultipleVariableResponse = ATTOpcode(0x21)
  public static let multipleHandleValueNotification = ATTOpcode(0x23)
  public static let writeCommand = ATTOpcode(0x52)
  public static let signedWriteCommand = ATTOpcode(0xD2)

  /// The type of a PDU, which determines how it is answered (3.3).
  public enum Kind: Sendable {
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
    public var half: Half {
      switch self {
      case .response, .notification, .indication: .client
      case .request, .command, .confirmation, .unknown: .server
      }
    }

    /// Whether a PDU of this kind gets a response or an Error Response.
    public var isAnswered: Bool { self == .request || self == .unknown }
  }

  /// The two halves of a bearer: each end of a link may be a client, a server or both (3.2.12).
  public enum Half: Sendable {
    /// Gets what a server sends.
    case client
    /// Gets what a client sends.
    case server
  }
}

/// What is known of the PDUs by number, as it is looked up for each of them.
private let table: [(info: ATTPDUInfo, type: any ATTPDU.Type)?] = {
  var table: [(info: ATTPDUInfo, type: any ATTPDU.Type)?] = Array(repeating: nil, count: 256)
  for type in ATTPDUInfo.declared { table[Int(type.info.opcode.rawValue)] = (type.info, type) }
  return table
}()

private let references = table.map { $0?.info.reference ?? "Vol 3, Part F, 3.4" }

extension ATTOpcode {
  /// The name in the specification; nil if it has none.
  public var name: String? { table[Int(rawValue)]?.info.name }

  /// Where the PDU is specified: `Vol 3, Part F, 3.4.7.1`.
  public var reference: String { references[Int(rawValue)] }

  public var kind: Kind {
    if let known = table[Int(rawValue)]?.info.kind { return known }
    return rawValue & 0x40 != 0 ? .command : .unknown
  }

  /// The opcode of the success answer to this request or indication.
  public var response: ATTOpcode? { table[Int(rawValue)]?.info.response }

  /// The declaration of the PDU; nil if the specification has none.
  public var type: (any ATTPDU.Type)? { table[Int(rawValue)]?.type }
}

extension ATTOpcode: TextWritable {
  public func write(to text: inout TextBuffer) {
    if let name { return text.write(name) }
    text.write("opcode ")
    text.writeHex(rawValue)
  }
}

extension ATTOpcode: FieldCode {
  /// Name, number and flags (3.3.1).
  public var fieldText: String { TextBuffer.string { writeField(to: &$0) } }

  public func writeField(to text: inout TextBuffer) {
    text.write(self)
    text.write(" (")
    text.writeHex(rawValue)
    if rawValue & 0x40 != 0 { text.write(", command") }
    if rawValue & 0x80 != 0 { text.write(", signed") }
    text.write(")")
  }
}
