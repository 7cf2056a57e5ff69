/// A packet, or a part of one, that lists its fields once, in wire order. Reading, writing, lengths and dissection are
/// all derived from this list:
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
@usableFromInline package protocol PacketFields: Sendable {
  /// Creates a value with all fields zero or empty, to be filled by decoding.
  init()

  /// Visits the fields in wire order. A reader sets each field, a writer does not change it.
  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure)

  /// Lists the fields. It has a default, which is specialized for each type; a requirement, so that the specialized one
  /// is also found for a packet whose type is not known.
  mutating func list(_ lister: inout FieldLister) throws(DecodeError)
}

/// A value that forms one field of a packet: it reads, writes and describes itself.
@usableFromInline package protocol FieldValue: Sendable, CustomStringConvertible {
  init(parsing reader: inout ByteReader) throws(DecodeError)
  func write(into writer: inout ByteWriter)
  /// The value as a number, for a ``FieldStyle``; nil if it has none.
  var fieldNumber: UInt64? { get }
  /// The number of decimal places of ``fieldNumber``.
  var fieldPlaces: Int { get }
  /// The value as text, with its unit.
  var fieldText: String { get }
  /// Writes `fieldText`; values that packets are full of write it without a string.
  func writeField(to text: inout TextBuffer)
}

extension FieldValue {
  @usableFromInline package var fieldPlaces: Int { 0 }
  @usableFromInline package var fieldText: String { description }

  @usableFromInline package func writeField(to text: inout TextBuffer) { text.write(fieldText) }
}

extension FieldValue where Self: FixedWidthInteger {
  @usableFromInline package func writeField(to text: inout TextBuffer) {
    if self < 0 { text.write(ascii: UInt8(ascii: "-")) }
    text.write(magnitude: UInt64(magnitude), digits: 1)
  }
}

/// Visits the fields of a packet. ``ByteReader`` reads them, ``ByteWriter`` writes them.
@usableFromInline package protocol FieldVisitor: ~Escapable {
  /// The error that ends the visit: ``DecodeError`` for readers, `Never` for writers.
  associatedtype Failure: Error

  /// A field of fixed size.
  ///
  /// - Parameters:
  ///   - name: the name in the specification, in lower case
  ///   - value: the value; a reader replaces it
  ///   - style: the display style; by default, the value's own description
  @_lifetime(self: copy self)
  mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(Failure)

  /// `count` bytes. A writer pads with zeros, and omits excess bytes.
  @_lifetime(self: copy self)
  mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(Failure)

  /// All remaining bytes.
  @_lifetime(self: copy self)
  mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle) throws(Failure)

  /// A device address of six bytes, whose type is already known.
  @_lifetime(self: copy self)
  mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle) throws(Failure)

  /// A named group of fields.
  @_lifetime(self: copy self)
  mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields) throws(Failure)

  /// A group of fields. If one of them can't be decoded, none is, and the visit continues at the start of the group.
  ///
  /// - Returns: whether the fields were read or written
  @_lifetime(self: copy self)
  mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(Failure) -> Bool

  /// `count` bytes with an inner structure, which is decoded only for display.
  @_lifetime(self: copy self)
  mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as fields: Fields.Type) throws(Failure)

  /// Consecutive items, up to the end of the bytes.
  ///
  /// - Parameters:
  ///   - name: the name of the group for each item; nil to show only its fields
  ///   - items: the items; a reader replaces them
  ///   - prototype: the initial value for decoding an item
  @_lifetime(self: copy self)
  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item) throws(Failure)

  /// Numbered items, up to the end of the bytes or as many as a byte before them says. From the first one on that can't be
  /// decoded, the bytes are kept as they are.
  ///
  /// - Parameters:
  ///   - name: the name of the group for each item
  ///   - items: the items; a reader replaces them
  ///   - count: the name of the byte with their number; nil if there is none
  ///   - unread: the bytes behind the last item that can be decoded
  @_lifetime(self: copy self)
  mutating func items<Item: PacketFields>(
    _ name: StaticString, _ items: inout [Item], counted count: StaticString?, unread: inout [UInt8]
  ) throws(Failure)

  /// Consecutive values of one kind.
  ///
  /// - Parameters:
  ///   - name: the name of each
  ///   - values: the values; a reader replaces them
  ///   - prototype: any value of the kind, with which a writer fills up
  ///   - count: how many there are; nil for all up to the end of the bytes
  ///   - style: the display style of each
  @_lifetime(self: copy self)
  mutating func values<Value: FieldValue>(
    _ name: StaticString, _ values: inout [Value], like prototype: Value, count: Int?,
    _ style: @autoclosure () -> FieldStyle) throws(Failure)

  /// The number of unread bytes; nil for a writer.
  var bytesLeft: Int? { get }

  /// Throws if a decoded value is invalid. A writer ignores it.
  @_lifetime(self: copy self)
  mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) throws(Failure)
}

