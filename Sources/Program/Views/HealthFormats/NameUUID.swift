import HaloBluetoothCore

/// A UUID that is made of a name: the same for the same name, on every computer (RFC 9562, 5.5).
package enum NameUUID {
  /// The name space of URLs (RFC 9562, 6.6).
  private static let urls: [UInt8] = [
    0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
  ]

  /// Version 5, of the name of a URL.
  package static func text(url: String) -> String {
    var bytes = Array(sha1(urls + Array(url.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array(Hex.string(bytes).lowercased())
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }

  /// The digest of FIPS 180-4, 6.1. It is no protection: it makes names short.
  static func sha1(_ message: [UInt8]) -> [UInt8] {
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (message.count * 8) >> ($0 * 8)) }
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
    for block in stride(from: 0, to: padded.count, by: 64) {
      var words = (0..<16).map { index in
        padded[(block + index * 4)..<(block + index * 4 + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }
      for index in 16..<80 {
        words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      for (index, word) in words.enumerated() {
        let (mixed, constant): (UInt32, UInt32) =
          switch index {
          case ..<20: (b & c | ~b & d, 0x5A82_7999)
          case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
          case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
          default: (b ^ c ^ d, 0xCA62_C1D6)
          }
        (a, b, c, d, e) = (rotated(a, 5) &+ mixed &+ e &+ constant &+ word, a, rotated(b, 30), c, d)
      }
      state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
    }
    return state.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }
}
