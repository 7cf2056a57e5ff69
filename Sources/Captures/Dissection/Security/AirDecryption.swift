import HaloBluetoothCore
import HaloSecurityManager

/// Decrypts the packets of a connection on the air with the keys that are known: given ones, those of bonds, and those that
/// the capture itself shows (Core Specification Vol 6, Part B, 5.1.3).
///
/// Each PDU has a number that it does not carry, and a sniffer misses some: numbers up to a bound are tried, until the MIC
/// fits. Any MIC fits by chance once in 4000 million times.
struct AirDecryption {
  /// The most packets that may be missing in a row.
  static let window: UInt64 = 256
  /// The numbers that are tried with each key, until one fits.
  static let firstWindow: UInt64 = 8
  /// The packets with which all keys are tried, again for each new key.
  static let attempts = 8
  /// The packets in a row that may fail before the key is given up.
  static let failureLimit = 64

  /// What came of a packet.
  enum Result {
    /// Nothing is known, or nothing is tried.
    case none
    /// The payload without its MIC.
    case decrypted([UInt8], SecurityNote?)
    case failed(SecurityNote?)
  }

  /// The parts of the session key and of the initialization vector of both sides, as in the packets.
  private struct Exchange {
    var central: (diversifier: [UInt8], vector: [UInt8])?
    var peripheral: (diversifier: [UInt8], vector: [UInt8])?
  }

  private var exchange = Exchange()
  private var cipher: LinkCipher?
  /// The next numbers: of the central, and of the peripheral.
  private var counters: [UInt64] = [0, 0]
  private var attempts = 0
  /// The number of keys that were known when they were tried last.
  private var version = 0
  private var failures = 0
  private var hasReported = false

  /// Takes LL_ENC_REQ: Rand, EDIV, SKD and IV of the central.
  mutating func request(_ payload: [UInt8]) {
    guard payload.count == 23 else { return }
    self = AirDecryption()
    exchange.central = (Array(payload[11..<19]), Array(payload[19..<23]))
  }

  /// Takes LL_ENC_RSP: SKD and IV of the peripheral.
  mutating func response(_ payload: [UInt8]) {
    guard payload.count == 13, exchange.central != nil else { return }
    exchange.peripheral = (Array(payload[1..<9]), Array(payload[9..<13]))
  }

  /// - Parameters:
  ///   - payload: with its MIC
  ///   - header: the first byte of the PDU
  ///   - isRepeated: whether it is the last PDU of its side, sent again
  mutating func decrypt(
    _ payload: [UInt8], header: UInt8, isFromCentral: Bool, isRepeated: Bool, _ knowledge: SecurityKnowledge
  ) -> Result {
    guard let functions = knowledge.functions else { return .none }
    let side = isFromCentral ? 0 : 1
    do throws(CryptographyError) {
      if let cipher {
        // A packet that is sent again has its number again.
        let first = isRepeated && counters[side] > 0 ? counters[side] - 1 : counters[side]
        for counter in first..<first + (isRepeated ? 1 : Self.window) {
          guard
            let plain = try cipher.decrypt(
              payload, header: header, counter: counter, isFromCentral: isFromCentral)
          else { continue }
          counters[side] = counter + 1
          failures = 0
          return .decrypted(plain, nil)
        }
        return failed(isRepeated: isRepeated)
      }
      // Without a key, the packets are counted.
      guard !isRepeated else { return .none }
      defer { if cipher == nil { counters[side] += 1 } }
      return try findKey(payload, header: header, side: side, functions, knowledge)
    } catch {
      // The library may have no memory now.
      return .none
    }
  }

  private mutating func failed(isRepeated: Bool) -> Result {
    guard !isRepeated else { return .failed(nil) }
    failures += 1
    if failures >= Self.failureLimit { (cipher, attempts, hasReported) = (nil, Self.attempts, true) }
    return .failed(
      SecurityNote(.fault, "the MIC is wrong: damaged, or more than \(Self.window) packets are missing"))
  }

  private mutating func findKey(
    _ payload: [UInt8], header: UInt8, side: Int, _ functions: SecurityFunctions,
    _ knowledge: SecurityKnowledge
  ) throws(CryptographyError) -> Result {
    if version != knowledge.version { (version, attempts) = (knowledge.version, 0) }
    guard attempts < Self.attempts else { return .none }
    attempts += 1
    guard let central = exchange.central, let peripheral = exchange.peripheral else {
      return report("encrypted, but the capture lacks LL_ENC_REQ or LL_ENC_RSP: it can't be decrypted")
    }
    for known in knowledge.keys.reversed() {
      // Programs print keys in either order.
      for isReversed in known.isGiven ? [false, true] : [false] {
        let key = isReversed ? known.value.reversed() : known.value
        let cipher = try LinkCipher(
          functions, key: key, diversifier: central.diversifier + peripheral.diversifier,
          vector: central.vector + peripheral.vector)
        for counter in counters[side]..<counters[side] + Self.firstWindow {
          guard
            let plain = try cipher.decrypt(
              payload, header: header, counter: counter, isFromCentral: side == 0)
          else { continue }
          self.cipher = cipher
          counters[side] = counter + 1
          let order = isReversed ? ", in the other byte order" : ""
          return .decrypted(plain, SecurityNote(.protection, "decrypted with \(known.origin)\(order)"))
        }
      }
    }
    if knowledge.keys.isEmpty { return report("encrypted, and no key is known; --ltk or --bonds gives one") }
    return report("encrypted, and none of the known keys fits")
  }

  /// Once for each session.
  private mutating func report(_ text: String) -> Result {
    defer { hasReported = true }
    return hasReported ? .none : .failed(SecurityNote(.protection, text))
  }
}
