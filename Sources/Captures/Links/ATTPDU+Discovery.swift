import ATT

extension ATTPDU {
  /// Whether this may be the answer to a request: its response, or an error.
  package func answers(_ request: ATTPDU) -> Bool {
    if case .errorResponse(let error) = self { return error.request == request.opcode }
    return opcode == request.opcode.response
  }

  /// The handles that the request of a discovery asks for; nil for any other PDU.
  package var searched: HandleRange? {
    switch self {
    case .findInformationRequest(let range), .readByTypeRequest(let range, _),
      .readByGroupTypeRequest(let range, _), .findByTypeValueRequest(let range, _, _):
      range
    default: nil
    }
  }

  /// The last handle that the answer to a discovery has; nil for any other PDU.
  package var lastFound: AttributeHandle? {
    switch self {
    case .findInformationResponse(let entries): entries.last?.handle
    case .readByTypeResponse(let entries): entries.last?.handle
    case .readByGroupTypeResponse(let entries): entries.last?.group.end
    case .findByTypeValueResponse(let ranges): ranges.last?.end
    default: nil
    }
  }
}
