/// The form of results.
public enum OutputFormat: Hashable, Sendable {
  case text, csv, jsonl
}
