/// A field of a packet for display: its name, its value, and its byte range.
package struct PacketField: Hashable, Sendable {
  /// The name in the specification, in lower case.
  package var name: String
  /// The value as text, with its unit.
  package var value: String
  /// The byte range, as indices into the bytes given to the lister.
  package var range: Range<Int>
  /// Where it is specified: `Vol 4, Part E, 7.7.65.2`.
  package var reference: String
  /// The nesting depth; 0 is the top of its layer.
  package var depth: Int
  /// The value as a number, if it is one: as in the packet, in the units of the specification.
  package var number: FieldNumber?

  package init(_ name: String, _ value: String, range: Range<Int>, reference: String, depth: Int = 0) {
    self.name = name
    self.value = value
    self.range = range
    self.reference = reference
    self.depth = depth
  }
}

/// A number with a fixed count of decimal places: 3650 with 2 places is 36.50.
@usableFromInline package struct FieldNumber: Hashable, Sendable, TextWritable {
  package var value: Int64
  package var places: Int

  @usableFromInline package init(_ value: Int64, places: Int = 0) {
    self.value = value
    self.places = places
  }

  @usableFromInline package func write(to text: inout TextBuffer) {
    if places == 0 { text.write(Int(value)) } else { text.write(value, places: places) }
  }
}

