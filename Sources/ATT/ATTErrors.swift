import HaloBluetoothCore

/// Why an ATT transaction failed.
extension StackError {
  /// The Error Response of the server; nil if it gave none.
  package var response: ATTErrorResponse? {
    guard case .server(let code, let opcode, let handle) = cause else { return nil }
    return ATTErrorResponse(
      request: ATTOpcode(rawValue: opcode), handle: AttributeHandle(rawValue: handle),
      code: ATTErrorCode(rawValue: code))
  }

  /// The reason of the server; nil if it gave none.
  package var attCode: ATTErrorCode? { response?.code }

  /// The server answered with an Error Response.
  package static func refused(_ response: ATTErrorResponse) -> StackError {
    let hint =
      response.code.isSecurityRelated && response.code != .insufficientAuthorization
      ? "; the attribute requires pairing, which is not supported" : ""
    return StackError(
      .refused, .final,
      "the peer refused the \(response.request) on handle \(response.handle): \(response.code)\(hint)",
      cause: .server(response.code.rawValue, response.request.rawValue, response.handle.rawValue))
  }

  /// The server's response can't be decoded.
  package static func malformed(_ opcode: ATTOpcode, _ error: DecodeError) -> StackError {
    StackError(.malformed, .final, "the peer's \(opcode) can't be read: \(error)")
  }

  /// The server did not respond within 30 seconds, or in the time that the request had. ATT has no transaction identifiers,
  /// so a late response could be mistaken for that of another request: the bearer can't be used any more (Core Specification
  /// Vol 3, Part F, 3.3.3).
  package static func timedOut(_ opcode: ATTOpcode) -> StackError {
    StackError(.timedOut, .silence, "the peer did not answer the \(opcode) in time; the link is given up")
  }

  /// The link is closed, with the reason.
  package static func closed(_ reason: String) -> StackError {
    StackError(.closed, .link, reason, operation: "the link is gone")
  }

  /// No attribute value is longer than 512 bytes (Core Specification Vol 3, Part F, 3.2.9).
  package static func tooLong(_ count: Int) -> StackError {
    let maximum = ATTBearer.maximumValueLength
    return StackError(
      .tooLong, .final, "\(count) bytes are too many: an attribute value holds \(maximum) at most")
  }

  /// The value does not fit into one PDU at the MTU in force; a long write can carry it.
  package static func tooLong(count: Int, maximum: Int) -> StackError {
    StackError(.tooLongForPDU, .final, "\(count) bytes do not fit into one PDU, which holds \(maximum)")
  }
}
