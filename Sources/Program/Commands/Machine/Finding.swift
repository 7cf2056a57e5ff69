import HaloCommandLine

/// One result of `doctor`.
struct Finding: Hashable, Sendable {
  enum Weight: String, Sendable {
    /// No problem.
    case good = "ok"
    /// Not a problem, but useful to know.
    case note
    /// Streaming cannot work.
    case problem
  }

  /// The subject, such as `adapter`.
  var topic: String
  var weight: Weight
  /// The finding.
  var text: String
  /// The fix.
  var remedy: String?
  /// The exit code for this problem.
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
  /// The exit code: 0 if streaming can work, else that of the first problem in this order: adapter, privilege, ring.
  var code: ExitCode {
    let codes = Set(filter { $0.weight == .problem }.map(\.code))
    return [.noAdapter, .noPermission, .notFound].first { codes.contains($0) } ?? .success
  }
}
