import BluetoothCore

/// Something with a fixed place in a packet: it reads itself from the bytes and writes itself to them.
public protocol HCICodable: Sendable {
  /// Reads the fields in wire order. Bytes behind the last field are left to the caller.
  init(parsing reader: inout ByteReader) throws(DecodeError)
  /// Writes the fields in wire order.
  func write(into writer: inout ByteWriter)
}

/// A command that the host gives to the controller (Core Specification Vol 4, Part E, 5.4.1). The fields are
/// the command's parameters.
public protocol HCICommand: HCICodable {
  /// What the controller answers; without the status, which ``HostController`` has checked already.
  associatedtype Response: Sendable

  static var opcode: HCIOpcode { get }
}

/// A command that is answered by Command Complete, with return parameters (7.7.14).
public protocol HCICompletingCommand: HCICommand where Response: HCICodable {}

/// A command that is only acknowledged, by Command Status; its outcome follows as an event of its own (7.7.15).
public protocol HCIStatusCommand: HCICommand where Response == Void {}

/// Something without any fields: a command without parameters.
public protocol HCIEmpty: HCICodable {
  init()
}

extension HCIEmpty {
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self.init() }
  public func write(into writer: inout ByteWriter) {}
}

/// Return parameters that consist of the status alone.
public struct NoReturnParameters: HCIEmpty, Hashable {
  public init() {}
}

extension HCICommand {
  /// The whole packet with its H4 type byte: `01`, opcode, parameter length, parameters.
  public func packet(into writer: inout ByteWriter) {
    writer.removeAll()
    writer.write(HCIPacketType.command.rawValue)
    writer.write(Self.opcode.rawValue)
    writer.write(UInt8(0))
    write(into: &writer)
    writer.overwrite(at: 3, with: UInt8(truncatingIfNeeded: writer.count - 4))
  }
}
