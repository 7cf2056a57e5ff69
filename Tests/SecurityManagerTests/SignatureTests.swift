import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

/// Signed data (Core Specification Vol 3, Part H, 2.4.5; Part C, 10.4).
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct SignatureTests {
  /// A key, most significant byte first; a message, its counter and its signature, as on the wire. These are the messages of RFC
  /// 4493 and a whole Signed Write Command, with which BlueZ tests its own function (unit/test-crypto.c).
  private static let vectors: [(key: String, message: String, counter: UInt32, signature: String)] = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "", 0, "b3a8594127ebc2c0"),
    ("2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a", 0, "273974f4392a232a"),
    (
      "2b7e151628aed2a6abf7158809cf4f3c",
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411", 0,
      "b7ca94ab87c78218"
    ),
    (
      "2b7e151628aed2a6abf7158809cf4f3c",
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710", 0, "44e1e6ce1df51368"
    ),
    ("611b64ebfbcd1fd372ec9196df425e50", "d212001337", 1, "f1871e933c900ff2"),
  ]

  @Test(arguments: vectors)
  func signsAsOthersDo(_ key: String, _ message: String, _ counter: UInt32, _ signature: String) throws {
    let functions = SecurityFunctions(try #require(LibcryptoCryptography.shared))
    let key: [UInt8] = hex(key).reversed()
    let right = hex(signature).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    #expect(try functions.signature(of: hex(message), counter, key: key) == right)
    #expect(try functions.isSignature(right, of: hex(message), counter, key: key))
    for bit in 0..<64 {
      #expect(try !functions.isSignature(right ^ 1 << bit, of: hex(message), counter, key: key))
    }
    #expect(try !functions.isSignature(right, of: hex(message), counter + 1, key: key))
    #expect(try !functions.isSignature(right, of: hex(message) + [0], counter, key: key))
  }

  // MARK: Counters

  @Test func countersAreTakenOnceAndInSteps() {
    var key = Bond.SigningKey(key: [], counter: 7)
    #expect(key.reserve() == 7..<107)
    #expect(key.reserve() == 107..<207)
    #expect(key.counter == 207)
  }

  /// The last counter that can be written down is not used, so that there is always one behind it.
  @Test(arguments: [(101, 100), (100, 100), (99, 99), (1, 1), (0, 0)] as [(UInt32, UInt32)])
  func countersEnd(_ left: UInt32, _ taken: UInt32) {
    let next = Bond.SigningKey.end - left
    var key = Bond.SigningKey(key: [], counter: next)
    #expect(key.reserve() == next..<next + taken)
    #expect(key.counter == next + taken)
  }

  @Test func usedCountersAreRefused() {
    var key = Bond.SigningKey(key: [])
    func accepts(_ counters: [UInt32]) -> [Bool] {
      var answers: [Bool] = []
      for counter in counters { answers.append(key.accept(counter)) }
      return answers
    }
    #expect(accepts([0, 0, 1, 5, 4, 5, 6]) == [true, false, true, true, false, false, true])
    #expect(key.counter == 7)
    #expect(accepts([.max, .max - 1, 0, 7, .max - 1, .max]) == [false, true, false, false, false, false])
    #expect(key.counter == .max)
  }
}
