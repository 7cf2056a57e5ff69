/// Assembles the bytes of a packet. Integers are little-endian unless the name says otherwise. A writer can be reused:
/// ``removeAll()`` keeps its memory.
@usableFromInline package struct ByteWriter: Sendable {
  /// The bytes written so far.
  @usableFromInline package private(set) var bytes: [UInt8]

  /// - Parameter capacity: the number of bytes to reserve, so that writing them does not allocate
  package init(capacity: Int = 0) {
    bytes = []
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  /// The number of bytes written so far.
  @usableFromInline package var count: Int { bytes.count }

  /// The bytes written so far.
  package var span: RawSpan {
    @_lifetime(borrow self)
    get { bytes.span.bytes }
  }

  /// Removes all bytes and keeps the memory.
  @usableFromInline package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Appends a byte.
  @usableFromInline package mutating func write(_ value: UInt8) {
    bytes.append(value)
  }

  /// Appends a byte, in two's complement.
  package mutating func write(_ value: Int8) {
    bytes.append(UInt8(bitPattern: value))
  }

  /// Appends two bytes, little-endian.
  @usableFromInline package mutating func write(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value))
    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
  }

  /// Appends four bytes, little-endian.
  package mutating func write(_ value: UInt32) {
    write(UInt16(truncatingIfNeeded: value))
    write(UInt16(truncatingIfNeeded: value >> 16))
  }

  /// Appends eight bytes, little-endian.
  package mutating func write(_ value: UInt64) {
    write(UInt32(truncatingIfNeeded: value))
    write(UInt32(truncatingIfNeeded: value >> 32))
  }

  /// Appends two bytes, big-endian.
  package mutating func writeBigEndian(_ value: UInt16) {
    write(value.byteSwapped)
  }

  /// Appends four bytes, big-endian.
  package mutating func writeBigEndian(_ value: UInt32) {
    write(value.byteSwapped)
  }

  /// The low three bytes, little-endian.
  package mutating func writeUInt24(_ value: UInt32) {
    write(UInt16(truncatingIfNeeded: value))
    write(UInt8(truncatingIfNeeded: value >> 16))
  }

  /// Appends bytes.
  package mutating func write(_ more: some Sequence<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// Appends bytes.
  package mutating func write(_ more: RawSpan) {
    more.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Writes zeros up to a length of `count` bytes.
  package mutating func pad(to count: Int) {
    while bytes.count < count { bytes.append(0) }
  }

  /// Overwrites an integer already written at `offset`; ignored if out of bounds.
  package mutating func overwrite(at offset: Int, with value: UInt16) {
    guard offset >= 0, offset + 1 < bytes.count else { return }
    bytes[offset] = UInt8(truncatingIfNeeded: value)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }

  /// Overwrites a byte already written at `offset`; ignored if out of bounds.
  package mutating func overwrite(at offset: Int, with value: UInt8) {
    guard bytes.indices.contains(offset) else { return }
    bytes[offset] = value
  }
}
