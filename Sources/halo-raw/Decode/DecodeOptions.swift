import Dissection
import LineOutput

/// What of a capture is to be shown, and how.
struct DecodeOptions {
  /// What becomes of the packets.
  enum Form {
    case lines, blocks, jsonl, summary
    case samples(OutputFormat, SampleKinds)
    /// A page of HTML at this path, in place of lines on standard output.
    case page(String)
  }

  var form: Form
  /// Only packets that have one of these; all if nil.
  var layers: Set<Layer>?
  var filter: PacketFilter?
  var isFollowing: Bool
  var isColored: Bool

  init(_ invocation: Invocation) throws(Failure) {
    form = try Self.form(invocation)
    layers = try invocation.text("--layer").map(Self.layers)
    if let text = invocation.text("--filter") {
      do throws(PacketFilter.Mistake) {
        filter = try PacketFilter(text)
      } catch {
        throw .usage("--filter: \(error)")
      }
    }
    isFollowing = invocation.has("--follow")
    isColored = Console.isTerminal && !Console.refusesColor
  }

  private static func form(_ invocation: Invocation) throws(Failure) -> Form {
    if let path = invocation.text("--html") {
      let others = ["--format", "--verbose", "--follow", "--summary", "--samples"]
      if let other = others.first(where: invocation.isGiven) {
        throw .usage("--html has all fields of a capture that is complete; it does not go with \(other)")
      }
      return .page(path)
    }
    if invocation.has("--samples") {
      return .samples(try OutputFormat(invocation), SampleKinds(invocation))
    }
    let isJSON = try invocation.choice("--format", [("text", false), ("jsonl", true)]) ?? false
    guard invocation.has("--summary") else {
      return isJSON ? .jsonl : invocation.has("--verbose") ? .blocks : .lines
    }
    if isJSON { throw .usage("--summary is text for a person; leave --format out") }
    return .summary
  }

  private static func layers(_ text: String) throws(Failure) -> Set<Layer> {
    var layers: Set<Layer> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let layer = Layer(rawValue: String(name)) else {
        throw .usage(
          "--layer wants \(Layer.allCases.map(\.rawValue).joined(separator: ", ")), several with commas, not "
            + "\"\(String(name).printable)\"")
      }
      layers.insert(layer)
    }
    return layers
  }

  func shows(_ packet: DissectedPacket, start: Int64?) -> Bool {
    if let layers, !layers.contains(where: packet.has) { return false }
    return filter?.matches(packet, start: start) ?? true
  }
}
