import RingLink

extension HistoryKind {
  /// Reads the word of the command line.
  init(named word: String) throws(Failure) {
    let words = Self.allCases.map(\.rawValue)
    guard let kind = Self(rawValue: word) else {
      throw .usage(
        "rings keep no history of \"\(word.printable)\"" + Invocation.suggestion(for: word, among: words)
          + "; the kinds are \(Self.words)")
    }
    self = kind
  }

  /// All kinds, as they are called on the command line.
  static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }

  static let estimatesOption = OptionSpec(
    "--include-estimates", help: "prints stress and hrv, though rings are known to make them up")

  /// Whether it is no estimate, or estimates are wanted; says so if it is left out.
  func mayBePrinted(_ invocation: Invocation) -> Bool {
    if !isEstimate || invocation.has("--include-estimates") { return true }
    Console.error(
      "left out: rings are known to make up \(rawValue) in part; --include-estimates prints it all the same")
    return false
  }
}
