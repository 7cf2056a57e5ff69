import BluetoothCore

/// What is known of each PDU, one row each.
extension ATTOpcode {
  private struct Row {
    var empty: ATTPDU
    var name: String
    /// In Vol 3, Part F, 3.4.
    var section: String
    var kind: Kind
    var response: ATTOpcode?

    /// - Parameters:
    ///   - empty: the PDU with all parameters zero or empty
    ///   - section: in Vol 3, Part F, 3.4
    ///   - response: what answers it, if it is a request or an indication
    init(
      _ empty: ATTPDU, _ name: String, _ section: String, _ kind: Kind, response: ATTOpcode? = nil
    ) {
      self.empty = empty
      self.name = name
      self.section = section
      self.kind = kind
      self.response = response
    }
  }

  private static let rows: [Row] = [
    .init(
      .errorResponse(.init(request: .init(rawValue: 0), handle: 0, code: .init(rawValue: 0))),
      "Error Response", "1.1", .response),
    .init(
      .exchangeMTURequest(clientMTU: 0), "Exchange MTU Request", "2.1", .request,
      response: .exchangeMTUResponse),
    .init(.exchangeMTUResponse(serverMTU: 0), "Exchange MTU Response", "2.2", .response),
    .init(
      .findInformationRequest(.none), "Find Information Request", "3.1", .request,
      response: .findInformationResponse),
    .init(.findInformationResponse([]), "Find Information Response", "3.2", .response),
    .init(
      .findByTypeValueRequest(.none, type: 0, value: []), "Find By Type Value Request", "3.3", .request,
      response: .findByTypeValueResponse),
    .init(.findByTypeValueResponse([]), "Find By Type Value Response", "3.4", .response),
    .init(
      .readByTypeRequest(.none, type: .zero), "Read By Type Request", "4.1", .request,
      response: .readByTypeResponse),
    .init(.readByTypeResponse([]), "Read By Type Response", "4.2", .response),
    .init(.readRequest(0), "Read Request", "4.3", .request, response: .readResponse),
    .init(.readResponse([]), "Read Response", "4.4", .response),
    .init(.readBlobRequest(0, offset: 0), "Read Blob Request", "4.5", .request, response: .readBlobResponse),
    .init(.readBlobResponse([]), "Read Blob Response", "4.6", .response),
    .init(
      .readMultipleRequest([]), "Read Multiple Request", "4.7", .request, response: .readMultipleResponse),
    .init(.readMultipleResponse([]), "Read Multiple Response", "4.8", .response),
    .init(
      .readByGroupTypeRequest(.none, type: .zero), "Read By Group Type Request", "4.9", .request,
      response: .readByGroupTypeResponse),
    .init(.readByGroupTypeResponse([]), "Read By Group Type Response", "4.10", .response),
    .init(.writeRequest(0, value: []), "Write Request", "5.1", .request, response: .writeResponse),
    .init(.writeResponse, "Write Response", "5.2", .response),
    .init(
      .prepareWriteRequest(.init(handle: 0, offset: 0, value: [])), "Prepare Write Request", "6.1", .request,
      response: .prepareWriteResponse),
    .init(
      .prepareWriteResponse(.init(handle: 0, offset: 0, value: [])), "Prepare Write Response", "6.2",
      .response),
    .init(
      .executeWriteRequest(.cancel), "Execute Write Request", "6.3", .request, response: .executeWriteResponse
    ),
    .init(.executeWriteResponse, "Execute Write Response", "6.4", .response),
    .init(.handleValueNotification(0, value: []), "Handle Value Notification", "7.1", .notification),
    .init(
      .handleValueIndication(0, value: []), "Handle Value Indication", "7.2", .indication,
      response: .handleValueConfirmation),
    .init(.handleValueConfirmation, "Handle Value Confirmation", "7.3", .confirmation),
    .init(
      .readMultipleVariableRequest([]), "Read Multiple Variable Request", "4.11", .request,
      response: .readMultipleVariableResponse),
    .init(.readMultipleVariableResponse([]), "Read Multiple Variable Response", "4.12", .response),
    .init(.multipleHandleValueNotification([]), "Multiple Handle Value Notification", "7.4", .notification),
    .init(.writeCommand(0, value: []), "Write Command", "5.3", .command),
    .init(
      .signedWriteCommand(0, value: [], signature: .init(counter: 0, code: 0)), "Signed Write Command", "5.4",
      .command),
  ]

  /// By number, as it is looked up for each PDU.
  private static let table: [Row?] = {
    var table: [Row?] = Array(repeating: nil, count: 256)
    for row in rows { table[Int(row.empty.opcode.rawValue)] = row }
    return table
  }()

  private var row: Row? { Self.table[Int(rawValue)] }

  /// The name in the specification; nil if it has none.
  public var name: String? { row?.name }

  /// Where the PDU is specified: `Vol 3, Part F, 3.4.7.1`.
  public var reference: String { Self.references[Int(rawValue)] }

  private static let references = table.map { row in
    "Vol 3, Part F, 3.4" + (row.map { ".\($0.section)" } ?? "")
  }

  public var kind: Kind {
    if let known = row?.kind { return known }
    return rawValue & 0x40 != 0 ? .command : .unknown
  }

  /// The opcode of the success answer to this request or indication.
  public var response: ATTOpcode? { row?.response }

  /// The PDU with all parameters zero or empty, to be filled by decoding.
  var emptyPDU: ATTPDU { row?.empty ?? .unknown(self, parameters: []) }
}