/// Reads the fields of packets, and records their values and byte ranges.
@usableFromInline package struct FieldLister: ~Escapable, FieldVisitor {
  @usableFromInline let list: FieldList
  @usableFromInline var reader: ByteReader
  /// The index of the reader's first byte in the bytes that the ranges refer to.
  private let base: Int
  /// The index of the section in the list.
  @usableFromInline let reference: Int
  @usableFromInline var depth = 0

  /// - Parameters:
  ///   - bytes: the packet
  ///   - range: the part of `bytes` to read
  ///   - reference: the section of the specification that defines the fields
  ///   - list: receives the fields
  @_lifetime(copy bytes)
  package init(
    _ bytes: RawSpan, _ range: Range<Int>, reference: String, addingTo list: FieldList = FieldList()
  ) {
    self.list = list
    let range = range.clamped(to: 0..<bytes.byteCount)
    reader = ByteReader(bytes.extracting(range))
    base = range.lowerBound
    self.reference = list.index(ofReference: reference)
  }

  /// The fields so far.
  package var fields: [PacketField] { list.fields }

  package var remaining: Int { reader.remaining }
  package var isAtEnd: Bool { reader.isAtEnd }
  /// The number of bytes read.
  package var offset: Int { reader.offset }

  /// The byte at an offset from the next one, without reading it; nil if there are fewer.
  package func peek(at index: Int) -> UInt8? {
    index >= 0 ? reader.bytes.byte(at: reader.offset + index) : nil
  }

  /// Two bytes at an offset from the next one, the most significant first; 0 if there are fewer.
  package func peekWord(at index: Int) -> UInt16 {
    guard let high = peek(at: index), let low = peek(at: index + 1) else { return 0 }
    return UInt16(high) << 8 | UInt16(low)
  }

  /// An error for bytes that should follow.
  package func missing(_ count: Int) -> DecodeError {
    DecodeError(offset: reader.offset, reason: .truncated(needed: count, available: remaining))
  }

  /// Reads a value without a field; see ``note(_:_:number:from:)``.
  @_lifetime(self: copy self)
  package mutating func take<Value>(
    _ read: (inout ByteReader) throws(DecodeError) -> Value
  ) throws(DecodeError) -> Value {
    try readWhole(read)
  }

  /// Adds a field for bytes that were read already.
  @_lifetime(self: copy self)
  package mutating func note(
    _ name: String, _ value: String, number: FieldNumber? = nil, from start: Int? = nil
  ) {
    list.add(
      range(from: start), reference: reference, depth: depth, number: number, name: { $0.write(name) },
      value: { $0.write(value) })
  }

  /// The same, with a value that is written into the list at once.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func note(
    _ name: StaticString, from start: Int, number: FieldNumber? = nil, _ value: (inout TextBuffer) -> Void
  ) {
    list.add(
      range(from: start), reference: reference, depth: depth, number: number, name: { $0.write(name) },
      value: value)
  }

  @usableFromInline
  func range(from start: Int?) -> Range<Int> {
    let end = base + reader.offset
    return (start.map { base + $0 } ?? end)..<end
  }

  /// Runs `body`. Bytes that it can't decode or leaves unread are listed as fields, too.
  @_lifetime(self: copy self)
  package mutating func readAll(_ body: (inout FieldLister) throws(DecodeError) -> Void) {
    do throws(DecodeError) {
      try body(&self)
      if !isAtEnd { showRest("more bytes than known") }
    } catch {
      let start = reader.offset
      _ = reader.readRest()
      if list.isCut {
        note("the rest", "not in the capture", from: start)
      } else {
        note("damaged", error.description, from: start)
      }
    }
    depth = 0
  }

  /// Reads a group of fields one level deeper, below a field for the whole group.
  @_lifetime(self: copy self)
  package mutating func group(
    _ name: String, _ value: String = "", _ body: (inout FieldLister) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    let index = list.count
    let start = base + reader.offset
    note(name, value)
    depth += 1
    defer {
      depth -= 1
      let range = start..<base + reader.offset
      list.change(index) { $0.range = range }
    }
    try body(&self)
  }

  /// Reads any value, and formats it with `text`.
  @_lifetime(self: copy self)
  @discardableResult
  package mutating func show<Value>(
    _ name: String, _ read: (inout ByteReader) throws(DecodeError) -> Value, as text: (Value) -> String
  ) throws(DecodeError) -> Value {
    let start = reader.offset
    let value = try readWhole(read)
    note(name, text(value), from: start)
    return value
  }

  /// Reads a value, or leaves the reader unchanged if it can't be decoded.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func readWhole<Value>(
    _ read: (inout ByteReader) throws(DecodeError) -> Value
  ) throws(DecodeError) -> Value {
    let start = reader
    do throws(DecodeError) {
      return try read(&reader)
    } catch {
      reader = start
      throw error
    }
  }

  /// All remaining bytes; no field if there are none.
  @_lifetime(self: copy self)
  package mutating func showRest(_ name: String) {
    guard !isAtEnd else { return }
    let start = reader.offset
    let bytes = reader.readRest()
    list.add(
      range(from: start), reference: reference, depth: depth, name: { $0.write(name) },
      value: { $0.writeSpacedHex(bytes) })
  }

  @usableFromInline package typealias Failure = DecodeError

  @usableFromInline package var bytesLeft: Int? { remaining }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    let start = reader.offset
    value = try readWhole { reader throws(DecodeError) in try Value(parsing: &reader) }
    let width = reader.offset - start
    let style = style()
    // Numbers with a sign are extended; 64 bits without a sign may not fit.
    let number = value.fieldNumber.flatMap { number in
      width < 8 || number <= UInt64(Int64.max)
        ? FieldNumber(Int64(bitPattern: number), places: value.fieldPlaces) : nil
    }
    note(name, from: start, number: number) { style.write(value, width: width, to: &$0) }
    if list.namesBits { listBits(style, from: start) }
  }

  /// Lists the bits of the field that was read last, if they have names.
  @usableFromInline @inline(never)
  @_lifetime(self: copy self)
  mutating func listBits(_ style: FieldStyle, from start: Int) {
    guard case .bits(let names) = style else { return }
    let bytes = reader.bytes.extracting(start..<reader.offset)
    names.list(bytes, at: base + start, reference: reference, depth: depth + 1, to: list)
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    let start = reader.offset
    let span = try reader.readSpan(count)
    bytes = Array(span)
    guard count > 0 else { return }
    let style = style()
    list.notePersonal(style, range(from: start))
    if case .key = style, !list.showsKeys {
      note(name, from: start) { $0.write("(\(span.byteCount) bytes, not shown)") }
      return list.change(list.count - 1) { $0.isHidden = true }
    }
    note(name, from: start) { style.write(span, to: &$0) }
    if list.namesBits { listBits(style, from: start) }
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    try self.bytes(name, &bytes, count: remaining, style())
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    let start = reader.offset
    address = try readWhole { reader throws(DecodeError) in
      try BluetoothAddress(parsing: &reader, kind: kind)
    }
    let text = address
    list.noteAddress(range(from: start))
    note(name, from: start) { style().write(text, to: &$0) }
  }

  /// A damaged group is listed as such, with the fields that could be decoded.
  @_lifetime(self: copy self)
  @usableFromInline package mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(DecodeError) {
    try group(number.map { "\(name.description) \($0)" } ?? name.description) { lister throws(DecodeError) in
      try fields.list(&lister)
    }
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as: Fields.Type
  ) throws(DecodeError) {
    let start = reader.offset
    let span = try reader.readSpan(count)
    bytes = Array(span)
    let first = list.count
    let firstPersonal = list.personal.count
    list.read(span, 0..<count, reference: list.references[reference]) { lister throws(DecodeError) in
      var fields = Fields()
      try fields.list(&lister)
    }
    for index in first..<list.count {
      let (offset, depth) = (base + start, depth)
      list.change(index) {
        $0.range = offset + $0.range.lowerBound..<offset + $0.range.upperBound
        $0.depth += depth
      }
    }
    list.movePersonal(from: firstPersonal, by: base + start)
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) throws(DecodeError) {
    while !isAtEnd {
      var item = prototype
      if let name { try group(name, number: nil, &item) } else { try item.list(&self) }
      items.append(item)
    }
  }

  @_lifetime(self: copy self)
  @usableFromInline package mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String)
    throws(DecodeError)
  {
    guard isValid else { throw reader.invalid(problem()) }
  }
}

