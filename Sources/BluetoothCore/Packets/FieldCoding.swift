// Reading and writing the fields of packets.

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

  @inlinable
  @_lifetime(self: copy self)
  public mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = try readBytes(count)
  }

  @inlinable
  @_lifetime(self: copy self)
  public mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    bytes = readRemainingBytes()
  }

  @inlinable
  @_lifetime(self: copy self)
  public mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) throws(DecodeError) {
    address = try BluetoothAddress(parsing: &self, kind: kind)
  }

  @inlinable
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

  @inlinable
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

  @inlinable
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
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) {
    address.write(into: &self)
  }

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

  /// Reads the fields. Bytes after the last field are left to the caller.
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

  /// The fields as a byte array.
  public func encoded() -> [UInt8] {
    var writer = ByteWriter(capacity: 32)
    write(into: &writer)
    return writer.bytes
  }
}

extension PacketFields {
  /// Whether both have the same encoding.
  public static func == (left: Self, right: Self) -> Bool { left.encoded() == right.encoded() }

  public func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}
