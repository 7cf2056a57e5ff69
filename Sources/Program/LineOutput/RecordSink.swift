/// Takes records in place of an ``OutputQueue``, such as to send them to other computers.
package protocol RecordSink: AnyObject {
  /// Takes consecutive records, with their line breaks.
  ///
  /// - Parameters:
  ///   - records: one record after the other, none of them empty
  ///   - ends: where each ends
  func take(_ records: RawSpan, ends: Span<Int>)
}
