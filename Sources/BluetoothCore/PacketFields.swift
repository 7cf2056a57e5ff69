/// A packet, or a part of one, that names its fields once, in wire order. Reading, writing, lengths and dissection
/// are all made of this one list:
///
///     struct LESetScanEnable: PacketFields {
///       var isEnabled = false
///       var filtersDuplicates = false
///
///       mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
///         try fields.value("enabled", &isEnabled)
///         try fields.value("filter duplicates", &filtersDuplicates)
///       }
///     }
public protocol PacketFields: Sendable {
  /// All fields zero or empty: what reading starts with.
  init()

  /// Visits the fields in wire order. A reader sets each of them, a writer leaves them as they are.
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure)
}

/// A value that is one field of a packet: it reads, writes and describes itself.
public protocol FieldValue: Sendable, CustomStringConvertible {
  init(parsing reader: inout ByteReader) throws(DecodeError)
  func write(into writer: inout ByteWriter)
  /// The value as a number, for a ``FieldStyle``; nil if it is none.
  var fieldNumber: UInt64? { get }
  /// The value in words, with its unit.
  var fieldText: String { get }
}

extension FieldValue {
  public var fieldText: String { description }
}

/// Walks the fields of a packet. ``ByteReader`` reads them, ``ByteWriter`` writes them.
public protocol FieldVisitor: ~Escapable {
  /// What ends the walk: ``DecodeError`` where bytes are read, `Never` where they are written.
  associatedtype Failure: Error

  /// A field of fixed size.
  ///
  /// - Parameters:
  ///   - name: as the specification has it, in lower case
  ///   - style: how it is shown; by default as the value describes itself
  @_lifetime(self: copy self)
  mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(Failure)

  /// `count` bytes. A writer fills up with zeros, and leaves out what is beyond.
  @_lifetime(self: copy self)
  mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(Failure)

  /// All bytes that are left.
  @_lifetime(self: copy self)
  mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle) throws(Failure)

  /// A device address, six bytes; of a type that is known already.
  @_lifetime(self: copy self)
  mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind) throws(Failure)

  /// Fields that belong together, under a name.
  @_lifetime(self: copy self)
  mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields) throws(Failure)

  /// Fields that belong together. If they can't be read, none of them is, and the walk goes on at their beginning.
  ///
  /// - Returns: whether they were read, or written
  @_lifetime(self: copy self)
  mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(Failure) -> Bool

  /// `count` bytes with a structure of their own, which is only looked at where fields are shown.
  @_lifetime(self: copy self)
  mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as fields: Fields.Type) throws(Failure)

  /// Items one after the other, to the end of the bytes.
  ///
  /// - Parameters:
  ///   - name: of the group that each item is shown as; nil to show its fields alone
  ///   - prototype: what the reading of an item starts with
  @_lifetime(self: copy self)
  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item) throws(Failure)

  /// How many bytes are left to read; nil where bytes are written.
  var bytesLeft: Int? { get }

  /// Refuses values that were read and can't be. A writer ignores it.
  @_lifetime(self: copy self)
  mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) throws(Failure)
}

/// How a field is shown to a person.
public enum FieldStyle: Sendable {
  /// As the value describes itself.
  case plain
  /// A number with a unit behind it: `bytes`, `us`.
  case unit(StaticString)
  /// A strength or power in dBm; 127 says that it is not known.
  case power
  /// A number in hexadecimal digits, as wide as the field.
  case hex
  /// The meaning of some values; others are numbers.
  case names([UInt64: String])
  /// Bytes that are text, up to the first zero.
  case text
}

