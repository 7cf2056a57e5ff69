import HaloDissection
import HaloCommandLine

/// Which packets of a capture are shown, and how.
package struct DecodeOptions {
  /// The form of the output.
  package enum Form {
    case lines, blocks, jsonl, summary, summaryJSON
    case samples(OutputFormat, SampleKinds)
    /// A copy of packets at this path, instead of lines on standard output.
    case copy(String, Removal)
    case values(OutputFormat, ValueChoice)
    /// An HTML report at this path, instead of lines on standard output.
    case page(String)

    var isCopy: Bool { if case .copy = self { true } else { false } }
  }

  /// What a copy does not have.
  package enum Removal { case nothing, keys, everythingPersonal }

  package var form: Form
  /// Only packets that have one of these; all if nil.
  package var layers: Set<Layer>?
  package var filter: PacketFilter?
  package var isFollowing: Bool
  package var isColored: Bool
  /// Long-term keys that were given, each 16 bytes, the least significant first.
  package var longTermKeys: [[UInt8]] = []
  /// Whether the bonds of the user are used.
  package var usesBonds = false
  /// Whether keys are shown in lines, blocks and JSON.
  package var showsKeys = false
  /// Whether all passkeys of LE legacy pairing are tried.
  package var triesPasskeys = false

  package init(form: Form, layers: Set<Layer>?, filter: PacketFilter?, isFollowing: Bool, isColored: Bool) {
    self.form = form
    self.layers = layers
    self.filter = filter
    self.isFollowing = isFollowing
    self.isColored = isColored
  }

  @inline(__always)
  package func shows(_ packet: DissectedPacket, start: Int64?) -> Bool {
    if let layers, !layers.contains(where: packet.has) { return false }
    return filter?.matches(packet, start: start) ?? true
  }
}
