import ATT
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

@testable import HaloDissection

/// What a capture says about pairings. Their PDUs are those of Tests/Vectors/pairings.txt, which have sources of their own.
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairingFollowerTests {
  private func script(triesPasskeys: Bool = false) -> Script {
    Script(secrets: DissectionSecrets(library: LibcryptoCryptography.shared, triesPasskeys: triesPasskeys))
  }

  private func notes(_ pairing: RecordedPairing, triesPasskeys: Bool = false) -> [SecurityNote] {
    let script = script(triesPasskeys: triesPasskeys)
    script.connect(pairing)
    return script.play(pairing)
  }

  private func pairing(_ beginning: String) throws -> RecordedPairing {
    try #require(RecordedPairing.named(beginning))
  }

  @Test(arguments: RecordedPairing.all.filter { !$0.isRefused })
  func pairingIsExplained(_ pairing: RecordedPairing) throws {
    let notes = notes(pairing)
    let words = [
      "just works": "Just Works, not authenticated", "passkey": "passkey entry, authenticated",
      "numeric comparison": "numeric comparison, authenticated", "oob": "out of band, authenticated",
    ]
    let name = pairing.description.split(separator: ", ")[1]
    let kind = pairing.isSecureConnections ? "LE Secure Connections" : "LE legacy pairing"
    let method = try #require(notes.texts(.method).first)
    #expect(method.hasPrefix("\(kind), \(words[String(name)] ?? "")"))
    #expect(notes.texts(.fault) == [] && notes.texts(.attack) == [])
    #expect(notes.texts(.protection).count == 1)
    #expect(
      notes.texts(.protection)[0].hasPrefix(
        "from here on encrypted with \(pairing.isSecureConnections ? "the key" : "the short-term key") of the pairing"
      ))
    if let passkey = pairing.facts["passkey"], pairing.isSecureConnections {
      #expect(notes.texts(.check).filter { $0.hasPrefix("round") }.count == 40)
      #expect(notes.texts(.progress).contains { $0.hasPrefix("the passkey was \(passkey):") })
    }
    if let shown = pairing.facts["shown"] {
      #expect(notes.texts(.progress).contains("both users have to see \(shown)"))
    }
    if name == "just works" {
      let count = pairing.isSecureConnections ? 1 : 2
      #expect(notes.texts(.check).filter { $0 == "the confirm value is right" }.count == count)
    }
  }

  /// Its text is in hexadecimal digits nowhere.
  @Test(arguments: RecordedPairing.all)
  func noNoteHasAKey(_ pairing: RecordedPairing) {
    let digits = Hex.string(pairing.key)
    for note in notes(pairing) {
      #expect(!note.text.contains(digits) && !note.text.contains(Hex.string(Array(pairing.key.reversed()))))
    }
  }

  @Test(
    arguments: [
      "secure connections, just works", "secure connections, numeric", "secure connections, passkey",
      "legacy, just works",
    ])
  func changedConfirmValueIsFound(_ name: String) throws {
    let changed = try pairing(name).changing(0x03) { $0[16] ^= 1 }
    #expect(notes(changed.handshake).texts(.fault).contains { $0.contains("confirm value is wrong") })
  }

  /// mikeryan/crackle 26 and 52, and its tests 1 and 5: whoever receives such a pairing computes the key.
  @Test func keyOfLegacyJustWorksIsComputed() throws {
    let pairing = try pairing("legacy, just works")
    #expect(notes(pairing.handshake).texts(.weakness).count == 1)
    #expect(notes(pairing).texts(.protection)[0].contains("the short-term key of the pairing at packet 3"))
  }

  @Test func passkeyOfLegacyPairingIsFoundIfAsked() throws {
    let pairing = try pairing("legacy, passkey, KeyboardDisplay to DisplayOnly")
    #expect(notes(pairing.handshake).texts(.weakness) == [])
    let found = notes(pairing.handshake, triesPasskeys: true)
    #expect(found.texts(.weakness).contains { $0.hasPrefix("the passkey was 046128:") })
    #expect(found.texts(.check).count == 2 && found.texts(.fault) == [])
  }

  @Test func shortKeyIsNamed() throws {
    let pairing = try pairing("legacy, just works, key of 7 octets")
    #expect(notes(pairing).texts(.weakness).contains { $0.hasPrefix("a key of only 7 bytes") })
  }

  // MARK: Signed writes

  /// A phone signs what it writes; the key is in the pairing, or in a bond.
  @Test(arguments: [false, true])
  func signaturesAreChecked(_ isOfABond: Bool) throws {
    let functions = SecurityFunctions(try #require(LibcryptoCryptography.shared))
    let key = [UInt8](1...16)
    var secrets = DissectionSecrets(library: LibcryptoCryptography.shared)
    let pairing = try pairing("secure connections, just works")
    if isOfABond {
      var bond = Bond(peer: pairing.responder, own: pairing.initiator, isSecureConnections: true)
      bond.peerSigning = Bond.SigningKey(key: key)
      secrets.bonds = [bond]
    }
    let script = Script(secrets: secrets)
    script.connect(pairing)
    if !isOfABond {
      script.play(pairing)
      _ = script.frame("0a" + Hex.string(key), channel: 6, isSent: false)
      script.received("04 05 04 00 4000 13")
      script.connect(pairing)
    }
    func notes(_ counter: UInt32, _ change: (inout [UInt8]) -> Void = { _ in }) throws -> [SecurityNote] {
      var command = ATTSignedWriteCommand(
        0x0012, value: [1, 2], signature: ATTSignature(counter: counter, code: 0))
      command.signature.code = try functions.signature(of: command.message, counter, key: key)
      var pdu = command.bytes
      change(&pdu)
      return script.frame(Hex.string(pdu), channel: 4, isSent: false).security
    }
    let origin = isOfABond ? "the bond with \(pairing.responder)" : "the pairing at packet"
    let first = try notes(3)
    #expect(first.map(\.kind) == [.check])
    #expect(first.first?.text.hasPrefix("its signature is right (CSRK of \(origin)") == true)
    #expect(try notes(3).map(\.kind) == [.attack] && notes(2).map(\.kind) == [.attack])
    #expect(try notes(4).map(\.kind) == [.check])
    #expect(
      try notes(5) { $0[3] ^= 1 }.texts(.attack) == [
        "its signature is wrong: it is of none of the keys of this device"
      ])
    #expect(try notes(5).map(\.kind) == [.check])
    for count in 1..<15 { #expect(try notes(6) { $0 = Array($0.prefix(count)) } == []) }
  }

  /// Without a key there is nothing to say.
  @Test func signatureOfAnUnknownKeyIsNotJudged() throws {
    let script = script()
    script.connect(try pairing("secure connections, just works"))
    let packet = script.frame("d21200133701000000f1871e933c900ff2", channel: 4, isSent: false)
    #expect(packet.security == [])
  }

  // MARK: Attacks

  @Test func keyThatIsSentBackIsNamed() throws {
    let attacks = notes(try pairing("peer sends our own public key")).texts(.attack)
    #expect(attacks == ["the public key of the other side, sent back (CVE-2020-26558)"])
  }

  @Test func pointOffTheCurveIsNamed() throws {
    let changed = try pairing("secure connections, numeric").changing(0x0C) { $0[40] ^= 1 }
    #expect(
      notes(changed.handshake).texts(.attack)
        == [String](repeating: "no point of the curve: invalid curve (CVE-2018-5383)", count: 2))
  }

  @Test func reusedPublicKeyAndPasskeyAreNamed() throws {
    let pairing = try pairing("secure connections, passkey").handshake
    let script = script()
    script.connect(pairing)
    script.play(pairing)
    let notes = script.play(pairing)
    #expect(
      notes.texts(.weakness).filter { $0.hasPrefix("the same public key as in the pairing at packet 3") }
        .count == 2)
    #expect(notes.texts(.attack).contains { $0.hasPrefix("the same passkey as in the pairing at packet 3") })
  }

  @Test func newPairingWithBondedDeviceInClearIsNamed() throws {
    let pairing = try pairing("secure connections, just works")
    let script = script()
    script.connect(pairing)
    #expect(script.play(pairing).texts(.attack) == [])
    script.received(Script.disconnected)
    script.connect(pairing)
    #expect(script.play(pairing.handshake).texts(.attack).first?.hasPrefix("pairs anew in clear") == true)
  }

  @Test func newPairingOverEncryptedLinkIsNone() throws {
    let pairing = try pairing("secure connections, just works")
    let script = script()
    script.connect(pairing)
    script.play(pairing)
    let again = script.play(pairing.handshake)
    #expect(
      again.texts(.progress).contains("pairs anew over the encrypted link") && again.texts(.attack) == [])
  }

  /// SweynTooth: the key is used before the checks; and a key of zeros.
  @Test func encryptionBeforeTheChecksIsNamed() throws {
    let pairing = try pairing("secure connections, just works")
    let script = script()
    script.connect(pairing)
    var part = pairing.handshake
    part.steps.removeLast()
    script.play(part)
    let notes = script.encrypt([UInt8](repeating: 0, count: 16))
    #expect(notes.texts(.fault).first?.hasPrefix("the link is encrypted before") == true)
    #expect(notes.texts(.attack) == ["a key of zeros, which everybody knows"])
  }

  @Test func keysInClearAreNamed() throws {
    var pairing = try pairing("secure connections, just works")
    pairing.steps.removeAll { $0 == .encrypt }
    let notes = notes(pairing)
    #expect(notes.texts(.fault).count == 3)
    #expect(notes.texts(.fault).allSatisfy { $0.hasPrefix("a key is sent in clear") })
  }

  @Test func endOfEncryptionIsNamed() throws {
    let pairing = try pairing("secure connections, just works")
    let script = script()
    script.connect(pairing)
    script.play(pairing)
    #expect(script.received("04 08 04 00 4000 00").security.texts(.fault).count == 1)
    // The peer has no key: nothing was on.
    #expect(script.received("04 08 04 06 4000 00").security == [])
  }

  @Test func keyOfEarlierLinkIsRecognized() throws {
    let pairing = try pairing("secure connections, numeric")
    let script = script()
    script.connect(pairing)
    script.play(pairing)
    script.received(Script.disconnected)
    script.connect(pairing)
    let known = script.encrypt(pairing.key).texts(.protection)
    #expect(known[0].contains("the key of the pairing at packet 3"))
    let other = script.encrypt([UInt8](repeating: 5, count: 16)).texts(.protection)
    #expect(other == ["from here on encrypted with a key of a pairing that is not in the capture"])
  }

  /// Zephyr 9867: with the debug key of one side, all can be computed.
  @Test func checksAreComputedWithTheDebugKey() throws {
    let library = try #require(LibcryptoCryptography.shared)
    let recorded = try pairing("secure connections, just works")
    let pairing = try recorded.playedAgain(initiatorKey: .debug, library)
    let found = notes(pairing)
    #expect(found.texts(.check).filter { $0 == "the DHKey Check is right" }.count == 2)
    #expect(found.texts(.weakness).contains { $0.hasPrefix("the debug key") })
    let changed = notes(pairing.changing(0x0D) { $0[1] ^= 1 })
    #expect(changed.texts(.fault).filter { $0.hasPrefix("the DHKey Check is wrong") }.count == 2)
  }

  /// Whatever is sent, in whichever order: all is read, and what is kept of it is bounded.
  @Test func garbageIsSurvived() throws {
    var random = SeededGenerator(seed: 7)
    let pairing = try pairing("secure connections, passkey")
    let script = script()
    script.connect(pairing)
    var pdus = RecordedPairing.all.flatMap(\.steps).compactMap { step -> [UInt8]? in
      guard case .pdu(let pdu, _) = step else { return nil }
      return pdu
    }
    pdus.shuffle(using: &random)
    for (index, pdu) in pdus.enumerated() {
      var pdu = pdu
      if index % 3 == 0 {
        pdu[Int(random.next() % UInt64(pdu.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if index % 7 == 0 { pdu.removeLast() }
      let packet = script.frame(Hex.string(pdu), channel: 6, isSent: random.next() % 2 == 0)
      #expect(packet.security.count < 8)
    }
  }

  /// mikeryan/crackle 31 and 38: packets are missing. Nothing is said that is not known, and nothing goes wrong.
  @Test(arguments: RecordedPairing.all)
  func missingPacketsAreNoFaults(_ pairing: RecordedPairing) {
    for index in pairing.handshake.steps.indices {
      var part = pairing
      part.steps.remove(at: index)
      let notes = notes(part)
      #expect(notes.texts(.attack).isEmpty || pairing.isRefused, "\(index)")
    }
  }
}
