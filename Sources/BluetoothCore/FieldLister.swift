/// A field of a packet, for a person: what it is called, what it says, and which bytes say so.
public struct PacketField: Hashable, Sendable {
  public var name: String
  /// In words, with the unit.
  public var value: String
  /// The bytes, as indices into those that the fields were listed of.
  public var range: Range<Int>
  /// Where it is specified: `Vol 4, Part E, 7.7.65.2`.
  public var reference: String
  /// How deep it stands inside others; 0 is the top of its layer.
  public var depth: Int

  public init(_ name: String, _ value: String, range: Range<Int>, reference: String, depth: Int = 0) {
    self.name = name
    self.value = value
    self.range = range
    self.reference = reference
    self.depth = depth
  }
}

/// Reads the fields of packets, and keeps what they said and where they stood.
public struct FieldLister: ~Escapable {
  public private(set) var fields: [PacketField] = []
  private var reader: ByteReader
  /// Where the reader's first byte stands in the bytes that the ranges point into.
  private let base: Int
  private let reference: String
  private var depth = 0

  /// - Parameters:
  ///   - range: what to read of `bytes`
  ///   - reference: the section of the specification that the fields are from
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, _ range: Range<Int>, reference: String) {
    let range = range.clamped(to: 0..<bytes.byteCount)
    reader = ByteReader(bytes.extracting(range))
    base = range.lowerBound
    self.reference = reference
  }

  public var remaining: Int { reader.remaining }
  public var isAtEnd: Bool { reader.isAtEnd }
  /// How many bytes were read.
  public var offset: Int { reader.offset }

  /// Adds a field that says something about bytes that were read already.
  @_lifetime(self: copy self)
  public mutating func note(_ name: String, _ value: String, from start: Int? = nil) {
    let end = base + reader.offset
    fields.append(
      PacketField(
        name, value, range: (start.map { base + $0 } ?? end)..<end, reference: reference, depth: depth))
  }

  /// Lists the fields of `packet`; what can't be read, and what is left, become fields, too.
  @_lifetime(self: copy self)
  public mutating func list(_ packet: some PacketFields) {
    readAll { lister throws(DecodeError) in
      var packet = packet
      try packet.list(&lister)
    }
  }

  /// Runs `body`; what it can't read, and what it leaves, become fields, too.
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

  /// Reads a group of fields one step deeper, below a field that names the whole.
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

  /// Reads any value, and says it as `text` does.
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

  /// Reads a value, or nothing of it.
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

  /// All bytes that are left; no field if there are none.
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

  @_lifetime(self: copy self)
  public mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(DecodeError) {
    try group(number.map { "\(name.description) \($0)" } ?? name.description) { lister throws(DecodeError) in
      try fields.list(&lister)
    }
  }

  @_lifetime(self: copy self)
  public mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(DecodeError) -> Bool {
    // What is damaged is shown as such, with all that could be read of it.
    try group(name, number: number, &fields)
    return true
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
  /// Lists the fields. Specialized where the packet is declared.
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
