import Glibc
import HaloBluetoothCore
import HaloStorage
import HaloSystem

/// Collects the pieces of a line, and lines, and passes them whole to an ``OutputQueue`` or a ``RecordSink``. Nothing is
/// allocated for numbers and fixed text, once the buffer has grown to the size of the collected text.
@usableFromInline package struct LineWriter: ~Copyable {
  /// The collected text.
  @usableFromInline package var text: TextBuffer
  /// Nil if there is a sink.
  private let queue: OutputQueue?
  private let sink: (any RecordSink)?
  /// Where each complete line of the text ends.
  private var ends: [Int] = []
  /// Whether the first of these lines reports ``droppedLines``.
  private var reportsDrops = false
  /// The number of lines dropped, because they were not read in time, since the last report of it in the output.
  package private(set) var droppedLines = 0
  /// The number of all lines that were dropped, without those that report others.
  package private(set) var allDroppedLines = 0

  package init(_ queue: OutputQueue = .standardOutput) {
    self.queue = queue
    sink = nil
    text = TextBuffer(capacity: 4096)
  }

  /// Passes everything to `sink`, which drops nothing.
  package init(to sink: any RecordSink) {
    queue = nil
    self.sink = sink
    text = TextBuffer(capacity: 4096)
  }

  /// Whether earlier lines are not written yet, because the reader is slow.
  package var isDelayed: Bool { queue.map { $0.waitingBytes > 0 } ?? false }

  /// Whether the output is a terminal, which obeys control characters.
  var isTerminal: Bool { queue === OutputQueue.standardOutput && isatty(STDOUT_FILENO) == 1 }

  /// Why writing has ended.
  @usableFromInline package var failure: OutputQueue.Failure? { queue?.failure }

  /// Ends a line, which leaves with the next ``flush()``, together with those before and after it.
  package mutating func endLine() { ends.append(text.count) }

  /// Ends a line that reports ``droppedLines``, before others are collected. If it is dropped too, their number is kept.
  package mutating func endDropCount() {
    reportsDrops = ends.isEmpty
    endLine()
  }

  /// Passes on the collected lines. A line is dropped or passed on in one piece.
  ///
  /// - Returns: the number of lines that were dropped, without a line that reports others
  @discardableResult
  @usableFromInline package mutating func flush() -> Int {
    if text.count > ends.last ?? 0 { endLine() }
    guard !ends.isEmpty else { return 0 }
    let accepted = queue?.write(text.span, ends: ends.span) ?? passToSink()
    var dropped = ends.count - accepted
    if reportsDrops {
      if accepted > 0 { droppedLines = 0 } else { dropped -= 1 }
    }
    droppedLines += dropped
    allDroppedLines += dropped
    reportsDrops = false
    text.removeAll()
    ends.removeAll(keepingCapacity: true)
    return dropped
  }

  /// The same for the end of the output, where no later record could report dropped lines: it is kept, however little is read.
  mutating func flushEnd() {
    let policy = queue?.overflow
    queue?.overflow = .keep
    flush()
    if let policy { queue?.overflow = policy }
  }

  @inline(never)
  private func passToSink() -> Int {
    sink?.take(text.span, ends: ends.span)
    return ends.count
  }

  /// The number of collected bytes.
  @usableFromInline package var pending: Int { text.count }

  // MARK: Pieces of a line

  @inlinable @inline(__always)
  package mutating func write(_ text: StaticString) { self.text.write(text) }

  @_disfavoredOverload
  @usableFromInline package mutating func write(_ text: String) { self.text.write(text) }

  package mutating func write(_ value: some TextWritable) { text.write(value) }

  package mutating func write(_ value: Int) { text.write(value) }

  /// Writes a number with spaces before it, up to `width`.
  @usableFromInline package mutating func write(_ value: Int, width: Int) { text.write(value, width: width) }

  /// Writes `count` spaces; none if it is negative.
  package mutating func space(_ count: Int) { text.space(count) }

  /// Writes spaces until the line has `width` bytes.
  package mutating func pad(to width: Int) { text.space(width - (text.count - (ends.last ?? 0))) }

  /// Writes a number of nanoseconds as seconds with six decimals, truncated.
  package mutating func writeSeconds(_ nanoseconds: Int64) {
    if nanoseconds < 0 { text.write(ascii: UInt8(ascii: "-")) }
    text.write(Int64(nanoseconds.magnitude / 1000), places: 6)
  }

  /// Writes a number with four decimals.
  package mutating func write(_ value: Double) {
    guard value.magnitude < 1e12 else { return write("0") }
    let scaled = (value.magnitude * 10000).rounded()
    if value < 0, scaled > 0 { text.write(ascii: UInt8(ascii: "-")) }
    text.write(Int64(scaled), places: 4)
  }

  /// Writes bytes as hexadecimal digits.
  package mutating func writeHex(_ bytes: RawSpan) { text.writeHex(bytes) }

  /// Writes text in quotes, with the escapes of JSON.
  package mutating func writeQuoted(_ text: String) {
    write("\"")
    writeEscaped(text)
    write("\"")
  }

  /// The same for UTF-8.
  package mutating func writeQuoted(_ text: RawSpan) {
    write("\"")
    text.withUnsafeBytes { writeEscaped($0) }
    write("\"")
  }

  /// The same without the quotes.
  package mutating func writeEscaped(_ text: String) {
    var text = text
    text.withUTF8 { writeEscaped(UnsafeRawBufferPointer($0)) }
  }

  /// Whether one of eight bytes is a control character, a quote or a backslash. All are looked at together: a bit that
  /// a subtraction sets at the top of a byte, where it was not, is that of a smaller one.
  private static func needsEscape(_ bytes: UInt64) -> Bool {
    func hasByte(below limit: UInt64, in bytes: UInt64) -> Bool {
      (bytes &- limit &* 0x0101_0101_0101_0101) & ~bytes & 0x8080_8080_8080_8080 != 0
    }
    func has(_ character: Unicode.Scalar) -> Bool {
      hasByte(below: 1, in: bytes ^ (UInt64(character.value) &* 0x0101_0101_0101_0101))
    }
    return hasByte(below: 0x20, in: bytes) || has("\"") || has("\\")
  }

  private mutating func writeEscaped(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    var isPlain = true
    while isPlain, index + 8 <= bytes.count {
      isPlain = !Self.needsEscape(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    while isPlain, index < bytes.count {
      let byte = bytes[index]
      isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      index += 1
    }
    if isPlain { return text.write(bytes) }
    write(String(JSONValue.quoted(String(decoding: bytes, as: UTF8.self)).dropFirst().dropLast()))
  }
}
