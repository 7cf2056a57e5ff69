import BluetoothCore
import L2CAP

/// An L2CAP frame, at the packet that completes it (Core Specification Vol 3, Part A, 3).
public struct L2CAPLayer: Hashable, Sendable {
  public var channel: ChannelID
  /// Header and payload, in ``DissectedPacket/source``.
  public var range: Range<Int>
  /// The number of packets that carried it.
  public var fragments: Int

  /// In bytes, as the header has it.
  public var length: Int { range.count - BasicHeader.length }
  /// Without the header.
  public var payload: Range<Int> { range.lowerBound + BasicHeader.length..<range.upperBound }

  var summary: String {
    "\(channel), \(length) bytes" + (fragments > 1 ? ", from \(fragments) fragments" : "")
  }

  func fields(of source: RawSpan, hasUpperLayer: Bool) -> [PacketField] {
    var lister = FieldLister(
      source, hasUpperLayer ? range.lowerBound..<payload.lowerBound : range,
      reference: "Vol 3, Part A, 3.1")
    lister.readAll { lister throws(DecodeError) in
      var header = BasicHeader()
      try header.list(&lister)
      lister.showRest("payload")
    }
    return lister.fields
  }
}
