/// The form of results.
package enum OutputFormat: Hashable, Sendable {
  case text, csv, jsonl
}
