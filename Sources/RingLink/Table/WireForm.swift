import BluetoothCore

/// How a field lies in a frame.
public enum WireForm: Hashable, Sendable {
  case uint8
  case uint16LittleEndian
  case uint16BigEndian
  case uint24LittleEndian
  case uint24BigEndian
  case uint32LittleEndian
  case uint32BigEndian
  /// Two decimal digits, one in each half of a byte. A half above 9 makes the byte 0, as ring firmware reads it.
  case bcd
  /// A byte that is `on` for yes; whatever else it is means no, and `off` is what is written for it.
  case flag(on: UInt8, off: UInt8)
  /// A bit of a byte, 0 the least significant.
  case bit(UInt8)
  /// Bytes in a row that are no number.
  case bytes(UInt8)

  /// In bytes.
  public var width: Int {
    switch self {
    case .uint8, .bcd, .flag, .bit: 1
    case .uint16LittleEndian, .uint16BigEndian: 2
    case .uint24LittleEndian, .uint24BigEndian: 3
    case .uint32LittleEndian, .uint32BigEndian: 4
    case .bytes(let count): Int(count)
    }
  }

  /// What it can hold.
  public var numbers: ClosedRange<Int> {
    switch self {
    case .flag, .bit: 0...1
    case .bcd: 0...99
    case .bytes: 0...0
    default: 0...(1 << (width * 8)) - 1
    }
  }

  private var isBigEndian: Bool {
    switch self {
    case .uint16BigEndian, .uint24BigEndian, .uint32BigEndian: true
    default: false
    }
  }

  /// The number at `offset`; a flag or a bit is 0 or 1. Bytes beyond the frame are 0.
  public func read(_ frame: RingFrame, at offset: Int) -> Int {
    let byte = frame.byte(at: offset)
    switch self {
    case .bcd: return byte >> 4 > 9 || byte & 15 > 9 ? 0 : Int(byte >> 4) * 10 + Int(byte & 15)
    case .flag(let on, _): return byte == on ? 1 : 0
    case .bit(let bit): return Int(byte >> (bit & 7)) & 1
    case .bytes: return 0
    default:
      let bytes = (0..<width).map { Int(frame.byte(at: offset + $0)) }
      return (isBigEndian ? bytes : bytes.reversed()).reduce(0) { $0 << 8 | $1 }
    }
  }

  /// Puts a number where zeros are; what does not fit is cut to what does.
  func write(_ value: Int, into frame: inout RingFrame, at offset: Int) {
    switch self {
    case .bcd:
      let value = Swift.min(Swift.max(value, 0), 99)
      frame.store(UInt8((value / 10) << 4 | value % 10), at: offset)
    case .flag(let on, let off): frame.store(value != 0 ? on : off, at: offset)
    case .bit(let bit): frame.store(value != 0 ? 1 << (bit & 7) : 0, at: offset)
    case .bytes: break
    default:
      let most = (1 << (width * 8)) - 1
      let value = Swift.min(Swift.max(value, 0), most)
      for index in 0..<width {
        let place = isBigEndian ? width - 1 - index : index
        frame.store(UInt8(truncatingIfNeeded: value >> (place * 8)), at: offset + index)
      }
    }
  }
}

extension WireForm: CustomStringConvertible {
  public var description: String {
    switch self {
    case .uint8: "u8"
    case .uint16LittleEndian: "u16 LE"
    case .uint16BigEndian: "u16 BE"
    case .uint24LittleEndian: "u24 LE"
    case .uint24BigEndian: "u24 BE"
    case .uint32LittleEndian: "u32 LE"
    case .uint32BigEndian: "u32 BE"
    case .bcd: "BCD"
    case .flag(let on, let off): "\(on) yes, \(off) no"
    case .bit(let bit): "bit \(bit)"
    case .bytes(let count): "\(count) bytes"
    }
  }
}
