import BluetoothCore

/// The server's side of a client that has no attributes. Peers discover their central too, and a request that
/// nobody answers blocks them for 30 seconds: so each gets the right refusal.
enum EmptyServer {
  /// The answer to a PDU that is addressed to a server; nil if it must not be answered. Exchange MTU Request is
  /// the bearer's business.
  static func answer(to pdu: RawSpan) -> ATTPDU? {
    guard let first = pdu.byte(at: 0) else { return nil }
    let opcode = ATTOpcode(rawValue: first)
    func refusal(_ code: ATTErrorCode, _ handle: AttributeHandle = AttributeHandle(0)) -> ATTPDU {
      .errorResponse(ATTErrorResponse(request: opcode, handle: handle, code: code))
    }
    guard let request = try? ATTPDU(pdu) else {
      return opcode.kind == .request ? refusal(.invalidPDU) : nil
    }
    switch request {
    case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
      .readByTypeRequest(let range, _):
      return refusal(range.isValid ? .attributeNotFound : .invalidHandle, range.start)
    case .readByGroupTypeRequest(let range, let type):
      guard range.isValid else { return refusal(.invalidHandle, range.start) }
      let isGroup = type == BluetoothUUID(UInt16(0x2800)) || type == BluetoothUUID(UInt16(0x2801))
      return refusal(isGroup ? .attributeNotFound : .unsupportedGroupType, range.start)
    case .readRequest(let handle), .readBlobRequest(let handle, _), .writeRequest(let handle, _):
      return refusal(.invalidHandle, handle)
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      return refusal(.invalidHandle, handles.first ?? AttributeHandle(0))
    case .prepareWriteRequest(let part): return refusal(.requestNotSupported, part.handle)
    case .executeWriteRequest: return refusal(.requestNotSupported)
    default: return opcode.kind == .unknown ? refusal(.requestNotSupported) : nil
    }
  }
}
