import HaloBluetoothCore

/// The 16-byte message of host and ring: a command, 14 bytes of payload padded with zeros, and the sum of the first 15
/// bytes modulo 256 (ring reference, 2).
///
/// A frame is stored in two registers: receiving one does not allocate.
package struct RingFrame: Hashable, Sendable, TextWritable {
  /// In bytes.
  package static let length = 16
  /// In bytes: a frame without its command and checksum.
  package static let payloadLength = 14

  /// Bytes 0 to 7, byte 0 in the least significant place.
  private var low: UInt64
  /// Bytes 8 to 15, byte 8 in the least significant place.
  private var high: UInt64

  /// Reads a frame and checks it.
  package init(parsing bytes: RawSpan) throws(RingFrameError) {
    guard bytes.byteCount == Self.length else { throw .length(bytes.byteCount) }
    low = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self))
    high = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let checksum = sum
    guard byte(at: 15) == checksum else { throw .checksum(expected: checksum, found: byte(at: 15)) }
  }

  /// A frame with up to three bytes of payload; most requests need no more.
  package init(_ command: RingCommand, _ first: UInt8 = 0, _ second: UInt8 = 0, _ third: UInt8 = 0) {
    self.init(command) { frame in
      frame.store(first, at: 1)
      frame.store(second, at: 2)
      frame.store(third, at: 3)
    }
  }

  /// A frame with `payload`, padded with zeros.
  package init(_ command: RingCommand, payload: some Collection<UInt8>) throws(RingFrameError) {
    guard payload.count <= Self.payloadLength else { throw .payloadTooLong(payload.count) }
    self.init(command) { frame in
      var index = 1
      for byte in payload {
        frame.store(byte, at: index)
        index += 1
      }
    }
  }

  /// A frame from bytes of the user: a command and its payload, to which zeros and the checksum are added; or a whole frame,
  /// whose checksum is verified.
  package init(completing bytes: [UInt8]) throws(RingFrameError) {
    if let command = bytes.first, bytes.count < Self.length {
      try self.init(RingCommand(rawValue: command), payload: bytes.dropFirst())
    } else {
      try self.init(parsing: bytes.span.bytes)
    }
  }

  /// A frame whose payload `fill` stores; the checksum is appended.
  init(_ command: RingCommand, fill: (inout RingFrame) -> Void) {
    low = UInt64(command.rawValue)
    high = 0
    fill(&self)
    store(sum, at: 15)
  }

  package var command: RingCommand { RingCommand(rawValue: byte(at: 0)) }

  /// The byte at `index`, counted from the command; 0 outside the frame.
  @inline(__always)
  package func byte(at index: Int) -> UInt8 {
    guard index >= 0, index < Self.length else { return 0 }
    return UInt8(truncatingIfNeeded: (index < 8 ? low : high) &>> UInt64((index & 7) * 8))
  }

  /// The big-endian integer that starts at `index`: the raw stream is big-endian, unlike most of the rest.
  @inline(__always)
  package func uint16BigEndian(at index: Int) -> UInt16 {
    UInt16(byte(at: index)) << 8 | UInt16(byte(at: index + 1))
  }

  /// All 16 bytes.
  package var bytes: [UInt8] { (0..<Self.length).map(byte(at:)) }

  package func write(into writer: inout ByteWriter) {
    writer.write(low)
    writer.write(high)
  }

  /// The sum of all bytes but the last.
  private var sum: UInt8 {
    var sum: UInt8 = 0
    for index in 0..<Self.length - 1 { sum &+= byte(at: index) }
    return sum
  }

  /// Puts `byte` where a zero is.
  @inline(__always)
  mutating func store(_ byte: UInt8, at index: Int) {
    let bits = UInt64(byte) &<< UInt64((index & 7) * 8)
    if index < 8 { low |= bits } else { high |= bits }
  }

  /// Puts `bytes` where zeros are; bytes beyond the payload are omitted.
  mutating func store(_ bytes: some Sequence<UInt8>, at index: Int) {
    for (place, byte) in zip(index..<Self.length - 1, bytes) { store(byte, at: place) }
  }

  /// The bytes as hexadecimal digits.
  package func write(to text: inout TextBuffer) {
    withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { bytes in
      text.writeSpacedHex(RawSpan(_unsafeBytes: bytes))
    }
  }
}

/// The command of a frame: its first byte. ``CommandTable`` describes each.
package struct RingCommand: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
{
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Raw sensor stream. Its top bit is part of the number and no sign of an error.
  package static let rawStream: RingCommand = 0xA1
  /// Only ever sent by the ring: something happened.
  package static let notification: RingCommand = 0x73

  package init(integerLiteral value: UInt8) {
    self.init(rawValue: value)
  }

  /// The name in the command table; `touch, gesture or touch-sleep` where a few share the byte, and `command 0x02` where
  /// more do.
  package var description: String {
    if self == .notification { return "notification" }
    let names = CommandTable.entries(for: .frame(self)).map(\.name)
    guard let last = names.last, names.count <= 3 else { return "command \(Hex.string(rawValue))" }
    return names.count == 1 ? last : names.dropLast().joined(separator: ", ") + " or " + last
  }
}

/// Why bytes are not a frame, or a frame is not the expected answer.
package enum RingFrameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A frame has 16 bytes, these are another number.
  case length(Int)
  /// The last byte is not the sum of those before it.
  case checksum(expected: UInt8, found: UInt8)
  /// A payload that was to be sent has more than 14 bytes.
  case payloadTooLong(Int)
  /// The frame has another subject.
  case unexpected(RingCommand)
  /// A field holds an impossible value.
  case value(String)

  package var description: String {
    switch self {
    case .length(let count): "a frame has 16 bytes, not \(count)"
    case .checksum(let expected, let found):
      "the checksum is \(Hex.string(found)) and should be \(Hex.string(expected))"
    case .payloadTooLong(let count): "a frame takes 14 bytes of payload, not \(count)"
    case .unexpected(let command): "the frame is about something else: \(command)"
    case .value(let what): what
    }
  }
}

/// Why a ring refuses a command (ring reference, 2).
package struct RingErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The form that firmware uses for a request it could not make sense of.
  package static let malformed = RingErrorCode(rawValue: 0)
  package static let notSupported = RingErrorCode(rawValue: 0xEE)

  package var description: String {
    switch self {
    case .malformed: "malformed request"
    case .notSupported: "not supported by this ring"
    default: "ring error \(Hex.string(rawValue))"
    }
  }
}
