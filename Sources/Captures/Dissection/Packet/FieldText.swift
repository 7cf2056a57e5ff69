import HaloBluetoothCore

extension TextBuffer {
  /// Writes a number between two fixed pieces of a line: `, 20 bytes`.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: Int, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// The same for a value.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: some TextWritable, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// The same for text.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: String, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// Writes fields in one line, with their names: `interval 15 ms, latency 0 events`.
  ///
  /// - Parameters:
  ///   - start: what to write before the first one, if there is one
  ///   - isOmitted: whether the field with a number is left out
  mutating func write(_ fields: FieldList, after start: StaticString, omitting isOmitted: (Int) -> Bool) {
    var separator = start
    for index in fields.entries.indices {
      let entry = fields.entries[index]
      if entry.depth > 0 || entry.value.isEmpty || isOmitted(index) { continue }
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
