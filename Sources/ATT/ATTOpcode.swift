import BluetoothCore

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
  }

  private struct Row {
    var name: String
    /// In Vol 3, Part F, 3.4.
    var section: String
    var kind: Kind
    var response: ATTOpcode?
  }

  private static let rows: [ATTOpcode: Row] = [
    .errorResponse: .init(name: "Error Response", section: "1.1", kind: .response),
    .exchangeMTURequest: .init(
      name: "Exchange MTU Request", section: "2.1", kind: .request, response: .exchangeMTUResponse),
    .exchangeMTUResponse: .init(name: "Exchange MTU Response", section: "2.2", kind: .response),
    .findInformationRequest: .init(
      name: "Find Information Request", section: "3.1", kind: .request, response: .findInformationResponse),
    .findInformationResponse: .init(name: "Find Information Response", section: "3.2", kind: .response),
    .findByTypeValueRequest: .init(
      name: "Find By Type Value Request", section: "3.3", kind: .request, response: .findByTypeValueResponse),
    .findByTypeValueResponse: .init(name: "Find By Type Value Response", section: "3.4", kind: .response),
    .readByTypeRequest: .init(
      name: "Read By Type Request", section: "4.1", kind: .request, response: .readByTypeResponse),
    .readByTypeResponse: .init(name: "Read By Type Response", section: "4.2", kind: .response),
    .readRequest: .init(name: "Read Request", section: "4.3", kind: .request, response: .readResponse),
    .readResponse: .init(name: "Read Response", section: "4.4", kind: .response),
    .readBlobRequest: .init(
      name: "Read Blob Request", section: "4.5", kind: .request, response: .readBlobResponse),
    .readBlobResponse: .init(name: "Read Blob Response", section: "4.6", kind: .response),
    .readMultipleRequest: .init(
      name: "Read Multiple Request", section: "4.7", kind: .request, response: .readMultipleResponse),
    .readMultipleResponse: .init(name: "Read Multiple Response", section: "4.8", kind: .response),
    .readByGroupTypeRequest: .init(
      name: "Read By Group Type Request", section: "4.9", kind: .request, response: .readByGroupTypeResponse),
    .readByGroupTypeResponse: .init(name: "Read By Group Type Response", section: "4.10", kind: .response),
    .writeRequest: .init(name: "Write Request", section: "5.1", kind: .request, response: .writeResponse),
    .writeResponse: .init(name: "Write Response", section: "5.2", kind: .response),
    .prepareWriteRequest: .init(
      name: "Prepare Write Request", section: "6.1", kind: .request, response: .prepareWriteResponse),
    .prepareWriteResponse: .init(name: "Prepare Write Response", section: "6.2", kind: .response),
    .executeWriteRequest: .init(
      name: "Execute Write Request", section: "6.3", kind: .request, response: .executeWriteResponse),
    .executeWriteResponse: .init(name: "Execute Write Response", section: "6.4", kind: .response),
    .handleValueNotification: .init(name: "Handle Value Notification", section: "7.1", kind: .notification),
    .handleValueIndication: .init(
      name: "Handle Value Indication", section: "7.2", kind: .indication, response: .handleValueConfirmation),
    .handleValueConfirmation: .init(name: "Handle Value Confirmation", section: "7.3", kind: .confirmation),
    .readMultipleVariableRequest: .init(
      name: "Read Multiple Variable Request", section: "4.11", kind: .request,
      response: .readMultipleVariableResponse),
    .readMultipleVariableResponse: .init(
      name: "Read Multiple Variable Response", section: "4.12", kind: .response),
    .multipleHandleValueNotification: .init(
      name: "Multiple Handle Value Notification", section: "7.4", kind: .notification),
    .writeCommand: .init(name: "Write Command", section: "5.3", kind: .command),
    .signedWriteCommand: .init(name: "Signed Write Command", section: "5.4", kind: .command),
  ]

  /// By number, as it is looked up for each PDU.
  private static let table: [Row?] = (0...UInt8.max).map { rows[ATTOpcode($0)] }

  /// Where the PDU is specified: `Vol 3, Part F, 3.4.7.1`.
  public var reference: String { Self.references[Int(rawValue)] }

  private static let references = table.map { row in
    "Vol 3, Part F, 3.4" + (row.map { ".\($0.section)" } ?? "")
  }

  public var kind: Kind {
    if let known = Self.table[Int(rawValue)]?.kind { return known }
    return rawValue & 0x40 != 0 ? .command : .unknown
  }

  /// The opcode of the success answer to this request or indication.
  public var response: ATTOpcode? { Self.table[Int(rawValue)]?.response }
}

extension ATTOpcode: TextWritable {
  public func write(to text: inout TextBuffer) {
    if let name = Self.table[Int(rawValue)]?.name { return text.write(name) }
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
