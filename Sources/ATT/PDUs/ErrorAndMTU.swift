import HaloBluetoothCore

/// The answer to a request that failed (3.4.1.1). `handle` is informative: many servers send a handle other than the
/// requested one.
package struct ATTErrorResponse: ATTPDU, Error {
  package static let info = ATTPDUInfo(.errorResponse, "Error Response", "1.1", .response)

  /// The request that failed.
  package var request = ATTOpcode(rawValue: 0)
  package var handle: AttributeHandle = 0
  /// Why it failed.
  package var code = ATTErrorCode(rawValue: 0)

  package init() {}

  package init(request: ATTOpcode, handle: AttributeHandle, code: ATTErrorCode) {
    self.request = request
    self.handle = handle
    self.code = code
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("request in error", &request)
    try fields.value("handle in error", &handle)
    try fields.value("error", &code)
  }
}

/// The largest PDU that the client takes (3.4.2.1).
package struct ATTExchangeMTURequest: ATTPDU {
  package static let info = ATTPDUInfo(
    .exchangeMTURequest, "Exchange MTU Request", "2.1", .request, response: .exchangeMTUResponse)

  /// In bytes.
  package var clientMTU: UInt16 = 0

  package init() {}
  package init(clientMTU: UInt16) { self.clientMTU = clientMTU }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("client MTU", &clientMTU, .unit("bytes"))
  }
}

/// The largest PDU that the server takes (3.4.2.2).
package struct ATTExchangeMTUResponse: ATTPDU {
  package static let info = ATTPDUInfo(.exchangeMTUResponse, "Exchange MTU Response", "2.2", .response)

  /// In bytes.
  package var serverMTU: UInt16 = 0

  package init() {}
  package init(serverMTU: UInt16) { self.serverMTU = serverMTU }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("server MTU", &serverMTU, .unit("bytes"))
  }
}
