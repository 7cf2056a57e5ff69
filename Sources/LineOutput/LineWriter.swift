import BluetoothCore
import SystemCalls

/// Collects the pieces of a line and passes it whole to an ``OutputQueue``. Nothing is allocated for numbers and
/// fixed text, once the buffer has grown to the size of a line.
public struct LineWriter {
  private var buffer: [UInt8] = []
  private let queue: OutputQueue
  /// The number of lines dropped, because they were not read in time, since the last report of it in the output.
  public private(set) var droppedLines = 0

  public init(_ queue: OutputQueue = .standardOutput) {
    self.queue = queue
    buffer.reserveCapacity(4096)
  }

  /// Why writing has ended.
  public var failure: OutputQueue.Failure? { queue.failure }

  /// Passes on the collected line, in one piece.
  ///
  /// - Returns: false if it was dropped
  @discardableResult
  public mutating func flush() -> Bool {
    let isTaken = handOn()
    if !isTaken { droppedLines += 1 }
    return isTaken
  }

  /// The same for a line that reports the dropped ones before it. If it is dropped too, their number is kept.
  public mutating func flushDropCount() {
    if handOn() { droppedLines = 0 }
  }

  private mutating func handOn() -> Bool {
    defer { buffer.removeAll(keepingCapacity: true) }
    return buffer.withUnsafeBytes { queue.write($0) }
  }

  /// The number of collected bytes.
  public var pending: Int { buffer.count }

  // MARK: Pieces of a line

  public mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { buffer.append(contentsOf: $0) }
  }

  @_disfavoredOverload
  public mutating func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
  }

  public mutating func write(_ value: Int) {
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    write(magnitude: value.magnitude, digits: 1)
  }

  /// Writes a number with spaces before it, up to `width`.
  public mutating func write(_ value: Int, width: Int) {
    var digits = value < 0 ? 2 : 1
    var rest = value.magnitude
    while rest >= 10 {
      digits += 1
      rest /= 10
    }
    space(width - digits)
    write(value)
  }

  /// Writes `count` spaces; none if it is negative.
  public mutating func space(_ count: Int) {
    for _ in 0..<max(0, count) { buffer.append(UInt8(ascii: " ")) }
  }

  /// Writes spaces until the line has `width` bytes.
  public mutating func pad(to width: Int) {
    while buffer.count < width { buffer.append(UInt8(ascii: " ")) }
  }

  /// Writes a number with leading zeros up to `digits`.
  private mutating func write(magnitude: UInt, digits: Int) {
    var divisor: UInt = 1
    var places = 1
    while places < digits || magnitude / divisor >= 10 {
      divisor *= 10
      places += 1
    }
    while divisor > 0 {
      buffer.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Writes a number of nanoseconds as seconds with six decimals, truncated.
  public mutating func writeSeconds(_ nanoseconds: Int64) {
    if nanoseconds < 0 { buffer.append(UInt8(ascii: "-")) }
    let microseconds = UInt(nanoseconds.magnitude / 1000)
    write(magnitude: microseconds / 1_000_000, digits: 1)
    buffer.append(UInt8(ascii: "."))
    write(magnitude: microseconds % 1_000_000, digits: 6)
  }

  /// Writes a number with four decimals.
  public mutating func write(_ value: Double) {
    guard value.magnitude < 1e12 else { return write("0") }
    let scaled = (value.magnitude * 10000).rounded()
    if value < 0, scaled > 0 { buffer.append(UInt8(ascii: "-")) }
    let units = UInt(scaled)
    write(magnitude: units / 10000, digits: 1)
    buffer.append(UInt8(ascii: "."))
    write(magnitude: units % 10000, digits: 4)
  }

  /// Writes bytes as hexadecimal digits.
  public mutating func writeHex(_ bytes: RawSpan) {
    for index in 0..<bytes.byteCount {
      guard let byte = bytes.byte(at: index) else { return }
      writeHexDigit(byte >> 4)
      writeHexDigit(byte & 15)
    }
  }

  /// Writes text in quotes, with the escapes of JSON.
  public mutating func writeQuoted(_ text: String) {
    buffer.append(UInt8(ascii: "\""))
    writeEscaped(text)
    buffer.append(UInt8(ascii: "\""))
  }

  /// The same without the quotes.
  public mutating func writeEscaped(_ text: String) {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
      buffer.append(contentsOf: text.utf8)
    } else {
      buffer.append(contentsOf: Field.text(text).json.utf8.dropFirst().dropLast())
    }
  }

  private mutating func writeHexDigit(_ digit: UInt8) {
    buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
  }
}
