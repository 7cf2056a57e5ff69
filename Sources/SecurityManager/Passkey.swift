/// A passkey, or the number to compare: 0 to 999,999 (Core Specification Vol 3, Part H, 2.3.5.3).
package enum Passkey {
  /// As a key of 16 bytes, least significant first.
  package static func key(_ number: UInt32) -> [UInt8] {
    (0..<16).map { $0 < 4 ? UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) : 0 }
  }

  /// As users see it: `012345`.
  package static func text(_ number: UInt32) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }
}
