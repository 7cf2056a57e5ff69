/// How long after a write a value may come that answers it, in microseconds. A capture does not say which value answers
/// which write.
package enum AnswerTime {
  /// A value that begins like the write.
  package static var echo: Int64 { 60_000_000 }
  /// Any other value.
  package static var other: Int64 { 2_000_000 }
}
