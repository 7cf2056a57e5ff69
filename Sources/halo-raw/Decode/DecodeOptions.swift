import HaloDissection
import HaloLineOutput
import RingLink

/// Which packets of a capture are shown, and how.
struct DecodeOptions {
  /// The form of the output.
  enum Form {
    case lines, blocks, jsonl, summary, summaryJSON
    case samples(OutputFormat, SampleKinds)
    /// A copy of packets at this path, instead of lines on standard output.
    case copy(String, isRedacted: Bool)
    case values(OutputFormat, ValueChoice)
    /// An HTML report at this path, instead of lines on standard output.
    case page(String)
  }

  var form: Form
  /// Only packets that have one of these; all if nil.
  var layers: Set<Layer>?
  var filter: PacketFilter?
  var isFollowing: Bool
  var isColored: Bool

  @inline(__always)
  func shows(_ packet: DissectedPacket, start: Int64?) -> Bool {
    if let layers, !layers.contains(where: packet.has) { return false }
    return filter?.matches(packet, start: start) ?? true
  }
}
