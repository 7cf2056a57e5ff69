import BluetoothCore
import HCI

/// The HCI packet itself (Core Specification Vol 4, Part E, 5.4).
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
  /// How many bytes the header says that follow it.
  public var length = 0
  /// The command that an event answers.
  public var command: PacketReference?
  /// Who is on the other end of the link.
  public var peer: BluetoothAddress?
  /// What is wrong with it.
  public var problem: String?

  /// Reads the headers; the rest is only read when somebody asks for it.
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
      // What a maker's own command answers, only he knows.
      if answered != .noOperation, answered.group != 0x3F { status = reader.peek().map(HCIErrorCode.init) }
    case .commandStatus:
      status = try HCIErrorCode(parsing: &reader)
      try reader.skip(1)
      opcode = try HCIOpcode(parsing: &reader)
    case .leMeta:
      let subevent = try LESubevent(parsing: &reader)
      self.subevent = subevent
      if subevent.hasStatus { status = try HCIErrorCode(parsing: &reader) }
      if subevent.hasConnection { connection = try ConnectionHandle(parsing: &reader) }
    default:
      if code.hasStatus { status = try HCIErrorCode(parsing: &reader) }
      if code.hasConnection { connection = try ConnectionHandle(parsing: &reader) }
    }
  }
}

extension HCIEventCode {
  /// Whether the first parameter is a status.
  var hasStatus: Bool {
    switch rawValue {
    case 0x01, 0x03, 0x05...0x0D, 0x12, 0x14, 0x1C, 0x1D, 0x21, 0x23, 0x2C...0x2E, 0x30, 0x36, 0x50, 0x53,
      0x59:
      true
    default: false
    }
  }

  /// Whether a connection handle is the next.
  var hasConnection: Bool {
    switch rawValue {
    case 0x03, 0x05, 0x06, 0x08...0x0D, 0x11, 0x14, 0x1B...0x1E, 0x21, 0x23, 0x2C...0x2E, 0x30, 0x38, 0x39,
      0x57, 0x59:
      true
    default: false
    }
  }
}

extension LESubevent {
  var hasStatus: Bool {
    switch rawValue {
    case 0x01, 0x03, 0x04, 0x08...0x0A, 0x0C, 0x0E, 0x12, 0x17...0x19, 0x1B, 0x1D, 0x1F, 0x21, 0x23, 0x24,
      0x26, 0x29, 0x2A:
      true
    default: false
    }
  }

  var hasConnection: Bool {
    switch rawValue {
    case 0x01, 0x03...0x07, 0x0A, 0x0C, 0x14, 0x16...0x1A, 0x1F...0x21, 0x23, 0x26, 0x29, 0x2A: true
    default: false
    }
  }
}
