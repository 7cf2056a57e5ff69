import BluetoothCore

/// A command as a controller gets it (Core Specification Vol 4, Part E, 5.4.1): nothing is copied.
public struct CommandPacket: ~Escapable {
  public let opcode: HCIOpcode
  public let parameters: RawSpan

  /// Reads a packet without its H4 type byte.
  /// - Throws: ``DecodeError`` if the length in the packet is not the length of the parameters that are there.
  @_lifetime(copy packet)
  public init(_ packet: RawSpan) throws(DecodeError) {
    var reader = ByteReader(packet)
    opcode = try HCIOpcode(parsing: &reader)
    parameters = try reader.readSpan(Int(try reader.readUInt8()))
    try reader.expectEnd()
  }

  /// The parameters as those of `command`.
  /// - Throws: ``DecodeError`` if they are too few, too many, or not allowed; a controller answers with
  ///   ``HCIErrorCode/invalidCommandParameters``.
  public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodeError) -> Command {
    var reader = ByteReader(parameters)
    let decoded = try Command(parsing: &reader)
    try reader.expectEnd()
    return decoded
  }
}