extension PacketFields {
  /// Lists the fields. Specialized where the packet type is declared.
  @inlinable
  package mutating func list(_ lister: inout FieldLister) throws(DecodeError) {
    try visit(&lister)
  }
}

extension FieldStyle {
  @inlinable
  func write(_ value: some FieldValue, width: Int, to text: inout TextBuffer) {
    switch self {
    case .plain, .text, .key, .described: value.writeField(to: &text)
    case .noted(let style, _): style.write(value, width: width, to: &text)
    case .unit(let unit):
      value.writeField(to: &text)
      text.write(" ")
      text.write(unit)
    case .power:
      guard value.fieldNumber != 127 else { return text.write("not known") }
      value.writeField(to: &text)
      text.write(" dBm")
    case .hex:
      guard let number = value.fieldNumber else { return value.writeField(to: &text) }
      text.writeHex(number, bytes: width)
    case .names(let names):
      guard let name = value.fieldNumber.flatMap({ names[$0] }) else { return value.writeField(to: &text) }
      text.write(name)
    case .bits(let names): writeBits(value, names, to: &text)
    case .words(let words): text.write(words)
    case .namesOrUnit(let words, let unit):
      if let word = value.fieldNumber.flatMap({ words[$0] }) { return text.write(word) }
      value.writeField(to: &text)
      text.write(" ")
      text.write(unit)
    }
  }

  /// Writes the number and the names of its bits.
  @usableFromInline @inline(never)
  func writeBits(_ value: some FieldValue, _ names: BitNames, to text: inout TextBuffer) {
    var writer = ByteWriter()
    value.write(into: &writer)
    text.writeHex(value.fieldNumber ?? 0, bytes: writer.count)
    text.write(": ")
    names.writeSummary(of: writer.span, to: &text)
  }

  func write(_ address: BluetoothAddress, to text: inout TextBuffer) {
    switch self {
    case .words(let words): text.write(words)
    case .names(let names):
      if let name = names[address.value] { text.write(name) } else { text.write(address) }
    default: text.write(address)
    }
  }

  func write(_ bytes: RawSpan, to text: inout TextBuffer) {
    switch self {
    case .text: break
    case .key:
      let reversed = Array(Array(bytes).reversed())
      return text.writeHex(reversed.span.bytes)
    case .bits(let names): return names.writeSummary(of: bytes, to: &text)
    case .words(let words): return text.write(words)
    default: return text.writeSpacedHex(bytes)
    }
    var length = 0
    while let byte = bytes.byte(at: length), byte != 0 { length += 1 }
    text.write("\"")
    text.writePrintable(bytes.extracting(0..<length))
    text.write("\"")
  }
}
