import HaloSystem
import TestSupport
import Testing

/// The examples of RFC 4493, 4: the same key, and messages of 0, 16, 40 and 64 bytes.
@Suite struct MessageAuthenticationTests {
  private static let key = hex("2b7e151628aed2a6abf7158809cf4f3c")
  private static let message = hex(
    "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51"
      + "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710")

  @Test(
    .enabled(if: MessageAuthentication.isAvailable, "libcrypto is not installed"),
    arguments: [
      (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
      (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ]) func examplesOfTheRFC(_ length: Int, _ code: String)
  {
    let found = MessageAuthentication.cmac(Array(Self.message.prefix(length)), key: Self.key)
    #expect(found == hex(code))
  }

  /// The Database Hash of the Core Specification, Vol 3, Part G, Appendix B.
  @Test(.enabled(if: MessageAuthentication.isAvailable, "libcrypto is not installed"))
  func theHashOfTheSpecification() {
    let attributes = hex(
      "010000280018 020003280a0300002a 04000328020500012a 060000280118 07000328200800052a 09000229"
        + "0a0003280a0b00292b 0c000328020d002a2b 0e0000280818 0f000228140016000f18 10000328a21100182a 12000229"
        + "130000290000 140001280f18 15000328021600192a")
    let hash = MessageAuthentication.cmac(attributes, key: Array(repeating: 0, count: 16))
    #expect(hash == hex("f1ca2d48ecf58bac8a8830bbb9fba990"))
  }

  @Test func aKeyOfAnotherLengthIsRefused() {
    #expect(MessageAuthentication.cmac([1], key: [1, 2, 3]) == nil)
  }
}