extension FieldVisitor where Self: ~Escapable {
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value
  ) throws(Failure) {
    try self.value(name, &value, .plain)
  }

  /// A field in which one number stands for no value.
  @_lifetime(self: copy self)
  public mutating func value<Value: FieldValue & Equatable>(
    _ name: StaticString, _ value: inout Value?, none: Value, _ style: @autoclosure () -> FieldStyle = .plain
  ) throws(Failure) {
    var raw = value ?? none
    try self.value(name, &raw, style())
    value = raw == none ? nil : raw
  }

  @_lifetime(self: copy self)
  public mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item]
  ) throws(Failure) {
    try self.items(name, &items, like: Item())
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func rest(_ name: StaticString, _ bytes: inout [UInt8]) throws(Failure) {
    try rest(name, &bytes, .plain)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int
  ) throws(Failure) {
    try self.bytes(name, &bytes, count: count, .plain)
  }

  /// The type of an address, then its six bytes: the order of all LE commands and events.
  @_lifetime(self: copy self)
  public mutating func typedAddress(
    _ name: StaticString, type: StaticString, _ address: inout BluetoothAddress
  ) throws(Failure) {
    var kind = address.kind
    try value(type, &kind)
    try self.address(name, &address, kind: kind)
  }

  /// A number of items, one byte, and the items one after the other.
  ///
  /// - Parameters:
  ///   - name: of the group that each item is shown as; nil to show its fields alone
  ///   - limit: how many items a writer writes at most
  @_lifetime(self: copy self)
  public mutating func list<Item: PacketFields>(
    _ count: StaticString, of name: StaticString? = nil, _ items: inout [Item], limit: Int = 255
  ) throws(Failure) {
    var number = UInt8(clamping: min(items.count, limit))
    try value(count, &number)
    for index in 0..<Int(number) {
      if index == items.count { items.append(Item()) }
      if let name {
        try group(name, number: index + 1, &items[index])
      } else {
        try items[index].visit(&self)
      }
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// Fields that are only there if `isPresent`. A writer writes zeros for those that are missing.
  @_lifetime(self: copy self)
  public mutating func group<Fields: PacketFields>(
    _ name: StaticString, _ fields: inout Fields?, isPresent: Bool
  ) throws(Failure) {
    guard isPresent else { return fields = nil }
    var present = fields ?? Fields()
    try group(name, number: nil, &present)
    fields = present
  }
}

// MARK: Reading

extension ByteReader: FieldVisitor {
  public typealias Failure = DecodeError

  public var bytesLeft: Int? { remaining }

  @_lifetime(self: copy self)
  @inlinable @inline(__always)
  public mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    value = try Value(parsing: &self)
  }

  @_lifetime(self: copy self)
  public mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = try readBytes(count)
  }

  @_lifetime(self: copy self)
  public mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = readRemainingBytes()
  }

  @_lifetime(self: copy self)
  public mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind
  ) throws(DecodeError) {
    address = try BluetoothAddress(parsing: &self, kind: kind)
  }

  @_lifetime(self: copy self)
  @inlinable @inline(__always)
  public mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(DecodeError) {
    try fields.visit(&self)
  }

  @_lifetime(self: copy self)
  public mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) -> Bool {
    let start = self
    do throws(DecodeError) {
      try fields.visit(&self)
      return true
    } catch {
      self = start
      return false
    }
  }

  @_lifetime(self: copy self)
  public mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as fields: Fields.Type
  ) throws(DecodeError) {
    bytes = try readBytes(count)
  }

  @_lifetime(self: copy self)
  public mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) throws(DecodeError) {
    while !isAtEnd {
      var item = prototype
      try item.visit(&self)
      items.append(item)
    }
  }

  @_lifetime(self: copy self)
  public mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) throws(DecodeError) {
    guard isValid else { throw invalid(problem()) }
  }
}

// MARK: Writing

extension ByteWriter: FieldVisitor {
  public typealias Failure = Never

  @inlinable @inline(__always)
  public mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) {
    value.write(into: &self)
  }

  public mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) {
    let end = self.count + count
    write(bytes.prefix(count))
    pad(to: end)
  }

  public mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) {
    write(bytes)
  }

  public mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind
  ) {
    address.write(into: &self)
  }

  @inlinable @inline(__always)
  public mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) {
    fields.visit(&self)
  }

  public mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) -> Bool {
    fields.visit(&self)
    return true
  }

  public mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as fields: Fields.Type
  ) {
    self.bytes(name, &bytes, count: count)
  }

  public var bytesLeft: Int? { nil }

  public mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {
    for index in items.indices { items[index].visit(&self) }
  }

  public mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) {}
}

extension PacketFields {
  /// Sets some fields; the others are zero or empty.
  public init(_ set: (inout Self) -> Void) {
    self.init()
    set(&self)
  }

  /// Reads the fields. Bytes behind the last field are left to the caller.
  @inlinable
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init()
    try visit(&reader)
  }

  /// Writes the fields.
  @inlinable
  public func write(into writer: inout ByteWriter) {
    var fields = self
    fields.visit(&writer)
  }

  /// The fields as bytes of their own.
  public func encoded() -> [UInt8] {
    var writer = ByteWriter(capacity: 32)
    write(into: &writer)
    return writer.bytes
  }
}

extension PacketFields {
  /// Whether both are written as the same bytes.
  public static func == (left: Self, right: Self) -> Bool { left.encoded() == right.encoded() }

  public func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}

// MARK: Numbers

extension FieldValue where Self: FixedWidthInteger {
  public var fieldNumber: UInt64? { UInt64(truncatingIfNeeded: self) }
}

extension UInt8: FieldValue {
  @inlinable @inline(__always)
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt8() }
  @inlinable @inline(__always)
  public func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension Int8: FieldValue {
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readInt8() }
  public func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt16: FieldValue {
  @inlinable @inline(__always)
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt16() }
  @inlinable @inline(__always)
  public func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt32: FieldValue {
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt32() }
  public func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt64: FieldValue {
  public init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt64() }
  public func write(into writer: inout ByteWriter) { writer.write(self) }
}

/// Three bytes, little-endian.
public struct UInt24: FieldValue, Hashable {
  public var value: UInt32

  public init(_ value: UInt32 = 0) {
    self.value = value & 0xFF_FFFF
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) { value = try reader.readUInt24() }
  public func write(into writer: inout ByteWriter) { writer.writeUInt24(value) }

  public var fieldNumber: UInt64? { UInt64(value) }
  public var description: String { "\(value)" }
}

/// A byte that may only be 0 or 1.
extension Bool: FieldValue {
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    switch try reader.readUInt8() {
    case 0: self = false
    case 1: self = true
    case let other: throw reader.invalid("\(other) is neither off (0) nor on (1)")
    }
  }

  public func write(into writer: inout ByteWriter) { writer.write(UInt8(self ? 1 : 0)) }

  public var fieldNumber: UInt64? { self ? 1 : 0 }
  public var fieldText: String { self ? "yes" : "no" }
}

extension BluetoothAddress.Kind: FieldValue {
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try reader.readUInt8())
  }

  public func write(into writer: inout ByteWriter) { writer.write(rawValue) }

  public var fieldNumber: UInt64? { UInt64(rawValue) }
}
