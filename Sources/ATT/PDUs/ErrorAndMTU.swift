import HaloBluetoothCore

/// The answer to a request that failed (3.4.1.1). `handle` is informative: many servers send a handle other than the
/// requested one.
public struct ATTErrorResponse: ATTPDU, Error {
  public static let info = ATTPDUInfo(.errorResponse, "Error Response", "1.1", .response)

  /// The request that failed.
  public var request = ATTOpcode(rawValue: 0)
  public var handle: AttributeHandle = 0
  /// Why it failed.
  public var code = ATTErrorCode(rawValue: 0)

  public init() {}

  public init(request: ATTOpcode, handle: AttributeHandle, code: ATTErrorCode) {
    self.request = request
    self.handle = handle
    self.code = code
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("request in error", &request)
    try fields.value("handle in error", &handle)
    try fields.value("error", &code)
  }
}

/// Tells the server the largest PDU that the client takes (3.4.2.1).
public struct ATTExchangeMTURequest: ATTPDU {
  public static let info = ATTPDUInfo(
    .exchangeMTURequest, "Exchange MTU Request", "2.1", .request, response: .exchangeMTUResponse)

  /// In bytes.
  public var clientMTU: UInt16 = 0

  public init() {}
  public init(clientMTU: UInt16) { self.clientMTU = clientMTU }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("client MTU", &clientMTU, .unit("bytes"))
  }
}

/// Tells the client the largest PDU that the server takes (3.4.2.2).
public struct ATTExchangeMTUResponse: ATTPDU {
  public static let info = ATTPDUInfo(.exchangeMTUResponse, "Exchange MTU Response", "2.2", .response)

  /// In bytes.
  public var serverMTU: UInt16 = 0

  public init() {}
  public init(serverMTU: UInt16) { self.serverMTU = serverMTU }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("server MTU", &serverMTU, .unit("bytes"))
  }
}
