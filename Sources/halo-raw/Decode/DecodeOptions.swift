import Dissection
import LineOutput

/// Which packets of a capture are shown, and how.
struct DecodeOptions {
  /// The form of the output.
  enum Form {
    case lines, blocks, jsonl, summary
    case samples(OutputFormat, SampleKinds)
    /// An HTML report at this path, instead of lines on standard output.
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
    layers = invocation[DecodeOption.layer]
    filter = invocation[DecodeOption.filter]
    isFollowing = invocation[DecodeOption.follow]
    isColored = Console.isTerminal && !Console.refusesColor
  }

  private static func form(_ invocation: Invocation) throws(Failure) -> Form {
    if let path = invocation[DecodeOption.html] { return .page(path) }
    let format = invocation[DecodeOption.format]
    if invocation[DecodeOption.samples] {
      return .samples(format ?? .standard, SampleKinds(invocation))
    }
    if format == .csv { throw .usage("--format csv needs --samples; packets are text or jsonl") }
    guard invocation[DecodeOption.summary] else {
      return format == .jsonl ? .jsonl : invocation[DecodeOption.verbose] ? .blocks : .lines
    }
    if format == .jsonl { throw .usage("--summary is text only; leave --format out") }
    return .summary
  }

  func shows(_ packet: DissectedPacket, start: Int64?) -> Bool {
    if let layers, !layers.contains(where: packet.has) { return false }
    return filter?.matches(packet, start: start) ?? true
  }
}

extension ArgumentType where Value == Set<Layer> {
  static var layers: Self {
    let names = Layer.allCases.map(\.rawValue).joined(separator: ", ")
    return ArgumentType(placeholder: "LAYERS", expected: "\(names), comma-separated") { text in
      let layers = text.split(separator: ",", omittingEmptySubsequences: false).map {
        Layer(rawValue: String($0))
      }
      return layers.contains(nil) ? nil : Set(layers.compactMap { $0 })
    }
  }
}

extension ArgumentType where Value == PacketFilter {
  static var packetFilter: Self {
    ArgumentType(placeholder: "TERMS", expected: "terms") { text throws(Failure) in
      do {
        return try PacketFilter(text)
      } catch {
        throw .usage("--filter: \(error)")
      }
    }
  }
}
