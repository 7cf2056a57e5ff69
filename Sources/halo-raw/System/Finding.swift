/// One thing that stands between a person and a stream, or that might.
struct Finding: Hashable, Sendable {
  enum Weight: String, Sendable {
    /// As it should be.
    case good = "ok"
    /// Good to know.
    case note
    /// No stream will come about.
    case problem
  }

  /// What it is about: one word.
  var topic: String
  var weight: Weight
  /// What was found.
  var text: String
  /// What to do about it.
  var remedy: String?
  /// How the program ends because of a problem.
  var code = ExitCode.success

  static func good(_ topic: String, _ text: String) -> Finding {
    Finding(topic: topic, weight: .good, text: text)
  }

  static func note(_ topic: String, _ text: String, _ remedy: String? = nil) -> Finding {
    Finding(topic: topic, weight: .note, text: text, remedy: remedy)
  }

  static func problem(
    _ topic: String, _ text: String, _ remedy: String, code: ExitCode = .noAdapter
  ) -> Finding {
    Finding(topic: topic, weight: .problem, text: text, remedy: remedy, code: code)
  }
}

extension [Finding] {
  /// How the program ends: well if a stream can come about, else by what is in its way. Of several things that are
  /// missing, that counts without which the others are of no use: adapter, privilege, ring.
  var code: ExitCode {
    let codes = Set(filter { $0.weight == .problem }.map(\.code))
    return [.noAdapter, .noPermission, .notFound].first { codes.contains($0) } ?? .success
  }
}
