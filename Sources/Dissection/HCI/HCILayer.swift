import BluetoothCore
import HCI

/// The HCI packet (Core Specification Vol 4, Part E, 5.4).
public struct HCILayer: Hashable, Sendable {
  public var type: HCIPacketType
  /// Of a command; or the one that an event answers.
  public var opcode: HCIOpcode?
  public var event: HCIEventCode?
  public var subevent: LESubevent?
  /// The link that it is about, if it is about one.
  public var connection: ConnectionHandle?
  /// Of an event that has one.
  public var status: HCIErrorCode?
  /// Of ACL data.
  public var boundary: ACLHeader.Boundary?
  /// The parameter length in the header.
  public var length = 0
  /// The command that an event answers.
  public var command: PacketReference?
  /// The device at the other end of the link.
  public var peer: BluetoothAddress?
  /// The reason why it is malformed.
  public var problem: String?

  /// Parses the headers; the rest is parsed on demand.
  ///
  /// - Parameter packet: with its H4 type byte
  init(_ packet: RawSpan) {
    type = HCIPacketType(rawValue: packet.byte(at: 0) ?? 0)
    guard packet.byteCount > 0 else {
      problem = "empty"
      return
    }
    var reader = ByteReader(packet)
    do throws(DecodeError) {
      try reader.skip(1)
      switch type {
      case .command: try readCommand(&reader)
      case .event: try readEvent(&reader)
      case .acl, .isochronous: try readData(&reader)
      case .synchronous:
        connection = try ConnectionHandle(parsing: &reader)
        length = Int(try reader.readUInt8())
        check(reader.remaining)
      default: problem = "no packet type of HCI"
      }
    } catch {
      problem = error.description
    }
  }

  private mutating func check(_ count: Int) {
    if count != length { problem = "\(length) bytes should follow the header, \(count) do" }
  }

  private mutating func readCommand(_ reader: inout ByteReader) throws(DecodeError) {
    opcode = try HCIOpcode(parsing: &reader)
    length = Int(try reader.readUInt8())
    check(reader.remaining)
  }

  private mutating func readData(_ reader: inout ByteReader) throws(DecodeError) {
    let header = try ACLHeader(parsing: &reader)
    connection = header.handle
    boundary = header.boundary
    // The two bits above are reserved in isochronous packets.
    length = Int(type == .isochronous ? header.dataLength & 0x3FFF : header.dataLength)
    check(reader.remaining)
  }

  private mutating func readEvent(_ reader: inout ByteReader) throws(DecodeError) {
    let code = try HCIEventCode(parsing: &reader)
    event = code
    length = Int(try reader.readUInt8())
    check(reader.remaining)
    switch code {
    case .commandComplete:
      try reader.skip(1)
      let answered = try HCIOpcode(parsing: &reader)
      opcode = answered
      // The return parameters of vendor-specific commands are known only to the manufacturer.
      if answered != .noOperation, !answered.isVendorSpecific {
        status = reader.peek().map(HCIErrorCode.init)
      }
    case .commandStatus:
      status = try HCIErrorCode(parsing: &reader)
      try reader.skip(1)
      opcode = try HCIOpcode(parsing: &reader)
    case .leMeta:
      let subevent = try LESubevent(parsing: &reader)
      self.subevent = subevent
      try readLink(HCIEventInfo[subevent], reader.bytes, from: reader.offset)
    default: try readLink(HCIEventInfo[code], reader.bytes, from: reader.offset)
    }
  }

  /// Reads the status and the link of an event that has them.
  private mutating func readLink(
    _ event: HCIEventInfo?, _ packet: RawSpan, from start: Int
  ) throws(DecodeError) {
    func value<Value: FieldValue>(at offset: Int?, _ packet: RawSpan) throws(DecodeError) -> Value? {
      guard let offset else { return nil }
      var reader = ByteReader(packet)
      try reader.skip(start + offset)
      return try Value(parsing: &reader)
    }
    status = try value(at: event?.statusOffset, packet)
    connection = try value(at: event?.handleOffset, packet)
  }
}
