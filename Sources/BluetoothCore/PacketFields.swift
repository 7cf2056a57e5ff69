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
