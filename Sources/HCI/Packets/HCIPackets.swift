import HaloBluetoothCore

/// The header before a command's parameters (Core Specification Vol 4, Part E, 5.4.1).
package struct CommandHeader: PacketFields {
  package var opcode = HCIOpcode()
  /// The length of the parameters, in bytes.
  package var length: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("opcode", &opcode)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before an event's parameters (5.4.4).
package struct EventHeader: PacketFields {
  package var code = HCIEventCode()
  /// The length of the parameters, in bytes.
  package var length: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("event code", &code)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before synchronous data (5.4.3).
package struct SynchronousHeader: PacketFields {
  package var handle = ConnectionHandle()
  /// The length of the data, in bytes.
  package var length: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("data length", &length, .unit("bytes"))
  }
}

/// The header before the return parameters of Command Complete (7.7.14).
package struct CommandCompleteHeader: PacketFields {
  /// The number of commands that the host may send now.
  package var commandCredits: UInt8 = 1
  package var opcode = HCIOpcode.noOperation

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
  }
}

/// A command as received by a controller (Core Specification Vol 4, Part E, 5.4.1), decoded without copying.
package struct CommandPacket: ~Escapable {
  package let opcode: HCIOpcode
  package let parameters: RawSpan

  /// Reads a packet without its H4 type byte.
  /// - Throws: `DecodeError` if the length in the packet does not match the parameters.
  @_lifetime(copy packet)
  package init(_ packet: RawSpan) throws(DecodeError) {
    var reader = ByteReader(packet)
    opcode = try HCIOpcode(parsing: &reader)
    parameters = try reader.readSpan(Int(try reader.readUInt8()))
    try reader.expectEnd()
  }

  /// Decodes the parameters of `command`.
  /// - Throws: `DecodeError` if there are too few, too many, or invalid ones; a controller answers with
  ///   ``HCIErrorCode/invalidCommandParameters``.
  package func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodeError) -> Command {
    var reader = ByteReader(parameters)
    let decoded = try Command(parsing: &reader)
    try reader.expectEnd()
    return decoded
  }
}

/// The four-byte header of ACL data (Core Specification Vol 4, Part E, 5.4.2), without the H4 type byte.
@usableFromInline package struct ACLHeader: PacketFields, Hashable {
  /// The position of the data in its L2CAP frame.
  @usableFromInline package struct Boundary: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    @usableFromInline package let rawValue: UInt8

    /// - Parameter rawValue: two bits
    @usableFromInline package init(rawValue: UInt8) {
      self.rawValue = rawValue & 3
    }

    /// The start of a non-flushable frame: sent by the host on an LE link.
    package static let firstNonFlushable = Boundary(rawValue: 0)
    package static let continuing = Boundary(rawValue: 1)
    /// The start of a frame: sent by the controller to the host.
    package static let firstFlushable = Boundary(rawValue: 2)
    /// A complete automatically flushable frame; not on LE links.
    package static let complete = Boundary(rawValue: 3)

    @usableFromInline package var description: String {
      switch self {
      case .firstNonFlushable: "first, not flushable"
      case .continuing: "continuing"
      case .firstFlushable: "first, flushable"
      default: "complete"
      }
    }
  }

  /// In bytes.
  @usableFromInline package static let length = 4

  @usableFromInline package var handle = ConnectionHandle()
  @usableFromInline package var boundary = Boundary.firstNonFlushable
  /// Two bits: 0 is point-to-point, the only value on LE.
  @usableFromInline package var broadcast: UInt8 = 0
  /// The number of data bytes stated in the header.
  @usableFromInline package var dataLength: UInt16 = 0

  @usableFromInline package init() {}

  package init(handle: ConnectionHandle, boundary: Boundary, broadcast: UInt8 = 0, dataLength: UInt16) {
    self.handle = handle
    self.boundary = boundary
    self.broadcast = broadcast & 3
    self.dataLength = dataLength
  }

  @inlinable
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var word = HandleAndFlags(
      rawValue: handle.rawValue | UInt16(boundary.rawValue) << 12 | UInt16(broadcast) << 14)
    try fields.value("connection handle and flags", &word)
    handle = word.handle
    boundary = word.boundary
    broadcast = word.broadcast
    try fields.value("data length", &dataLength, .unit("bytes"))
  }

  /// The first two bytes.
  @usableFromInline
  struct HandleAndFlags: HCICode {
    @usableFromInline var rawValue: UInt16

    @usableFromInline
    init(rawValue: UInt16) { self.rawValue = rawValue }

    @usableFromInline var handle: ConnectionHandle { ConnectionHandle(rawValue: rawValue) }
    @usableFromInline var boundary: Boundary { Boundary(rawValue: UInt8(truncatingIfNeeded: rawValue >> 12)) }
    @usableFromInline var broadcast: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 14) }
    @usableFromInline var description: String { "\(handle), \(boundary), broadcast \(broadcast)" }
  }
}

/// An ACL packet in memory, decoded without copying or allocating.
package struct ACLPacket: ~Escapable {
  package let header: ACLHeader
  /// Exactly ``ACLHeader/dataLength`` bytes: an L2CAP frame or a fragment of one.
  package let data: RawSpan

  /// - Throws: `DecodeError` if the length in the header is not the length of the data.
  @_lifetime(copy packet)
  package init(_ packet: RawSpan) throws(DecodeError) {
    var reader = ByteReader(packet)
    header = try ACLHeader(parsing: &reader)
    data = try reader.readSpan(Int(header.dataLength))
    try reader.expectEnd()
  }
}
