import HaloBluetoothCore
import HaloSecurityManager

/// The encryption of the link layer: AES-CCM with a MIC of four bytes (Core Specification Vol 6, Part E, 1 and 2; RFC 3610),
/// of blocks of AES-128.
struct LinkCipher {
  static let micLength = 4

  private let session: any BlockCipher
  /// Both parts of the initialization vector, the central's first, as in the packets.
  private let vector: [UInt8]

  /// Computes the session key (Vol 6, Part B, 5.1.3.1).
  ///
  /// - Parameters:
  ///   - key: the long-term key, least significant byte first
  ///   - diversifier: SKD: the central's part, then the peripheral's, each as in the packets
  init(
    _ functions: SecurityFunctions, key: [UInt8], diversifier: [UInt8], vector: [UInt8]
  ) throws(CryptographyError) {
    guard key.count == 16, diversifier.count == 16, vector.count == 8 else { throw .failed }
    let sessionKey = try functions.e(key, diversifier)
    session = try functions.library.blockCipher(key: sessionKey.reversed())
    self.vector = vector
  }

  /// Decrypts a payload.
  ///
  /// - Parameters:
  ///   - payload: with its MIC
  ///   - header: the first byte of the PDU
  ///   - counter: the number of the packet in its direction, 39 bits
  /// - Returns: nil if the MIC is wrong
  func decrypt(
    _ payload: [UInt8], header: UInt8, counter: UInt64, isFromCentral: Bool
  ) throws(CryptographyError) -> [UInt8]? {
    let count = payload.count - Self.micLength
    guard count >= 0, count <= 0xFF else { return nil }
    var nonce = (0..<5).map { UInt8(truncatingIfNeeded: counter >> UInt64(8 * $0)) }
    nonce[4] = nonce[4] & 0x7F | (isFromCentral ? 0x80 : 0)
    nonce += vector
    var plain = [UInt8](payload.prefix(count))
    for (index, start) in stride(from: 0, to: count, by: 16).enumerated() {
      let stream = try session.encrypt([0x01] + nonce + [0, UInt8(index + 1)])
      for place in start..<min(start + 16, count) { plain[place] ^= stream[place - start] }
    }
    // The header without NESN, SN and MD, which change when a packet is sent again.
    var code = try session.encrypt([0x49] + nonce + [0, UInt8(count)])
    code = try session.encrypt(Self.xor(code, [0, 1, header & 0xE3][...]))
    for start in stride(from: 0, to: count, by: 16) {
      code = try session.encrypt(Self.xor(code, plain[start..<min(start + 16, count)]))
    }
    let mask = try session.encrypt([0x01] + nonce + [0, 0])
    let mic = zip(code, mask).prefix(Self.micLength).map { $0 ^ $1 }
    return mic.elementsEqual(payload.suffix(Self.micLength)) ? plain : nil
  }

  /// A block, with zeros behind the part that is shorter.
  private static func xor(_ block: [UInt8], _ part: ArraySlice<UInt8>) -> [UInt8] {
    var block = block
    for (index, byte) in part.enumerated() { block[index] ^= byte }
    return block
  }
}
