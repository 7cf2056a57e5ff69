import BluetoothCore

/// A command from the host to the controller (Core Specification Vol 4, Part E, 5.4.1). Its fields are the command's
/// parameters. One declaration is sufficient to write, read, name and show the command, and for the virtual controller
/// to answer it. It also needs a line in ``HCICommandInfo/declared``.
public protocol HCICommand: PacketFields {
  /// The return parameters after the status, which ``HostController`` checks.
  associatedtype Response: Sendable

  static var info: HCICommandInfo { get }
  /// The return parameters, all zero; nil if there are none after the status.
  static var returnParameters: (any PacketFields)? { get }
}

extension HCICommand {
  public static var opcode: HCIOpcode { info.opcode }
}

/// A command that is answered by Command Complete, with return parameters (7.7.14).
public protocol HCICompletingCommand: HCICommand where Response: PacketFields {
  associatedtype Response = NoReturnParameters
}

extension HCICompletingCommand {
  public static var returnParameters: (any PacketFields)? { Response() }
}

/// A command that is acknowledged by Command Status; its result follows as an event (7.7.15).
public protocol HCIStatusCommand: HCICommand where Response == Void {}

extension HCIStatusCommand {
  public static var returnParameters: (any PacketFields)? { nil }
}

/// A command or an answer without parameters.
public protocol HCIEmpty: PacketFields {}

extension HCIEmpty {
  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {}
}

/// Return parameters that consist of the status alone.
public struct NoReturnParameters: HCIEmpty {
  public init() {}
}

/// A command or an answer that begins with a connection handle. By default, it has no other fields.
public protocol HCILinkFields: PacketFields {
  var handle: ConnectionHandle { get set }
}

extension HCILinkFields {
  public init(handle: ConnectionHandle) {
    self.init()
    self.handle = handle
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Return parameters that repeat the connection handle.
public struct LinkReturnParameters: HCILinkFields {
  public var handle = ConnectionHandle()

  public init() {}
}

extension FieldVisitor where Self: ~Escapable {
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func connectionHandle(_ handle: inout ConnectionHandle) throws(Failure) {
    try value("connection handle", &handle)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func status(_ status: inout HCIErrorCode) throws(Failure) {
    try value("status", &status)
  }
}

extension HCICommand {
  /// The complete packet with its H4 type byte: `01`, opcode, parameter length, parameters.
  public func packet(into writer: inout ByteWriter) {
    writer.removeAll()
    writer.write(HCIPacketType.command.rawValue)
    writer.write(Self.opcode.rawValue)
    writer.write(UInt8(0))
    write(into: &writer)
    writer.overwrite(at: 3, with: UInt8(truncatingIfNeeded: writer.count - 4))
  }
}
