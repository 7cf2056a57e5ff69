/// A field of a packet, for a person: what it is called, what it says, and which bytes say so.
public struct PacketField: Hashable, Sendable {
  public var name: String
  /// In words, with the unit.
  public var value: String
  /// The bytes, as indices into ``DissectedPacket/bytes`` or, in the layers above L2CAP, into
  /// ``DissectedPacket/source``: a frame that came in fragments lies in no packet.
  public var range: Range<Int>
  /// Where it is specified: `Vol 4, Part E, 7.7.65.2`.
  public var reference: String
  /// How deep it stands inside others; 0 is the top of its layer.
  public var depth: Int

  public init(_ name: String, _ value: String, range: Range<Int>, reference: String, depth: Int = 0) {
    self.name = name
    self.value = value
    self.range = range
    self.reference = reference
    self.depth = depth
  }
}
