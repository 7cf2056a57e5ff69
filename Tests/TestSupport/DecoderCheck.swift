import HaloBluetoothCore

/// Runs `decode` on `bytes`, on every truncation of them, with every single bit flipped, and with bytes
/// appended. What it returns or throws does not matter here: it must come back at all.
package func checkDecoderIsTotal(_ bytes: [UInt8], _ decode: ([UInt8]) -> Void) {
  for length in 0...bytes.count { decode(Array(bytes[..<length])) }
  for bit in 0..<bytes.count * 8 {
    var damaged = bytes
    damaged[bit / 8] ^= 1 << (bit % 8)
    decode(damaged)
  }
  decode(bytes + [0])
  decode(bytes + Array(repeating: 0xFF, count: 300))
}
