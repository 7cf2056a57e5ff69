/// A field of a packet for display: its name, its value, and its byte range.
public struct PacketField: Hashable, Sendable {
  /// The name in the specification, in lower case.
  public var name: String
  /// The value as text, with its unit.
  public var value: String
  /// The byte range, as indices into the bytes given to the lister.
  public var range: Range<Int>
  /// Where it is specified: `Vol 4, Part E, 7.7.65.2`.
  public var reference: String
  /// The nesting depth; 0 is the top of its layer.
  public var depth: Int
  /// The value as a number, if it is one: as in the packet, in the units of the specification.
  public var number: FieldNumber?

  public init(_ name: String, _ value: String, range: Range<Int>, reference: String, depth: Int = 0) {
    self.name = name
    self.value = value
    self.range = range
    self.reference = reference
    self.depth = depth
  }
}

/// A number with a fixed count of decimal places: 3650 with 2 places is 36.50.
public struct FieldNumber: Hashable, Sendable, CustomStringConvertible {
  public var value: Int64
  public var places: Int

  public init(_ value: Int64, places: Int = 0) {
    self.value = value
    self.places = places
  }

  public var description: String {
    places == 0 ? "\(value)" : DecimalText.string(value, places: places)
  }
}

/// Reads the fields of packets, and records their values and byte ranges.
public struct FieldLister: ~Escapable {
  public private(set) var fields: [PacketField] = []
  private var reader: ByteReader
  /// The index of the reader's first byte in the bytes that the ranges refer to.
  private let base: Int
  private let reference: String
  private var depth = 0

  /// - Parameters:
  ///   - bytes: the packet
  ///   - range: the part of `bytes` to read
  ///   - reference: the section of the specification that defines the fields
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, _ range: Range<Int>, reference: String) {
    let range = range.clamped(to: 0..<bytes.byteCount)
    reader = ByteReader(bytes.extracting(range))
    base = range.lowerBound
    self.reference = reference
  }

  public var remaining: Int { reader.remaining }
  public var isAtEnd: Bool { reader.isAtEnd }
  /// The number of bytes read.
  public var offset: Int { reader.offset }

  /// The byte at an offset from the next one, without reading it; nil if there are fewer.
  public func peek(at index: Int) -> UInt8? {
    index >= 0 ? reader.bytes.byte(at: reader.offset + index) : nil
  }

  /// Two bytes at an offset from the next one, the most significant first; 0 if there are fewer.
  public func peekWord(at index: Int) -> UInt16 {
    guard let high = peek(at: index), let low = peek(at: index + 1) else { return 0 }
    return UInt16(high) << 8 | UInt16(low)
  }

  /// An error for bytes that should follow.
  public func missing(_ count: Int) -> DecodeError {
    DecodeError(offset: reader.offset, reason: .truncated(needed: count, available: remaining))
  }

  /// Reads a value without a field; see ``note(_:_:from:)``.
  @_lifetime(self: copy self)
  public mutating func take<Value>(
    _ read: (inout ByteReader) throws(DecodeError) -> Value
  ) throws(DecodeError) -> Value {
    try readWhole(read)
  }

  /// Adds a field for bytes that were read already.
  @_lifetime(self: copy self)
  public mutating func note(
    _ name: String, _ value: String, number: FieldNumber? = nil, from start: Int? = nil
  ) {
    let end = base + reader.offset
    fields.append(
      PacketField(
        name, value, range: (start.map { base + $0 } ?? end)..<end, reference: reference, depth: depth))
    fields[fields.count - 1].number = number
  }

  /// Lists the fields of `packet`. Undecodable and remaining bytes are listed as fields, too.
  @_lifetime(self: copy self)
  public mutating func list(_ packet: some PacketFields) {
    readAll { lister throws(DecodeError) in
      var packet = packet
      try packet.list(&lister)
    }
  }

  /// Runs `body`. Bytes that it can't decode or leaves unread are listed as fields, too.
  @_lifetime(self: copy self)
  public mutating func readAll(_ body: (inout FieldLister) throws(DecodeError) -> Void) {
    do throws(DecodeError) {
      try body(&self)
      if !isAtEnd { showRest("more bytes than known") }
    } catch {
      let start = reader.offset
      _ = reader.readRest()
      note("damaged", error.description, from: start)
    }
    depth = 0
  }

  /// Reads a group of fields one level deeper, below a field for the whole group.
  @_lifetime(self: copy self)
  public mutating func group(
    _ name: String, _ value: String = "", _ body: (inout FieldLister) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    let index = fields.count
    let start = base + reader.offset
    fields.append(PacketField(name, value, range: start..<start, reference: reference, depth: depth))
    depth += 1
    defer {
      depth -= 1
      fields[index].range = start..<base + reader.offset
    }
    try body(&self)
  }

  /// Reads any value, and formats it with `text`.
  @_lifetime(self: copy self)
  @discardableResult
  public mutating func show<Value>(
    _ name: String, _ read: (inout ByteReader) throws(DecodeError) -> Value, as text: (Value) -> String
  ) throws(DecodeError) -> Value {
    let start = reader.offset
    let value = try readWhole(read)
    note(name, text(value), from: start)
    return value
  }

  /// Reads a value, or leaves the reader unchanged if it can't be decoded.
  @_lifetime(self: copy self)
  private mutating func readWhole<Value>(
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
  public mutating func showRest(_ name: String) {
    guard !isAtEnd else { return }
    let start = reader.offset
    let bytes = reader.readRemainingBytes()
    note(name, Hex.string(bytes, separator: " "), from: start)
  }
}

