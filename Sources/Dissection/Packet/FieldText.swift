import BluetoothCore

extension TextBuffer {
  /// Writes fields in one line, with their names: `interval 15 ms, latency 0 events`.
  ///
  /// - Parameters:
  ///   - first: the number of the first one to write
  ///   - start: what to write before it, if there is one
  mutating func write(_ fields: FieldList, from first: Int, after start: StaticString) {
    var separator = start
    for entry in fields.entries.dropFirst(first) where entry.depth == 0 && !entry.value.isEmpty {
      write(separator)
      separator = ", "
      write(fields.bytes(entry.name))
      write(" ")
      if entry.range.count > 8, entry.value.count > 60 {
        write(entry.range.count)
        write(" bytes")
      } else {
        write(fields.bytes(entry.value))
      }
    }
  }
}
