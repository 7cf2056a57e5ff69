import BluetoothCore

/// The server half of a bearer: it gets what a client sends, and answers with ``ATTBearer/sendFromServer(_:)``.
///
/// The bearer itself answers Exchange MTU Request, as both halves share the MTU.
public protocol ATTServer: AnyObject {
  /// Handles a request, a command or a confirmation of the client.
  ///
  /// A request gets exactly one answer, now or later; anything else gets none.
  ///
  /// - Parameters:
  ///   - pdu: the opcode and its parameters, unchecked; the span is valid only during the call
  ///   - time: when the packet was received
  func receive(_ pdu: RawSpan, at time: Instant)
  /// The bearer has ended: nothing can be sent any more.
  func bearerClosed()
}

extension ATTPDU {
  /// Reads a PDU for a server, and checks what does not depend on the server's attributes (Core Specification Vol 3,
  /// Part F, 3.4).
  ///
  /// - Parameter bytes: one complete PDU, opcode first, and nothing behind it
  /// - Throws: the Error Response that a request gets; commands and confirmations get no answer
  public init(fromClient bytes: RawSpan) throws(ATTErrorResponse) {
    let opcode = ATTOpcode(rawValue: bytes.byte(at: 0) ?? 0)
    var reader = ByteReader(bytes)
    // Other PDUs may get fields in a later version of the specification. A client must not send them before.
    guard let pdu = try? ATTPDU(parsing: &reader), reader.isAtEnd else {
      throw ATTErrorResponse(request: opcode, handle: 0, code: .invalidPDU)
    }
    self = pdu
    if let (handle, code) = fault { throw ATTErrorResponse(request: opcode, handle: handle, code: code) }
  }

  /// What is wrong with a request of any client to any server.
  private var fault: (AttributeHandle, ATTErrorCode)? {
    switch self {
    case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
      .readByTypeRequest(let range, _):
      return range.isValid ? nil : (range.start, .invalidHandle)
    case .readByGroupTypeRequest(let range, let type):
      guard range.isValid else { return (range.start, .invalidHandle) }
      // The types of GATT whose attributes are groups for this request (Part G, 2.5.3).
      let isGroup = type == BluetoothUUID(UInt16(0x2800)) || type == BluetoothUUID(UInt16(0x2801))
      return isGroup ? nil : (range.start, .unsupportedGroupType)
    case .executeWriteRequest(let flags): return flags == .cancel || flags == .write ? nil : (0, .invalidPDU)
    default: return opcode.kind == .unknown ? (0, .requestNotSupported) : nil
    }
  }

  /// The answer to a request for attributes that do not exist; nil for a PDU that is about no attribute.
  public var refusalWithoutAttribute: ATTErrorResponse? {
    func refusal(_ handle: AttributeHandle, _ code: ATTErrorCode) -> ATTErrorResponse {
      ATTErrorResponse(request: opcode, handle: handle, code: code)
    }
    return switch self {
    case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
      .readByTypeRequest(let range, _), .readByGroupTypeRequest(let range, _):
      refusal(range.start, .attributeNotFound)
    case .readRequest(let handle), .readBlobRequest(let handle, _), .writeRequest(let handle, _):
      refusal(handle, .invalidHandle)
    case .prepareWriteRequest(let part): refusal(part.handle, .invalidHandle)
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      refusal(handles.first ?? 0, .invalidHandle)
    default: nil
    }
  }

  /// The answer of a server that has no attributes; nil if there is none. Peers may look for services on a client, and
  /// an unanswered request blocks them for 30 seconds.
  static func answerWithoutAttributes(to bytes: RawSpan) -> ATTPDU? {
    let kind = ATTOpcode(rawValue: bytes.byte(at: 0) ?? 0).kind
    guard kind == .request || kind == .unknown else { return nil }
    do throws(ATTErrorResponse) {
      let request = try ATTPDU(fromClient: bytes)
      // There is nothing in the queue to be executed.
      return request.refusalWithoutAttribute.map(ATTPDU.errorResponse) ?? .executeWriteResponse
    } catch {
      return .errorResponse(error)
    }
  }
}
