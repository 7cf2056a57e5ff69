import RingLink

extension HistoryKind {
  /// Reads a kind's name on the command line.
  init(named name: String) throws(Failure) {
    guard let kind = Self(rawValue: name) else {
      throw .usage(
        "unknown history \"\(name.printable)\""
          + Invocation.suggestion(for: name, among: Self.allCases.map(\.rawValue)) + "; use \(Self.names)")
    }
    self = kind
  }

  /// The names of all kinds on the command line.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  static let estimatesOption = Flag(
    "--include-estimates", help: "print stress and hrv, though rings are known to make them up")

  /// Whether it is not an estimate, or estimates are asked for; if not, standard error says so.
  func mayBePrinted(_ invocation: Invocation) -> Bool {
    if !isEstimate || invocation[Self.estimatesOption] { return true }
    Console.error(
      "left out \(rawValue): rings are known to make up part of it; to print it, use --include-estimates")
    return false
  }
}
