/// UTF-8 text that is written piece by piece into one buffer, which is used again for the next line: nothing is
/// allocated for names, numbers and digits once the buffer has grown to the size of a line.
///
///     text.write(handle)
///     text.write(": ")
///     text.writeHex(value)
///
/// It can't be copied, so that its memory has one owner: an array would look at its reference count at each write, which
/// was 6 % of the instructions of a line of `decode`.
@usableFromInline package struct TextBuffer: ~Copyable, @unchecked Sendable {
  @usableFromInline var memory: UnsafeMutablePointer<UInt8>
  @usableFromInline var capacity: Int
  /// In bytes.
  @usableFromInline package internal(set) var count: Int {
    @inlinable get { end }
    @inlinable set { end = newValue }
  }
  @usableFromInline var end = 0

  /// - Parameter capacity: the size that it has at first, in bytes; it grows
  package init(capacity: Int = 256) {
    self.capacity = max(0, capacity)
    memory = .allocate(capacity: self.capacity)
  }

  deinit { memory.deallocate() }

  /// Removes the text, and keeps the memory.
  @inlinable
  package mutating func removeAll() { end = 0 }

  /// Removes everything behind the first `count` bytes.
  package mutating func truncate(to count: Int) { end = min(end, max(0, count)) }

  /// The text as bytes.
  @usableFromInline package var span: RawSpan {
    @_lifetime(borrow self)
    get { _overrideLifetime(RawSpan(_unsafeStart: memory, byteCount: end), borrowing: self) }
  }

  /// A part of the text; the text outside the range is left out.
  package func string(_ range: Range<Int>) -> String {
    let range = range.clamped(to: 0..<end)
    return String(
      decoding: UnsafeBufferPointer(start: memory + range.lowerBound, count: range.count), as: UTF8.self)
  }

  /// The text.
  package var string: String { string(0..<end) }

  /// The text that `body` writes.
  package static func string(capacity: Int = 64, _ body: (inout TextBuffer) -> Void) -> String {
    var text = TextBuffer(capacity: capacity)
    body(&text)
    return text.string
  }

  @inline(never)
  @usableFromInline
  mutating func grow(by length: Int) {
    let larger = max(end + length, 2 * capacity, 64)
    let room = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    room.moveInitialize(from: memory, count: end)
    memory.deallocate()
    (memory, capacity) = (room, larger)
  }

  /// Calls `body` with room for `length` bytes; it returns how many it has written.
  @inlinable @inline(__always)
  mutating func withRoom(_ length: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
    if capacity &- end < length { grow(by: length) }
    end &+= body(memory + end)
  }

  /// Inlined, as the text and its length are constants for the caller: lines are made of many such pieces.
  @inlinable @inline(__always)
  package mutating func write(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    withRoom(length) { room in
      room.update(from: text.utf8Start, count: length)
      return length
    }
  }

  @_disfavoredOverload
  @usableFromInline package mutating func write(_ text: String) {
    let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { write(UnsafeRawBufferPointer($0)) }
    guard isWritten == nil else { return }
    // A string that is not in one piece.
    for byte in text.utf8 { write(ascii: byte) }
  }

  /// Writes UTF-8.
  package mutating func write(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { write($0) }
  }

  /// Writes UTF-8.
  @inlinable
  package mutating func write(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    withRoom(bytes.count) { room in
      UnsafeMutableRawPointer(room).copyMemory(from: source, byteCount: bytes.count)
      return bytes.count
    }
  }

  /// Writes a part of this text again, at the end.
  package mutating func repeatText(_ range: Range<Int>) {
    let range = range.clamped(to: 0..<end)
    let start = end
    withRoom(range.count) { room in
      (room - (start - range.lowerBound)).withMemoryRebound(to: UInt8.self, capacity: range.count) {
        room.update(from: $0, count: range.count)
      }
      return range.count
    }
  }

  /// Writes one ASCII character.
  @inlinable @inline(__always)
  package mutating func write(ascii character: UInt8) {
    withRoom(1) { room in
      room.pointee = character
      return 1
    }
  }

  /// Writes `count` spaces; none if it is negative.
  @inlinable
  package mutating func space(_ count: Int) {
    guard count > 0 else { return }
    withRoom(count) { room in
      room.update(repeating: 0x20, count: count)
      return count
    }
  }

  @inlinable
  package mutating func write(_ value: some TextWritable) { value.write(to: &self) }

  /// Writes untrusted text as `String(printable:)` does.
  package mutating func writePrintable(_ bytes: RawSpan) {
    var isPlain = bytes.byteCount == 0 || bytes.byte(at: bytes.byteCount - 1) != 0
    for index in 0..<bytes.byteCount where isPlain {
      guard let byte = bytes.byte(at: index) else { break }
      isPlain = byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\\")
    }
    if isPlain { write(bytes) } else { write(String(printable: Array(bytes))) }
  }

  /// Writes a whole number.
  @inlinable
  package mutating func write(_ value: Int) {
    if value < 0 { write(ascii: UInt8(ascii: "-")) }
    write(magnitude: UInt64(value.magnitude), digits: 1)
  }

  /// Writes a number with spaces before it, up to `width`.
  package mutating func write(_ value: Int, width: Int) {
    let digits = Self.countDigits(of: UInt64(value.magnitude))
    space(width - digits - (value < 0 ? 1 : 0))
    if value < 0 { write(ascii: UInt8(ascii: "-")) }
    writeDigits(of: UInt64(value.magnitude), count: digits)
  }

  /// Writes a number with leading zeros up to `digits`.
  @usableFromInline package mutating func write(magnitude: UInt64, digits: Int) {
    if magnitude < 10, digits <= 1 { return write(ascii: UInt8(ascii: "0") + UInt8(magnitude)) }
    writeDigits(of: magnitude, count: max(Self.countDigits(of: magnitude), digits))
  }

  /// Two digits a division: a third of the instructions of one digit a division, which counted for a fifth of a line of
  /// numbers.
  ///
  /// - Parameter length: at least the number of digits
  private mutating func writeDigits(of magnitude: UInt64, count length: Int) {
    let pairs = Self.pairs
    withRoom(length) { start in
      var place = length
      var rest = magnitude
      while place > 1 {
        let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
        rest = quotient
        place -= 2
        start[place] = pairs.utf8Start[2 * Int(pair)]
        start[place + 1] = pairs.utf8Start[2 * Int(pair) + 1]
      }
      if place > 0 { start[0] = UInt8(ascii: "0") + UInt8(rest) }
      return length
    }
  }

  /// The digits of the numbers below 100.
  private static var pairs: StaticString {
    """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
  }

  /// The number of decimal digits.
  @inline(__always)
  private static func countDigits(of number: UInt64) -> Int {
    var length = 1
    var rest = number
    while rest >= 10_000 {
      rest /= 10_000
      length += 4
    }
    return length + (rest >= 10 ? 1 : 0) + (rest >= 100 ? 1 : 0) + (rest >= 1000 ? 1 : 0)
  }

  /// Writes a number in units of 10^-places: `3650` with 2 places is `36.50`.
  package mutating func write(_ number: Int64, places: Int) {
    if number < 0 { write(ascii: UInt8(ascii: "-")) }
    var unit: UInt64 = 1
    for _ in 0..<places { unit &*= 10 }
    let (whole, fraction) = number.magnitude.quotientAndRemainder(dividingBy: max(1, unit))
    write(magnitude: whole, digits: 1)
    write(ascii: UInt8(ascii: "."))
    if places > 0 { write(magnitude: fraction, digits: places) }
  }

  /// Writes bytes as hexadecimal digits: `a104`.
  package mutating func writeHex(_ bytes: RawSpan) {
    withRoom(2 * bytes.byteCount) { room in
      bytes.withUnsafeBytes { bytes in
        let room = UnsafeMutableRawPointer(room)
        var index = 0
        while index + 16 <= bytes.count {
          let block = bytes.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
          room.storeBytes(of: Self.digits(of: block), toByteOffset: 2 * index, as: SIMD32<UInt8>.self)
          index += 16
        }
        Hex.pairs.withUnsafeBufferPointer { pairs in
          while index < bytes.count {
            room.storeBytes(of: pairs[Int(bytes[index])], toByteOffset: 2 * index, as: UInt16.self)
            index += 1
          }
        }
      }
      return 2 * bytes.byteCount
    }
  }

  /// The digits of 16 bytes.
  private static func digits(of bytes: SIMD16<UInt8>) -> SIMD32<UInt8> {
    func ascii(_ nibbles: SIMD16<UInt8>) -> SIMD16<UInt8> {
      // All bits where a nibble is above 9: letters come later than the digits.
      let isLetter = SIMD16<UInt8>() &- ((nibbles &+ 6) &>> 4)
      return nibbles &+ UInt8(ascii: "0") &+ (isLetter & (UInt8(ascii: "a") - 10 - UInt8(ascii: "0")))
    }
    var digits = SIMD32<UInt8>()
    digits.evenHalf = ascii(bytes &>> 4)
    digits.oddHalf = ascii(bytes & 15)
    return digits
  }

  /// Writes bytes as hexadecimal digits with spaces between them: `a1 04`.
  package mutating func writeSpacedHex(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    withRoom(3 * bytes.byteCount) { room in
      bytes.withUnsafeBytes { bytes in
        Hex.pairs.withUnsafeBufferPointer { pairs in
          let room = UnsafeMutableRawPointer(room)
          for index in 0..<bytes.count {
            room.storeBytes(of: pairs[Int(bytes[index])], toByteOffset: 3 * index, as: UInt16.self)
            room.storeBytes(of: 0x20, toByteOffset: 3 * index + 2, as: UInt8.self)
          }
        }
      }
      return 3 * bytes.byteCount - 1
    }
  }

  /// Writes an integer with all its leading zeros: `0x0012`.
  @inlinable
  package mutating func writeHex(_ value: some FixedWidthInteger & UnsignedInteger) {
    writeHex(UInt64(value), bytes: value.bitWidth / 8)
  }

  /// Writes the low `bytes` bytes of an integer, with all leading zeros: `0x000012`.
  @usableFromInline package mutating func writeHex(_ value: UInt64, bytes: Int) {
    write("0x")
    withRoom(2 * bytes) { room in
      Hex.pairs.withUnsafeBufferPointer { pairs in
        let room = UnsafeMutableRawPointer(room)
        for index in 0..<bytes {
          let byte = Int(truncatingIfNeeded: value >> UInt64((bytes - 1 - index) * 8)) & 0xFF
          room.storeBytes(of: pairs[byte], toByteOffset: 2 * index, as: UInt16.self)
        }
      }
      return 2 * bytes
    }
  }

  /// Writes name and number of a code, `Success (0x00)`; or, for a code without a name, `unnamed` and the number.
  package mutating func write(
    name: String?, _ number: some FixedWidthInteger & UnsignedInteger, unnamed: StaticString
  ) {
    guard let name else {
      write(unnamed)
      return writeHex(number)
    }
    write(name)
    write(" (")
    writeHex(number)
    write(")")
  }
}

// MARK: Text

// MARK: Numbers

// MARK: Hexadecimal digits

/// A value whose text is written into a buffer, without a string of its own. ``TextBuffer`` calls `write(to:)`; `description`
/// is the same text as a string.
@usableFromInline package protocol TextWritable: CustomStringConvertible {
  func write(to text: inout TextBuffer)
}

extension TextWritable {
  @usableFromInline package var description: String { TextBuffer.string { $0.write(self) } }
}
