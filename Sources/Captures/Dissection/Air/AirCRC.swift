import HaloBluetoothCore

/// The CRC of packets on the air: 24 bits, over the PDU with its header (Core Specification Vol 6, Part B, 3.1.1).
enum AirCRC {
  /// In bytes.
  static let length = 3
  /// The initial value on the advertising channels, except of periodic advertising.
  static let advertising: UInt32 = 0x555555

  /// The remainders of a byte. The register is kept with its position 23 as the lowest bit, as bits are sent from there,
  /// so that the polynomial x^24 + x^10 + x^9 + x^6 + x^4 + x^3 + x + 1 has its powers in reverse order.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xDA6000 }
  }

  /// The CRC as it follows the PDU, with its first byte as the lowest.
  ///
  /// - Parameters:
  ///   - pdu: with its header, without the CRC
  ///   - initial: the initial value, as a number: CRCInit of the connection
  static func value(of pdu: RawSpan, initial: UInt32) -> UInt32 {
    var state = reversed(initial)
    for index in 0..<pdu.byteCount {
      guard let byte = pdu.byte(at: index) else { break }
      state = state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)]
    }
    return state
  }

  /// The lowest 24 bits in reverse order.
  private static func reversed(_ value: UInt32) -> UInt32 {
    var (value, result) = (value, UInt32(0))
    for _ in 0..<24 {
      result = result << 1 | value & 1
      value >>= 1
    }
    return result
  }
}
