import BluetoothCore

/// The server role of a client without attributes. Peers may run discovery on the central, and an unanswered request
/// blocks them for 30 seconds, so each request is answered with the specified error.
enum EmptyServer {
  /// The answer to a PDU addressed to a server; nil if it must not be answered. The bearer handles Exchange MTU
  /// Request.
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
