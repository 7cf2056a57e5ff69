import HaloBluetoothCore

/// How many records there are in a row.
enum BulkListLength {
  case fixed(Int)
  /// The byte that precedes them is their number.
  case counted
  /// As many as there are up to the end.
  case toEnd
}

extension BulkField {
  /// Consecutive records; one that cannot be read makes the payload malformed.
  init<Element: BulkRecord>(
    _ name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable, _ length: BulkListLength
  ) {
    self.init(name, property, length, orUnread: nil)
  }

  /// Consecutive records.
  ///
  /// - Parameter unread: takes the bytes from the first record on that cannot be read, up to the end
  init<Element: BulkRecord>(
    _ name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable, _ length: BulkListLength,
    unread: any WritableKeyPath<Record, [UInt8]> & Sendable
  ) {
    self.init(name, property, length, orUnread: unread)
  }

  private init<Element: BulkRecord>(
    _ name: String, _ property: any WritableKeyPath<Record, [Element]> & Sendable, _ length: BulkListLength,
    orUnread unread: (any WritableKeyPath<Record, [UInt8]> & Sendable)?
  ) {
    let text =
      switch length {
      case .fixed(let count): "\(count) `\(name)`"
      case .counted: "their number, `\(name)`"
      case .toEnd: "`\(name)` up to the end"
      }
    self.init(
      text: "\(text), each: \(Element.form)",
      read: { reader, record throws(DecodeError) in
        let count: Int? =
          switch length {
          case .fixed(let count): count
          case .counted: Int(try reader.readUInt8())
          case .toEnd: nil
          }
        var read = 0
        while count.map({ read < $0 }) ?? !reader.isAtEnd {
          if let unread {
            guard reader.readNext(into: &record, property, unread: unread) else { return }
          } else {
            record[keyPath: property].append(try Element(parsing: &reader))
          }
          read += 1
        }
      },
      write: { record, writer in
        let elements = record[keyPath: property]
        if case .counted = length { writer.write(UInt8(clamping: elements.count)) }
        for element in elements { element.write(into: &writer) }
        if let unread { writer.write(record[keyPath: unread]) }
      },
      explain: { record, explanation in
        let elements = record[keyPath: property]
        if case .counted = length { explanation.add("number of \(name)", "\(elements.count)", bytes: 1) }
        explanation.add(all: elements, name)
        if let unread { explanation.addUnread(record[keyPath: unread]) }
      })
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
      record[keyPath: unread] = readRemainingBytes()
      return false
    }
    self = attempt
    record[keyPath: property].append(element)
    return true
  }
}