/// How a field is displayed.
@usableFromInline package enum FieldStyle: Sendable {
  /// The value's own description.
  case plain
  /// A number followed by a unit: `bytes`, `us`.
  case unit(StaticString)
  /// A signal strength or power in dBm; 127 means not available.
  case power
  /// A hexadecimal number, as wide as the field.
  case hex
  /// Names for some values; others are shown as numbers.
  case names([UInt64: String])
  /// Bits with names.
  case bits(BitNames)
  /// The same words for every value: the value is not used, or not valid.
  case words(StaticString)
  /// Words for some values; others have the unit.
  case namesOrUnit([UInt64: String], StaticString)
  /// Text, up to the first zero byte.
  case text
  /// A key, least significant byte first in the packet. It is shown in the other order, without spaces, as the specification,
  /// key stores and other programs print keys.
  case key
  /// Another style, with a remark for a list of all fields.
  indirect case noted(FieldStyle, String)
  /// The value's own description. In a list of all fields these words stand instead of its name.
  case described(String)
}

/// For a visitor to which a group is no more than its fields.
extension FieldVisitor where Self: ~Escapable {
  @usableFromInline package var bytesLeft: Int? { nil }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func group<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(Failure) {
    try fields.visit(&self)
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func tryGroup<Fields: PacketFields>(
    _ name: StaticString, number: Int?, _ fields: inout Fields
  ) throws(Failure) -> Bool {
    try group(name, number: number, &fields)
    return true
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as fields: Fields.Type
  ) throws(Failure) {
    try self.bytes(name, &bytes, count: count, .plain)
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func items<Item: PacketFields>(
    _ name: StaticString, _ items: inout [Item], counted count: StaticString?, unread: inout [UInt8]
  ) throws(Failure) {
    var number = UInt8(clamping: items.count)
    if let count { try value(count, &number, .plain) }
    let end = count != nil ? Int(number) : bytesLeft == nil ? items.count : nil
    var index = 0
    while end.map({ index < $0 }) ?? (bytesLeft != 0) {
      var item = index < items.count ? items[index] : Item()
      guard try tryGroup(name, number: index + 1, &item) else { return try rest("unread", &unread, .plain) }
      if index == items.count { items.append(item) }
      index += 1
    }
    if !unread.isEmpty { try rest("unread", &unread, .plain) }
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func values<Value: FieldValue>(
    _ name: StaticString, _ values: inout [Value], like prototype: Value, count: Int?,
    _ style: @autoclosure () -> FieldStyle
  ) throws(Failure) {
    let end = count ?? (bytesLeft == nil ? values.count : nil)
    var index = 0
    while end.map({ index < $0 }) ?? (bytesLeft != 0) {
      var value = index < values.count ? values[index] : prototype
      try self.value(name, &value, style())
      if index == values.count { values.append(value) }
      index += 1
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func value<Value: FieldValue>(_ name: StaticString, _ value: inout Value) throws(Failure) {
    try self.value(name, &value, .plain)
  }

  /// A field in which one value means that there is none.
  @inlinable
  @_lifetime(self: copy self)
  package mutating func value<Value: FieldValue & Equatable>(
    _ name: StaticString, _ value: inout Value?, none: Value, _ style: @autoclosure () -> FieldStyle = .plain
  ) throws(Failure) {
    var raw = value ?? none
    try self.value(name, &raw, style())
    value = raw == none ? nil : raw
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item]
  ) throws(Failure) {
    try self.items(name, &items, like: Item())
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func rest(_ name: StaticString, _ bytes: inout [UInt8]) throws(Failure) {
    try rest(name, &bytes, .plain)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func bytes(_ name: StaticString, _ bytes: inout [UInt8], count: Int) throws(Failure) {
    try self.bytes(name, &bytes, count: count, .plain)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind
  ) throws(Failure) {
    try self.address(name, &address, kind: kind, .plain)
  }

  /// The type of an address, followed by its six bytes: the order of all LE commands and events.
  ///
  /// - Parameters:
  ///   - name: of the address
  ///   - type: the name of its type
  ///   - address: is read or written, with its kind
  ///   - isUsed: whether the address has a meaning by the other fields
  @inlinable
  @_lifetime(self: copy self)
  package mutating func typedAddress(
    _ name: StaticString, type: StaticString, _ address: inout BluetoothAddress, isUsed: Bool = true
  ) throws(Failure) {
    var kind = address.kind
    try value(type, &kind, isUsed ? .plain : .words("not used"))
    try self.address(name, &address, kind: kind, isUsed ? .plain : .words("not used"))
  }

  /// The number of items in one byte, followed by the items.
  ///
  /// - Parameters:
  ///   - count: the name of the field with the number
  ///   - name: the name of the group for each item; nil to show only its fields
  ///   - items: the items; a reader replaces them
  ///   - limit: the maximum number of items to write
  ///   - style: how the number is displayed
  @inlinable
  @_lifetime(self: copy self)
  package mutating func list<Item: PacketFields>(
    _ count: StaticString, of name: StaticString? = nil, _ items: inout [Item], limit: Int = 255,
    _ style: @autoclosure () -> FieldStyle = .plain
  ) throws(Failure) {
    var number = UInt8(clamping: min(items.count, limit))
    try value(count, &number, style())
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
  /// Fields that are present only if `isPresent`. A writer writes zeros for absent fields.
  @inlinable
  @_lifetime(self: copy self)
  package mutating func group<Fields: PacketFields>(
    _ name: StaticString, _ fields: inout Fields?, isPresent: Bool
  ) throws(Failure) {
    guard isPresent else { return fields = nil }
    var present = fields ?? Fields()
    try group(name, number: nil, &present)
    fields = present
  }
}
