// Reading and writing the fields of packets.

extension ByteReader: FieldVisitor {
  @usableFromInline package typealias Failure = DecodeError

  @usableFromInline package var bytesLeft: Int? { remaining }

  @_lifetime(self: copy self)
  @inlinable @inline(__always)
  package mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    value = try Value(parsing: &self)
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = try readBytes(count)
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = readRemainingBytes()
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    address = try BluetoothAddress(parsing: &self, kind: kind)
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func tryGroup<Fields: PacketFields>(
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

  @inlinable
  @_lifetime(self: copy self)
  package mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) throws(DecodeError) {
    while !isAtEnd {
      var item = prototype
      try item.visit(&self)
      items.append(item)
    }
  }

  @inlinable
  @_lifetime(self: copy self)
  package mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) throws(DecodeError) {
    guard isValid else { throw invalid(problem()) }
  }
}

// MARK: Writing

extension ByteWriter: FieldVisitor {
  @usableFromInline package typealias Failure = Never

  @inlinable @inline(__always)
  package mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) {
    value.write(into: &self)
  }

  @usableFromInline package mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) {
    let end = self.count + count
    write(bytes.prefix(count))
    pad(to: end)
  }

  @usableFromInline package mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) {
    write(bytes)
  }

  @usableFromInline package mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) {
    address.write(into: &self)
  }

  @usableFromInline package mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {
    for index in items.indices { items[index].visit(&self) }
  }

  @usableFromInline package mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) {}
}

extension PacketFields {
  /// Sets some fields; the others are zero or empty.
  package init(_ set: (inout Self) -> Void) {
    self.init()
    set(&self)
  }

  /// Reads the fields. Bytes after the last field are left to the caller.
  @inlinable
  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init()
    try visit(&reader)
  }

  /// Writes the fields.
  @inlinable
  package func write(into writer: inout ByteWriter) {
    var fields = self
    fields.visit(&writer)
  }

  /// The fields as a byte array.
  package func encoded() -> [UInt8] {
    var writer = ByteWriter(capacity: 32)
    write(into: &writer)
    return writer.bytes
  }

  @usableFromInline package static func == (left: Self, right: Self) -> Bool {
    left.encoded() == right.encoded()
  }

  @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}
