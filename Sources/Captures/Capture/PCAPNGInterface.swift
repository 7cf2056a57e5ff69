import HaloBluetoothCore

/// An interface of a section of a pcapng file.
struct PCAPNGInterface {
  let linkType: CaptureLinkType
  /// The maximum number of bytes captured of a packet; 0 for no limit.
  let snapLength: Int
  private var unit = TimeUnit.decimal(6)
  private var offsetSeconds: Int64 = 0

  /// The number of time units in a second: a power of 10, or of 2.
  private enum TimeUnit {
    case decimal(UInt8)
    case binary(UInt8)
  }

  /// - Parameter body: the body of an Interface Description Block; nil if it is too short
  init?(_ body: RawSpan, _ order: ByteOrder) {
    guard let linkType = body.uint16(at: 0, order), let snapLength = body.uint32(at: 4, order) else {
      return nil
    }
    self.linkType = CaptureLinkType(rawValue: linkType)
    self.snapLength = Int(snapLength)
    var options = PCAPNGOptions(body.extracting(8..<body.byteCount), order)
    while let option = options.next() {
      switch option.code {
      case 9:
        guard let value = option.value.byte(at: 0) else { continue }
        unit = value & 0x80 == 0 ? .decimal(value) : .binary(value & 0x7F)
      case 14: offsetSeconds = option.value.integer(at: 0, as: Int64.self, order) ?? 0
      default: break
      }
    }
  }

  /// The timestamp of a packet in microseconds since 1970, clamped to the range.
  func microseconds(_ time: UInt64) -> Int64 {
    let sinceOffset: UInt128
    switch unit {
    case .decimal(6): sinceOffset = UInt128(time)
    case .decimal(9): sinceOffset = UInt128(time / 1000)
    case .decimal(let digits): sinceOffset = Self.scale(time, digits)
    case .binary(let bits): sinceOffset = (UInt128(time) * 1_000_000) >> UInt128(bits)
    }
    guard offsetSeconds != 0 else { return Int64(clamping: sinceOffset) }
    return Int64(clamping: Int128(sinceOffset) + Int128(offsetSeconds) * 1_000_000)
  }

  /// A time in units of `10^-digits` seconds, in microseconds.
  private static func scale(_ time: UInt64, _ digits: UInt8) -> UInt128 {
    var time = UInt128(time)
    if digits <= 6 {
      for _ in digits..<6 { time *= 10 }
      return time
    }
    for _ in 6..<digits where time > 0 { time /= 10 }
    return time
  }
}

/// The options at the end of a block: a code and a length of two bytes each, followed by a value padded to four bytes.
struct PCAPNGOptions: ~Escapable {
  struct Option: ~Escapable {
    let code: UInt16
    let value: RawSpan

    @_lifetime(copy value)
    init(code: UInt16, value: RawSpan) {
      self.code = code
      self.value = value
    }
  }

  private let bytes: RawSpan
  private let order: ByteOrder
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ order: ByteOrder) {
    self.bytes = bytes
    self.order = order
  }

  /// The next option; nil after the last, or if one is incomplete.
  @_lifetime(copy self)
  mutating func next() -> Option? {
    guard let code = bytes.uint16(at: offset, order), code != 0,
      let length = bytes.uint16(at: offset + 2, order).map(Int.init), bytes.byteCount - offset - 4 >= length
    else { return nil }
    let start = offset + 4
    offset = start + (length + 3) / 4 * 4
    return Option(code: code, value: bytes.extracting(start..<start + length))
  }
}
