import HaloBluetoothCore

/// Why an ATT transaction failed.
package enum ATTError: Error, Hashable, Sendable {
  /// The server answered with an Error Response.
  case refused(ATTErrorResponse)
  /// The server's response can't be decoded.
  case malformed(ATTOpcode, DecodeError)
  /// The server did not respond within 30 seconds, or in the time that the request had. ATT has no transaction identifiers,
  /// so a late response could be mistaken for that of another request: the bearer can't be used any more (Core Specification
  /// Vol 3, Part F, 3.3.3).
  case timedOut(ATTOpcode)
  /// The link is closed, with the reason.
  case closed(String)
  /// The value does not fit into one PDU at the MTU in force; a long write can carry it.
  case tooLong(count: Int, maximum: Int)

  /// The code of an Error Response.
  package var code: ATTErrorCode? {
    if case .refused(let response) = self { response.code } else { nil }
  }
}

extension ATTError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .refused(let response):
      "the peer refused the \(response.request) on handle \(response.handle): \(response.code)"
        + (response.code.isSecurityRelated ? "; the attribute requires pairing, which is not supported" : "")
    case .malformed(let opcode, let error): "the peer's \(opcode) can't be read: \(error)"
    case .timedOut(let opcode): "the peer did not answer the \(opcode) in time; the link is given up"
    case .closed(let reason): "the link is gone: \(reason)"
    case .tooLong(let count, let maximum):
      "\(count) bytes do not fit into one PDU, which holds \(maximum)"
    }
  }
}
