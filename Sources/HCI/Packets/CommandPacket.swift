import BluetoothCore

/// A command as received by a controller (Core Specification Vol 4, Part E, 5.4.1), decoded without copying.
public struct CommandPacket: ~Escapable {
  public let opcode: HCIOpcode
  public let parameters: RawSpan

  /// Reads a packet without its H4 type byte.
  /// - Throws: `DecodeError` if the length in the packet does not match the parameters.
  @_lifetime(copy packet)
  public init(_ packet: RawSpan) throws(DecodeError) {
    var reader = ByteReader(packet)
    opcode = try HCIOpcode(parsing: &reader)
    parameters = try reader.readSpan(Int(try reader.readUInt8()))
    try reader.expectEnd()
  }

  /// Decodes the parameters of `command`.
  /// - Throws: `DecodeError` if there are too few, too many, or invalid ones; a controller answers with
  ///   ``HCIErrorCode/invalidCommandParameters``.
  public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodeError) -> Command {
    var reader = ByteReader(parameters)
    let decoded = try Command(parsing: &reader)
    try reader.expectEnd()
    return decoded
  }
}