extension FieldLister: FieldVisitor {
  public typealias Failure = DecodeError

  public var bytesLeft: Int? { remaining }

  @_lifetime(self: copy self)
  public mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    let start = reader.offset
    value = try readWhole { reader throws(DecodeError) in try Value(parsing: &reader) }
    note(name.description, style().text(value, width: reader.offset - start), from: start)
    // Numbers with a sign are extended; 64 bits without a sign may not fit.
    if let number = value.fieldNumber, reader.offset - start < 8 || number <= UInt64(Int64.max) {
      fields[fields.count - 1].number = FieldNumber(Int64(bitPattern: number), places: value.fieldPlaces)
    }
  }

  @_lifetime(self: copy self)
  public mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    let start = reader.offset
    bytes = try reader.readBytes(count)
    guard count > 0 else { return }
    note(name.description, style().text(bytes), from: start)
  }

  @_lifetime(self: copy self)
  public mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    try self.bytes(name, &bytes, count: remaining, style())
  }

  @_lifetime(self: copy self)
  public mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind
  ) throws(DecodeError) {
    let start = reader.offset
    address = try readWhole { reader throws(DecodeError) in
      try BluetoothAddress(parsing: &reader, kind: kind)
    }
    note(name.description, address.description, from: start)
  }

  /// A damaged group is listed as such, with the fields that could be decoded.
  @_lifetime(self: copy self)
  public mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(DecodeError) {
    try group(number.map { "\(name.description) \($0)" } ?? name.description) { lister throws(DecodeError) in
      try fields.list(&lister)
    }
  }

  @_lifetime(self: copy self)
  public mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as: Fields.Type
  ) throws(DecodeError) {
    let start = reader.offset
    let span = try reader.readSpan(count)
    bytes = Array(span)
    var inner = FieldLister(span, 0..<count, reference: reference)
    inner.list(Fields())
    for var field in inner.fields {
      field.range = base + start + field.range.lowerBound..<base + start + field.range.upperBound
      field.depth += depth
      self.fields.append(field)
    }
  }

  @_lifetime(self: copy self)
  public mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) throws(DecodeError) {
    while !isAtEnd {
      var item = prototype
      if let name { try group(name, number: nil, &item) } else { try item.list(&self) }
      items.append(item)
    }
  }

  @_lifetime(self: copy self)
  public mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) throws(DecodeError) {
    guard isValid else { throw reader.invalid(problem()) }
  }
}

extension PacketFields {
  /// Lists the fields. Specialized where the packet type is declared.
  @inlinable
  public mutating func list(_ lister: inout FieldLister) throws(DecodeError) {
    try visit(&lister)
  }
}

extension FieldStyle {
  func text(_ value: some FieldValue, width: Int) -> String {
    switch self {
    case .plain, .text: return value.fieldText
    case .unit(let unit): return "\(value.fieldText) \(unit)"
    case .power: return value.fieldNumber == 127 ? "not known" : "\(value.fieldText) dBm"
    case .hex: return value.fieldNumber.map { Hex.string($0, bytes: width) } ?? value.fieldText
    case .names(let names): return value.fieldNumber.flatMap { names[$0] } ?? value.fieldText
    }
  }

  func text(_ bytes: [UInt8]) -> String {
    switch self {
    case .text: "\"" + String(printable: bytes.prefix { $0 != 0 }) + "\""
    default: Hex.string(bytes, separator: " ")
    }
  }
}
