import BluetoothCore

/// Ends a link. Its end is told by Disconnection Complete (Core Specification Vol 4, Part E, 7.1.6).
public struct Disconnect: HCIStatusCommand, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x0406)

  public var handle: ConnectionHandle
  /// What the peer is told.
  public var reason: HCIErrorCode

  public init(handle: ConnectionHandle, reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    self.handle = handle
    self.reason = reason
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    reason = try HCIErrorCode(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    reason.write(into: &writer)
  }
}

/// Asks for the version and maker of the peer's controller; the answer is Read Remote Version Information
/// Complete (7.1.23).
public struct ReadRemoteVersionInformation: HCIStatusCommand, HCIHandleCodable, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x041D)

  public var handle: ConnectionHandle

  public init(handle: ConnectionHandle) {
    self.handle = handle
  }
}
