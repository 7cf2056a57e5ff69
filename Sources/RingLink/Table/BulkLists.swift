import HaloBluetoothCore

/// Records in a row.
extension BulkField {
  /// A fixed number of consecutive records.
  init<Element: BulkRecord>(
    _ name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable, count: Int
  ) {
    self.init(
      text: "\(count) `\(name)`, each: \(Element.form)",
      read: { reader, record throws(DecodeError) in
        for _ in 0..<count { record[keyPath: property].append(try Element(parsing: &reader)) }
      },
      write: { $0[keyPath: property].write(into: &$1) },
      explain: { $1.add(all: $0[keyPath: property], name) })
  }

  /// Consecutive records; the byte that precedes them is their number.
  ///
  /// - Parameter unread: takes the bytes from the first record on that cannot be read, up to the end
  init<Element: BulkRecord>(
    _ name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable,
    unread: any WritableKeyPath<Record, [UInt8]> & Sendable
  ) {
    self.init(
      text: "their number, `\(name)`, each: \(Element.form)",
      read: { reader, record throws(DecodeError) in
        for _ in 0..<Int(try reader.readUInt8()) {
          guard reader.readNext(into: &record, property, unread: unread) else { return }
        }
      },
      write: { record, writer in
        writer.write(UInt8(clamping: record[keyPath: property].count))
        record[keyPath: property].write(into: &writer)
        writer.write(record[keyPath: unread])
      },
      explain: { record, explanation in
        explanation.add("number of \(name)", "\(record[keyPath: property].count)", bytes: 1)
        explanation.add(all: record[keyPath: property], name)
        explanation.addUnread(record[keyPath: unread])
      })
  }

  /// Records up to the end.
  init<Element: BulkRecord>(
    toEnd name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable
  ) {
    self.init(
      text: Self.text(toEnd: name, Element.form),
      read: { reader, record throws(DecodeError) in
        while !reader.isAtEnd { record[keyPath: property].append(try Element(parsing: &reader)) }
      },
      write: { $0[keyPath: property].write(into: &$1) },
      explain: { $1.add(all: $0[keyPath: property], name) })
  }

  /// The same.
  ///
  /// - Parameter unread: takes the bytes from the first record on that cannot be read, up to the end
  init<Element: BulkRecord>(
    toEnd name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable,
    unread: any WritableKeyPath<Record, [UInt8]> & Sendable
  ) {
    self.init(
      text: Self.text(toEnd: name, Element.form),
      read: { reader, record throws(DecodeError) in
        while !reader.isAtEnd, reader.readNext(into: &record, property, unread: unread) {}
      },
      write: { record, writer in
        record[keyPath: property].write(into: &writer)
        writer.write(record[keyPath: unread])
      },
      explain: { record, explanation in
        explanation.add(all: record[keyPath: property], name)
        explanation.addUnread(record[keyPath: unread])
      })
  }

  private static func text(toEnd name: String, _ form: String) -> String {
    "`\(name)` up to the end, each: \(form)"
  }
}

extension Array where Element: BulkRecord {
  fileprivate func write(into writer: inout ByteWriter) {
    for record in self { record.write(into: &writer) }
  }
}

extension ByteReader {
  /// Reads the next record; if it cannot be read, the rest is stored as it is.
  ///
  /// - Returns: whether there is a record
  @_lifetime(self: copy self)
  fileprivate mutating func readNext<Record, Element: BulkRecord>(
    into record: inout Record, _ property: WritableKeyPath<Record, [Element]>,
    unread: WritableKeyPath<Record, [UInt8]>
  ) -> Bool {
    var attempt = self
    guard let element = try? Element(parsing: &attempt) else {
      record[keyPath: unread] = readRestBytes()
      return false
    }
    self = attempt
    record[keyPath: property].append(element)
    return true
  }

  @_lifetime(self: copy self)
  mutating func readRestBytes() -> [UInt8] { (try? readBytes(remaining)) ?? [] }
}
