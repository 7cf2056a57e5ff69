import BluetoothCore

/// Every PDU of the Attribute Protocol (Core Specification Vol 3, Part F, 3.4). Values are in the byte order
/// of the wire.
public enum ATTPDU: Hashable, Sendable {
  case errorResponse(ATTErrorResponse)
  case exchangeMTURequest(clientMTU: UInt16)
  case exchangeMTUResponse(serverMTU: UInt16)
  case findInformationRequest(HandleRange)
  case findInformationResponse([ATTHandleAndType])
  case findByTypeValueRequest(HandleRange, type: UInt16, value: [UInt8])
  case findByTypeValueResponse([HandleRange])
  case readByTypeRequest(HandleRange, type: BluetoothUUID)
  case readByTypeResponse([ATTHandleAndValue])
  case readRequest(AttributeHandle)
  case readResponse([UInt8])
  case readBlobRequest(AttributeHandle, offset: UInt16)
  case readBlobResponse([UInt8])
  case readMultipleRequest([AttributeHandle])
  /// The concatenated values; their lengths are known only to the client.
  case readMultipleResponse([UInt8])
  case readByGroupTypeRequest(HandleRange, type: BluetoothUUID)
  case readByGroupTypeResponse([ATTGroupAndValue])
  case writeRequest(AttributeHandle, value: [UInt8])
  case writeResponse
  case writeCommand(AttributeHandle, value: [UInt8])
  case signedWriteCommand(AttributeHandle, value: [UInt8], signature: ATTSignature)
  case prepareWriteRequest(ATTPreparedWrite)
  case prepareWriteResponse(ATTPreparedWrite)
  case executeWriteRequest(ATTExecuteFlags)
  case executeWriteResponse
  case readMultipleVariableRequest([AttributeHandle])
  case readMultipleVariableResponse([[UInt8]])
  case handleValueNotification(AttributeHandle, value: [UInt8])
  case handleValueIndication(AttributeHandle, value: [UInt8])
  case handleValueConfirmation
  case multipleHandleValueNotification([ATTHandleAndValue])
  /// An opcode that this version of the specification does not have.
  case unknown(ATTOpcode, parameters: [UInt8])

  public var opcode: ATTOpcode {
    switch self {
    case .errorResponse: .errorResponse
    case .exchangeMTURequest: .exchangeMTURequest
    case .exchangeMTUResponse: .exchangeMTUResponse
    case .findInformationRequest: .findInformationRequest
    case .findInformationResponse: .findInformationResponse
    case .findByTypeValueRequest: .findByTypeValueRequest
    case .findByTypeValueResponse: .findByTypeValueResponse
    case .readByTypeRequest: .readByTypeRequest
    case .readByTypeResponse: .readByTypeResponse
    case .readRequest: .readRequest
    case .readResponse: .readResponse
    case .readBlobRequest: .readBlobRequest
    case .readBlobResponse: .readBlobResponse
    case .readMultipleRequest: .readMultipleRequest
    case .readMultipleResponse: .readMultipleResponse
    case .readByGroupTypeRequest: .readByGroupTypeRequest
    case .readByGroupTypeResponse: .readByGroupTypeResponse
    case .writeRequest: .writeRequest
    case .writeResponse: .writeResponse
    case .writeCommand: .writeCommand
    case .signedWriteCommand: .signedWriteCommand
    case .prepareWriteRequest: .prepareWriteRequest
    case .prepareWriteResponse: .prepareWriteResponse
    case .executeWriteRequest: .executeWriteRequest
    case .executeWriteResponse: .executeWriteResponse
    case .readMultipleVariableRequest: .readMultipleVariableRequest
    case .readMultipleVariableResponse: .readMultipleVariableResponse
    case .handleValueNotification: .handleValueNotification
    case .handleValueIndication: .handleValueIndication
    case .handleValueConfirmation: .handleValueConfirmation
    case .multipleHandleValueNotification: .multipleHandleValueNotification
    case .unknown(let opcode, _): opcode
    }
  }
}

/// Error Response (3.4.1.1). `handle` is informative: many servers send a handle other than the requested one.
public struct ATTErrorResponse: Error, Hashable, Sendable {
  /// The request that failed.
  public var request: ATTOpcode
  public var handle: AttributeHandle
  /// Why it failed.
  public var code: ATTErrorCode

  public init(request: ATTOpcode, handle: AttributeHandle, code: ATTErrorCode) {
    self.request = request
    self.handle = handle
    self.code = code
  }
}

/// An entry of Find Information Response (3.4.3.2).
public struct ATTHandleAndType: Hashable, Sendable {
  public var handle: AttributeHandle
  public var type: BluetoothUUID

  public init(handle: AttributeHandle, type: BluetoothUUID) {
    self.handle = handle
    self.type = type
  }
}

/// An entry of Read By Type Response (3.4.4.2) and of Multiple Handle Value Notification (3.4.7.4).
public struct ATTHandleAndValue: Hashable, Sendable {
  public var handle: AttributeHandle
  public var value: [UInt8]

  public init(handle: AttributeHandle, value: [UInt8]) {
    self.handle = handle
    self.value = value
  }
}

/// An entry of Read By Group Type Response (3.4.4.10).
public struct ATTGroupAndValue: Hashable, Sendable {
  /// The handles of the group.
  public var group: HandleRange
  public var value: [UInt8]

  public init(group: HandleRange, value: [UInt8]) {
    self.group = group
    self.value = value
  }
}

/// A part of a queued write, and its echo (3.4.6.1, 3.4.6.2).
public struct ATTPreparedWrite: Hashable, Sendable {
  public var handle: AttributeHandle
  /// Where the part begins in the value, in bytes.
  public var offset: UInt16
  public var value: [UInt8]

  public init(handle: AttributeHandle, offset: UInt16, value: [UInt8]) {
    self.handle = handle
    self.offset = offset
    self.value = value
  }
}

/// What Execute Write Request does with the queue (3.4.6.3).
public struct ATTExecuteFlags: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Discards the queue.
  public static let cancel = ATTExecuteFlags(rawValue: 0)
  /// Writes all parts in the queue.
  public static let write = ATTExecuteFlags(rawValue: 1)
}

/// The authentication signature after a Signed Write Command (3.3.1): a counter and a message authentication code of 8
/// bytes.
public struct ATTSignature: Hashable, Sendable {
  /// In bytes.
  static let length = 12

  /// SignCounter; the client increments it with each signed write.
  public var counter: UInt32
  /// The message authentication code.
  public var code: UInt64

  public init(counter: UInt32, code: UInt64) {
    self.counter = counter
    self.code = code
  }
}

extension ATTExecuteFlags: FieldCode {
  public var description: String {
    switch self {
    case .cancel: "cancel"
    case .write: "write"
    default: "\(rawValue)"
    }
  }
}
