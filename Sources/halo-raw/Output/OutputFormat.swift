import LineOutput

extension OutputFormat {
  /// What `--format` says; by itself, text for a terminal and csv for a pipe.
  init(_ invocation: Invocation) throws(Failure) {
    let choice = try invocation.choice(
      "--format", [("text", OutputFormat.text), ("csv", .csv), ("jsonl", .jsonl)])
    self = choice ?? (Console.isTerminal ? .text : .csv)
  }
}

extension SampleKinds {
  /// The kinds that the options name; all if they name none.
  init(_ invocation: Invocation) {
    self = []
    if invocation.has("--ppg") { insert(.ppg) }
    if invocation.has("--accel") { insert(.accelerometer) }
    if invocation.has("--spo2") { insert(.spo2) }
    if isEmpty { self = .all }
  }
}
