import BluetoothCore
import EventLoop
import Glibc

/// Writes lines to standard output. A line goes out whole and at once. Nothing is allocated for numbers and fixed
/// text, once the buffer has grown to the size of a line.
public struct LineWriter {
  /// Why nothing is written any more.
  public enum Trouble: Equatable {
    /// Whoever read the output has gone: `| head`. Nobody needs to be told.
    case readerGone
    case failed(SystemError)
  }

  public private(set) var trouble: Trouble?
  private var buffer: [UInt8] = []
  private let descriptor: Int32

  public init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    buffer.reserveCapacity(4096)
  }

  /// Writes what has been collected, in one piece.
  public mutating func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard trouble == nil else { return }
    var offset = 0
    while offset < buffer.count {
      let count = buffer.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
      }
      if count > 0 {
        offset += count
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
      } else if errno != EINTR {
        trouble = errno == EPIPE ? .readerGone : .failed(.last("write"))
        // A full disk may have taken half a line; nobody could read it.
        let position = lseek(descriptor, 0, SEEK_CUR)
        if offset > 0, position >= offset { ftruncate(descriptor, position - off_t(offset)) }
        return
      }
    }
  }

  /// How many bytes have been collected.
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

  /// Writes so many spaces; none if there are less than none.
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

  /// Writes a number of nanoseconds as seconds with six decimals; what is below a microsecond is cut off.
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

  /// Writes the digits of bytes.
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
