import Dissection

/// What of a capture is to be shown, and how.
struct DecodeOptions {
  enum Format { case text, jsonl }

  var format: Format
  /// Only packets that have one of these; all if nil.
  var layers: Set<Layer>?
  var filter: PacketFilter?
  var isVerbose: Bool
  var isFollowing: Bool
  var isColored: Bool
  /// Where a page of HTML is to be written, in place of lines on standard output.
  var page: String?

  init(_ invocation: Invocation) throws(Failure) {
    format = try invocation.choice("--format", [("text", Format.text), ("jsonl", .jsonl)]) ?? .text
    layers = try invocation.text("--layer").map(Self.layers)
    if let text = invocation.text("--filter") {
      do throws(PacketFilter.Mistake) {
        filter = try PacketFilter(text)
      } catch {
        throw .usage("--filter: \(error)")
      }
    }
    isVerbose = invocation.has("--verbose")
    isFollowing = invocation.has("--follow")
    isColored = Console.isTerminal && !Console.refusesColor
    page = invocation.text("--html")
    if page != nil, let other = ["--format", "--verbose", "--follow"].first(where: invocation.isGiven) {
      throw .usage("--html has all fields of a capture that is complete; it does not go with \(other)")
    }
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
