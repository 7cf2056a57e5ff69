/// The forms in which packets have a device address.
enum AddressForm: CaseIterable {
  /// Six bytes, as in HCI.
  case leastSignificantFirst
  /// Six bytes in the order of its text, as in the data of many manufacturers.
  case mostSignificantFirst
  /// Eight bytes with 0xFFFE in the middle: an EUI-64, as in a System ID (Device Information Service, 3.9).
  case extendedIdentifier
  /// `C0:11:22:33:A1:B2`, in capital or small letters, with any character between.
  case text
  /// `C0112233A1B2`.
  case digits

  /// In bytes.
  var length: Int {
    switch self {
    case .leastSignificantFirst, .mostSignificantFirst: 6
    case .extendedIdentifier: 8
    case .text: 17
    case .digits: 12
    }
  }

  /// The places of the bytes, or of the first digits of each byte, the most significant first.
  private var places: [Int] {
    switch self {
    case .leastSignificantFirst: [5, 4, 3, 2, 1, 0]
    case .mostSignificantFirst: [0, 1, 2, 3, 4, 5]
    // The first three bytes, least significant first, are the lower part.
    case .extendedIdentifier: [7, 6, 5, 2, 1, 0]
    case .text: [0, 3, 6, 9, 12, 15]
    case .digits: [0, 2, 4, 6, 8, 10]
    }
  }

  private var isText: Bool { self == .text || self == .digits }

  /// The address in this form; nil if the bytes have another form.
  func address(in bytes: [UInt8], at start: Int) -> UInt64? {
    switch self {
    case .leastSignificantFirst: return Self.six(bytes, at: start)
    case .mostSignificantFirst: return PersonalData.reversed(Self.six(bytes, at: start))
    case .extendedIdentifier: guard bytes[start + 3] == 0xFE, bytes[start + 4] == 0xFF else { return nil }
    case .text, .digits: break
    }
    var address: UInt64 = 0
    for place in places {
      guard isText else {
        address = address << 8 | UInt64(bytes[start + place])
        continue
      }
      guard let high = Self.value(bytes[start + place]), let low = Self.value(bytes[start + place + 1]) else {
        return nil
      }
      address = address << 8 | UInt64(high) << 4 | UInt64(low)
    }
    return address
  }

  /// Writes an address in this form, in the case of the digits that are there.
  func write(_ address: UInt64, to bytes: inout [UInt8], at start: Int) {
    for (index, place) in places.enumerated() {
      let byte = UInt8(truncatingIfNeeded: address >> UInt64(8 * (5 - index)))
      guard isText else {
        bytes[start + place] = byte
        continue
      }
      let isSmall = bytes[start..<start + length].contains {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
      for (offset, digit) in [byte >> 4, byte & 15].enumerated() {
        let letters = isSmall ? UInt8(ascii: "a") : UInt8(ascii: "A")
        bytes[start + place + offset] = digit < 10 ? UInt8(ascii: "0") + digit : letters + digit - 10
      }
    }
  }

  private static func six(_ bytes: [UInt8], at start: Int) -> UInt64 {
    var address: UInt64 = 0
    for index in 0..<6 { address |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return address
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
