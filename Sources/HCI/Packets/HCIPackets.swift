import HaloBluetoothCore

/// The header before a command's parameters (Core Specification Vol 4, Part E, 5.4.1).
public struct CommandHeader: PacketFields {
  public var opcode = HCIOpcode()
  /// The length of the parameters, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("opcode", &opcode)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before an event's parameters (5.4.4).
public struct EventHeader: PacketFields {
  public var code = HCIEventCode()
  /// The length of the parameters, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("event code", &code)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before synchronous data (5.4.3).
public struct SynchronousHeader: PacketFields {
  public var handle = ConnectionHandle()
  /// The length of the data, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("data length", &length, .unit("bytes"))
  }
}

/// The header before the return parameters of Command Complete (7.7.14).
public struct CommandCompleteHeader: PacketFields {
  /// The number of commands that the host may send now.
  public var commandCredits: UInt8 = 1
  public var opcode = HCIOpcode.noOperation

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
  }
}

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

/// The four-byte header of ACL data (Core Specification Vol 4, Part E, 5.4.2), without the H4 type byte.
public struct ACLHeader: PacketFields, Hashable {
  /// The position of the data in its L2CAP frame.
  public struct Boundary: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// - Parameter rawValue: two bits
    public init(rawValue: UInt8) {
      self.rawValue = rawValue & 3
    }

    /// The start of a non-flushable frame: sent by the host on an LE link.
    public static let firstNonFlushable = Boundary(rawValue: 0)
    public static let continuing = Boundary(rawValue: 1)
    /// The start of a frame: sent by the controller to the host.
    public static let firstFlushable = Boundary(rawValue: 2)
    /// A complete automatically flushable frame; not on LE links.
    public static let complete = Boundary(rawValue: 3)

    public var description: String {
      switch self {
      case .firstNonFlushable: "first, not flushable"
      case .continuing: "continuing"
      case .firstFlushable: "first, flushable"
      default: "complete"
      }
    }
  }

  /// In bytes.
  public static let length = 4

  public var handle = ConnectionHandle()
  public var boundary = Boundary.firstNonFlushable
  /// Two bits: 0 is point-to-point, the only value on LE.
  public var broadcast: UInt8 = 0
  /// The number of data bytes stated in the header.
  public var dataLength: UInt16 = 0

  public init() {}

  public init(
    handle: ConnectionHandle, boundary: Boundary, broadcast: UInt8 = 0, dataLength: UInt16
  ) {
    self.handle = handle
    self.boundary = boundary
    self.broadcast = broadcast & 3
    self.dataLength = dataLength
  }

  @inlinable
  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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
public struct ACLPacket: ~Escapable {
  public let header: ACLHeader
  /// Exactly ``ACLHeader/dataLength`` bytes: an L2CAP frame or a fragment of one.
  public let data: RawSpan

  /// - Throws: `DecodeError` if the length in the header is not the length of the data.
  @_lifetime(copy packet)
  public init(_ packet: RawSpan) throws(DecodeError) {
    var reader = ByteReader(packet)
    header = try ACLHeader(parsing: &reader)
    data = try reader.readSpan(Int(header.dataLength))
    try reader.expectEnd()
  }
}
