/// A cursor over borrowed bytes. Every read is bounds-checked and throws if bytes are missing. Multi-byte integers are
/// little-endian, as everywhere in Bluetooth, unless the name says otherwise.
///
/// Packet types decode themselves with `init(parsing: inout ByteReader) throws(DecodeError)`.
@usableFromInline package struct ByteReader: ~Escapable {
  /// All bytes, including those already read.
  @usableFromInline package let bytes: RawSpan
  /// Index of the next byte to read.
  @inlinable package var offset: Int { position }
  @usableFromInline var position = 0

  /// Begins at the first byte.
  @_lifetime(copy bytes)
  @inlinable
  package init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// The number of unread bytes.
  @inlinable package var remaining: Int { bytes.byteCount - position }

  @inlinable package var isAtEnd: Bool { remaining == 0 }

  /// Advances by `count` bytes and returns the offset of the first of them.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func take(_ count: Int) throws(DecodeError) -> Int {
    guard count >= 0, remaining >= count else { throw truncated(count) }
    defer { position += count }
    return position
  }

  /// Not inlined, as it is the exception.
  @usableFromInline @inline(never)
  func truncated(_ count: Int) -> DecodeError {
    DecodeError(offset: position, reason: .truncated(needed: count, available: remaining))
  }

  /// The next byte.
  @inlinable @inline(__always)
  package mutating func readUInt8() throws(DecodeError) -> UInt8 {
    try readInteger(UInt8.self)
  }

  /// The next byte, in two's complement.
  @inlinable @inline(__always)
  package mutating func readInt8() throws(DecodeError) -> Int8 {
    try readInteger(Int8.self)
  }

  /// Two bytes, little-endian.
  @inlinable @inline(__always)
  package mutating func readUInt16() throws(DecodeError) -> UInt16 {
    try readInteger(UInt16.self)
  }

  /// Four bytes, little-endian.
  @inlinable @inline(__always)
  package mutating func readUInt32() throws(DecodeError) -> UInt32 {
    try readInteger(UInt32.self)
  }

  /// Eight bytes, little-endian.
  @inlinable @inline(__always)
  package mutating func readUInt64() throws(DecodeError) -> UInt64 {
    try readInteger(UInt64.self)
  }

  /// Two bytes, big-endian.
  @inlinable @inline(__always)
  package mutating func readUInt16BigEndian() throws(DecodeError) -> UInt16 {
    try readUInt16().byteSwapped
  }

  /// Three bytes, little-endian.
  package mutating func readUInt24() throws(DecodeError) -> UInt32 {
    let start = try take(3)
    return UInt32(byte(start)) | UInt32(byte(start + 1)) << 8 | UInt32(byte(start + 2)) << 16
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func readInteger<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws(DecodeError) -> T {
    let start = try take(MemoryLayout<T>.size)
    return T(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: T.self))
  }

  /// The byte at an index that has been checked.
  private func byte(_ index: Int) -> UInt8 {
    bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  /// The next `count` bytes, as a span.
  @inlinable
  @_lifetime(copy self)
  package mutating func readSpan(_ count: Int) throws(DecodeError) -> RawSpan {
    let start = try take(count)
    return bytes.extracting(start..<start + count)
  }

  /// All remaining bytes, as a span.
  @_lifetime(copy self)
  package mutating func readRest() -> RawSpan {
    let start = position
    position = bytes.byteCount
    return bytes.extracting(start..<bytes.byteCount)
  }

  /// The next `count` bytes, copied.
  @_lifetime(self: copy self)
  @usableFromInline package mutating func readBytes(_ count: Int) throws(DecodeError) -> [UInt8] {
    Array(try readSpan(count))
  }

  /// All remaining bytes, copied.
  @usableFromInline package mutating func readRemainingBytes() -> [UInt8] {
    Array(readRest())
  }

  /// Advances by `count` bytes.
  @inlinable
  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(DecodeError) {
    _ = try take(count)
  }

  /// The next byte, without advancing; nil at the end.
  package func peek() -> UInt8? {
    isAtEnd ? nil : byte(offset)
  }

  /// Throws if bytes remain.
  package func expectEnd() throws(DecodeError) {
    guard isAtEnd else { throw DecodeError(offset: offset, reason: .trailing(count: remaining)) }
  }

  /// An error for the field that ends here.
  @usableFromInline package func invalid(_ what: String) -> DecodeError {
    DecodeError(offset: offset, reason: .invalid(what))
  }
}

extension RawSpan {
  /// The byte at `index`; nil if out of bounds.
  @inlinable @inline(__always)
  package func byte(at index: Int) -> UInt8? {
    index >= 0 && index < byteCount ? unsafeLoad(fromByteOffset: index, as: UInt8.self) : nil
  }

  package func elementsEqual(_ other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    var index = 0
    while index + 8 <= byteCount {
      let (left, right) = (
        unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self),
        other.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      )
      guard left == right else { return false }
      index += 8
    }
    while index < byteCount {
      guard byte(at: index) == other.byte(at: index) else { return false }
      index += 1
    }
    return true
  }
}

extension Array where Element == UInt8 {
  /// A copy of the bytes of a span.
  @inlinable
  package init(_ bytes: RawSpan) {
    self = bytes.withUnsafeBytes { Array($0) }
  }

  /// Runs `body` with a reader over these bytes.
  package func withReader<Result, Failure: Error>(
    _ body: (inout ByteReader) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var reader = ByteReader(span.bytes)
    return try body(&reader)
  }
}

/// Invalid input: the offset and the reason.
public struct DecodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why the bytes can't be decoded.
  public enum Reason: Hashable, Sendable {
    /// A field needs `needed` bytes, but only `available` remain.
    case truncated(needed: Int, available: Int)
    /// A field has a value that the specification does not allow.
    case invalid(String)
    /// Bytes follow the last field.
    case trailing(count: Int)
  }

  /// Offset of the field from the start of the decoded bytes.
  public var offset: Int
  /// Why the field can't be decoded.
  public var reason: Reason

  public init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }

  public var description: String {
    switch reason {
    case .truncated(let needed, let available):
      "cut off at byte \(offset): \(needed) bytes needed, \(available) left"
    case .invalid(let what):
      "byte \(offset): \(what)"
    case .trailing(let count):
      "\(count) bytes left over at byte \(offset)"
    }
  }
}
