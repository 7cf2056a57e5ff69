import HCI
import HaloBluetoothCore

/// A change of the links of an adapter, by a command or an event.
package enum LinkChange {
  /// A link begins. If there is one with its handle, the end of that one was not seen.
  case began(NewLink)
  /// Isochronous streams begin, each to the peer of an ACL link.
  case streams([(stream: ConnectionHandle, link: ConnectionHandle)])
  /// A link or a stream ends; the reason is nil if the capture does not have the whole event.
  case ended(ConnectionHandle, HCIErrorCode?)
  /// The controller was reset: the adapter has no link.
  case reset

  /// - Parameter packet: with its H4 type byte
  /// - Returns: nil if no link begins or ends
  package init?(_ packet: RawSpan) {
    var reader = ByteReader(packet)
    guard let event = try? Self.read(&reader) else { return nil }
    self = event
  }

  /// Whether a command can change links.
  package static func mayBe(_ opcode: HCIOpcode) -> Bool { opcode == .leCreateCIS }

  @inline(__always) private static func read(_ reader: inout ByteReader) throws(DecodeError) -> Self? {
    switch HCIPacketType(rawValue: try reader.readUInt8()) {
    case .command:
      guard mayBe(HCIOpcode(rawValue: try reader.readUInt16())) else { return nil }
      try reader.skip(1)
      // Pairs of a stream and its ACL link (Vol 4, Part E, 7.8.99).
      var streams: [(ConnectionHandle, ConnectionHandle)] = []
      for _ in 0..<(try reader.readUInt8()) {
        streams.append((try ConnectionHandle(parsing: &reader), try ConnectionHandle(parsing: &reader)))
      }
      return .streams(streams)
    case .event: return try readEvent(&reader)
    default: return nil
    }
  }

  private static let resetCommand = Reset.opcode

  @inline(__always) private static func readEvent(_ reader: inout ByteReader) throws(DecodeError) -> Self? {
    var whole = reader
    let code = HCIEventCode(rawValue: try reader.readUInt8())
    try reader.skip(1)
    switch code {
    case .leMeta: return try readLE(&reader, &whole)
    case .commandComplete:
      try reader.skip(1)
      return HCIOpcode(rawValue: try reader.readUInt16()) == resetCommand ? .reset : nil
    case .disconnectionComplete, .connectionComplete, .synchronousConnectionComplete:
      guard try reader.readUInt8() == HCIErrorCode.success.rawValue else { return nil }
      let handle = try ConnectionHandle(parsing: &reader)
      if code == .disconnectionComplete { return .ended(handle, reader.peek().map(HCIErrorCode.init)) }
      // Both have the address and the type of the link next (7.7.3 and 7.7.35).
      let peer = try BluetoothAddress(parsing: &reader, kind: .public)
      return .began(NewLink(handle, peer, classicType: reader.peek().map(LinkType.init) ?? .acl))
    default: return nil
    }
  }

  @_lifetime(reader: copy reader)
  @_lifetime(whole: copy whole)
  private static func readLE(
    _ reader: inout ByteReader, _ whole: inout ByteReader
  ) throws(DecodeError) -> Self? {
    switch LESubevent(rawValue: try reader.readUInt8()) {
    case .connectionComplete, .enhancedConnectionComplete, .enhancedConnectionCompleteV2:
      guard case .leConnectionComplete(let event) = try HCIEvent(parsing: &whole), event.status == .success
      else { return nil }
      return .began(NewLink(event.handle, event.peerAddress, event))
    case .cisRequest:
      let link = try ConnectionHandle(parsing: &reader)
      return .streams([(try ConnectionHandle(parsing: &reader), link)])
    default: return nil
    }
  }
}

/// A link that begins, or is seen first.
package struct NewLink {
  package let handle: ConnectionHandle
  /// Nil if the capture begins in the middle of the link.
  package let peer: BluetoothAddress?
  /// The event of a link of LE.
  package let event: LEConnectionComplete?
  /// The data that a link of BR/EDR carries.
  package let classicType: LinkType?

  @usableFromInline
  init(
    _ handle: ConnectionHandle, _ peer: BluetoothAddress?, _ event: LEConnectionComplete? = nil,
    classicType: LinkType? = nil
  ) {
    self.handle = handle
    self.peer = peer
    self.event = event
    self.classicType = classicType
  }
}
