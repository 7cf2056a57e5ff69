/// In which form results are printed.
public enum OutputFormat: Hashable, Sendable {
  case text, csv, jsonl
}
