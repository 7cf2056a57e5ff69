import HaloBluetoothCore

/// A value in the payload of a bulk frame. The ``fields`` that a type lists, in the order of the payload, are its
/// complete description: payloads are parsed and written with them, and the reference is generated from them. Integers
/// are little-endian.
package protocol BulkRecord: Hashable, Sendable {
  static var fields: Fields { get }
}

extension BulkRecord {
  package typealias Fields = RecordLayout<Self, BulkField<Self>>

  /// A record with the usual values.
  package static var usual: Self { fields.usual }

  init(parsing reader: inout ByteReader) throws(DecodeError) {
    self = Self.usual
    for field in Self.fields { try field.read(&reader, &self) }
  }

  func write(into writer: inout ByteWriter) {
    for field in Self.fields { field.write(self, &writer) }
  }

  /// The fields in order, each with its name and its form (an unsigned 16-bit number is `u16 LE`), for
  /// the reference page.
  package static var form: String { fields.map(\.text).joined(separator: ", ") }

  /// The whole payload.
  func bytes() -> [UInt8] {
    var writer = ByteWriter()
    write(into: &writer)
    return writer.bytes
  }

  /// - Throws: also if bytes are left over
  init(whole payload: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(payload.span.bytes)
    try self.init(parsing: &reader)
    try reader.expectEnd()
  }
}

/// A field of a payload, and the property that holds it.
package struct BulkField<Record>: Sendable {
  /// As the reference page has it.
  package let text: String
  let read: @Sendable (inout ByteReader, inout Record) throws(DecodeError) -> Void
  let write: @Sendable (Record, inout ByteWriter) -> Void
  /// Adds its value in the record, as tools show it.
  let explain: @Sendable (Record, inout BulkExplanation) -> Void
}

extension BulkField {
  /// A number, as wide as its property.
  ///
  /// - Parameters:
  ///   - limits: a payload with a number outside of them is malformed
  ///   - note: additional information
  ///   - words: the names of single values
  ///   - loneWords: the only sources of some of them
  init<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable>(
    _ name: String, _ property: any WritableKeyPath<Record, Number> & Sendable, _ unit: RingUnit? = nil,
    in limits: ClosedRange<Number>? = nil, _ note: String? = nil, words: [Int: String] = [:],
    loneWords: [Int: LoneSource] = [:]
  ) {
    let width = Number.bitWidth > 8 ? "u\(Number.bitWidth) LE" : nil
    let named = words.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let details = [width, unit?.rawValue, note].compactMap { $0 } + named
    self.init(
      text: "`\(name)`" + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"),
      read: { reader, record throws(DecodeError) in
        let number: Number = try reader.readLittleEndian()
        guard limits?.contains(number) ?? true else { throw reader.invalid("\(name) can't be \(number)") }
        record[keyPath: property] = number
      },
      write: { $1.writeLittleEndian($0[keyPath: property]) },
      explain: { record, explanation in
        let number = Int(clamping: record[keyPath: property])
        let value = FrameFieldValue.number(number, unit, words[number])
        explanation.add(name, "\(value)\(LoneSource.suffix(loneWords[number]))", bytes: Number.bitWidth / 8)
      })
  }

  /// Numbers in a row, a byte each, of a whole day.
  ///
  /// - Parameter minutes: the number of minutes per unit
  init(
    _ name: String, _ property: any WritableKeyPath<Record, [UInt8]> & Sendable,
    ofADayEvery minutes: any KeyPath<Record, UInt8> & Sendable, _ note: String
  ) {
    self.init(
      text: "as many `\(name)` as the day has (\(note))",
      read: { reader, record throws(DecodeError) in
        record[keyPath: property] = try reader.readBytes(1440 / max(Int(record[keyPath: minutes]), 1))
      },
      write: { record, writer in writer.write(record[keyPath: property]) },
      explain: { $1.add(name, numbers: $0[keyPath: property], width: 1) })
  }

  /// Numbers up to the end.
  init<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable>(
    _ name: String, _ property: any WritableKeyPath<Record, [Number]> & Sendable, _ note: String
  ) {
    let width = Number.bitWidth / 8
    self.init(
      text: "`\(name)` up to the end (\(width > 1 ? "u\(Number.bitWidth) LE, " : "")\(note))",
      read: { reader, record throws(DecodeError) in
        while !reader.isAtEnd { record[keyPath: property].append(try reader.readLittleEndian()) }
      },
      write: { record, writer in for value in record[keyPath: property] { writer.writeLittleEndian(value) } },
      explain: { $1.add(name, numbers: $0[keyPath: property], width: width) })
  }

  /// Bytes up to the end, whose meaning is not known or depends on something else.
  init(bytes name: String, _ property: any WritableKeyPath<Record, [UInt8]> & Sendable) {
    self.init(
      text: "`\(name)` up to the end",
      read: { reader, record throws(DecodeError) in record[keyPath: property] = reader.readRemainingBytes() },
      write: { record, writer in writer.write(record[keyPath: property]) },
      explain: { record, explanation in
        let bytes = record[keyPath: property]
        explanation.add(name, Hex.string(bytes, separator: " "), bytes: bytes.count)
      })
  }

  /// The number of bytes that follow, and in them other fields.
  ///
  /// - Parameters:
  ///   - unread: takes the bytes if they do not have these fields
  ///   - countsItself: whether the byte of the number is counted, too
  static func sized(
    _ fields: [BulkField], unread: any WritableKeyPath<Record, [UInt8]> & Sendable,
    countsItself: Bool = false
  ) -> BulkField {
    let own = countsItself ? 1 : 0
    let block = { @Sendable (record: Record) -> [UInt8] in
      guard record[keyPath: unread].isEmpty else { return record[keyPath: unread] }
      var writer = ByteWriter()
      for field in fields { field.write(record, &writer) }
      return Array(writer.bytes.prefix(255 - own))
    }
    return BulkField(
      text: "the number of bytes \(countsItself ? "from here on" : "that follow"), "
        + fields.map(\.text).joined(separator: ", "),
      read: { reader, record throws(DecodeError) in
        let length = Int(try reader.readUInt8()) - own
        guard length >= 0 else { throw reader.invalid("length can't be 0") }
        var block = ByteReader(try reader.readSpan(length))
        var whole = record
        do throws(DecodeError) {
          for field in fields { try field.read(&block, &whole) }
          try block.expectEnd()
          record = whole
        } catch {
          var block = ByteReader(block.bytes)
          record[keyPath: unread] = block.readRemainingBytes()
        }
      },
      write: { record, writer in
        let bytes = block(record)
        writer.write(UInt8(clamping: bytes.count + own))
        writer.write(bytes)
      },
      explain: { record, explanation in
        explanation.add("length", "\(block(record).count + own)", bytes: 1)
        let unread = record[keyPath: unread]
        guard unread.isEmpty else { return explanation.addUnread(unread) }
        for field in fields { field.explain(record, &explanation) }
      })
  }
}

extension ByteWriter {
  fileprivate mutating func writeLittleEndian(_ number: some FixedWidthInteger) {
    for index in 0..<number.bitWidth / 8 { write(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }
}

extension ByteReader {
  fileprivate mutating func readLittleEndian<Number: FixedWidthInteger & UnsignedInteger>()
    throws(DecodeError)
    -> Number
  {
    var number: Number = 0
    for (index, byte) in try readBytes(Number.bitWidth / 8).enumerated() {
      number |= Number(truncatingIfNeeded: byte) << (index * 8)
    }
    return number
  }
}
