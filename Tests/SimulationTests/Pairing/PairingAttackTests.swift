import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloSimulation

/// Attacks on a pairing, through the whole stack: what the attacker sends is wrong, early, late or left out. Each victim gives
/// no key away, keeps no bond, and pairs later with who is honest.
@BluetoothActor
@Suite(.onTheLoop, .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairingAttackTests {
  /// Keys that are no points of the curve (CVE-2018-5383), or the victim's own (CVE-2020-26558), or that of the specification;
  /// short keys (KNOB); impossible fields and lengths; PDUs too early and out of their order.
  @Test(arguments: [LERole.central, .peripheral], FalsePDU.allCases)
  func falsePDUEndsPairing(_ role: LERole, _ attack: FalsePDU) async throws {
    guard attack.fits(role) else { return }
    let scene = try await PairingAttack(on: role)
    let transport = scene.attacker.transport
    transport.edit = { [unowned transport] in [attack.applied(to: $0, after: transport.heard)] }
    try await scene.meet()
    #expect(await scene.pair()?.code == .pairingFailed)
    #expect(transport.heard.contains([0x05, attack.reason.rawValue]), "\(transport.heard)")
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// A confirm value that was sent back: the attacker would not have to know the passkey.
  @Test func reflectedConfirmOfLegacyPairingIsRefused() async throws {
    let scene = try await PairingAttack(on: .central)
    let transport = scene.attacker.transport
    transport.edit = { [unowned transport] pdu in
      switch pdu[0] {
      case 0x02: [Array(pdu[..<3]) + [pdu[3] & ~0x08] + pdu[4...]]
      // The attacker's host does not expect legacy pairing; what it says of that does not go out.
      case 0x05: [transport.heard.last ?? []]
      default: [pdu]
      }
    }
    try await scene.meet()
    #expect(await scene.pair()?.code == .pairingFailed)
    #expect(scene.answer == [0x05, 0x04])
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// Who hides its Secure Connections, or what it can show, gets a weaker pairing only where that is enough.
  @Test(arguments: [LERole.central, .peripheral])
  func weakerPairingThanWantedIsRefused(_ role: LERole) async throws {
    for isLegacy in [true, false] {
      let scene = try await PairingAttack(on: role, .displayYesNo, .ask)
      if isLegacy {
        scene.victim.security.settings.requiresSecureConnections = true
      } else {
        scene.victim.security.settings.requiresAuthentication = true
      }
      scene.attacker.transport.edit = { pdu in
        guard pdu[0] == 0x01 || pdu[0] == 0x02 else { return [pdu] }
        var pdu = pdu
        if isLegacy { pdu[3] &= ~0x08 } else { pdu[1] = 3 }
        return [pdu]
      }
      try await scene.meet()
      #expect(await scene.pair()?.code == .pairingFailed)
      #expect(scene.attacker.transport.heard.contains([0x05, 0x03]))
      scene.checkNothingIsGained()
      #expect(scene.victim.user.questions == [])
      try await scene.checkLaterAttempt()
    }
  }

  /// Two pairings have no key pair, random value, confirm value or passkey in common, also if the first one has failed.
  @Test(arguments: [LERole.central, .peripheral])
  func pairingsShareNoSecret(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role, .displayOnly, .ask)
    scene.attacker.user.ioCapability = .keyboardOnly
    var typed: [UInt32] = []
    scene.attacker.user.passkey = {
      typed.append(scene.victim.user.shownPasskey)
      return typed[typed.count - 1]
    }
    // The last value is false, when all others are known.
    scene.attacker.transport.edit = { pdu in
      pdu[0] == 0x0D ? [[0x0D] + [UInt8](repeating: 1, count: 16)] : [pdu]
    }
    for _ in 0..<2 {
      try await scene.meet()
      #expect(await scene.pair(to: .authenticated)?.code == .pairingFailed)
      await scene.part()
      await testTimers.sleep(for: .seconds(70))
    }
    let heard = scene.attacker.transport.heard
    for (code, count) in [(0x0C, 2), (0x03, 40), (0x04, 40)] as [(UInt8, Int)] {
      let values = heard.filter { $0[0] == code }
      #expect(values.count == count && Set(values).count == count, "\(code): \(values.count)")
    }
    #expect(Set(typed).count == 2)
    scene.checkNothingIsGained()
    await scene.stop()
  }

  /// SweynTooth: the key is asked for before there is a pairing, and in each state of it.
  @Test(arguments: [0x01, 0x0C, 0x04, 0x0D] as [UInt8])
  func keyRequestBeforeTheCheckGetsNoKey(_ code: UInt8) async throws {
    let scene = try await PairingAttack(on: .peripheral)
    let transport = scene.attacker.transport
    transport.edit = { pdu in pdu[0] == code ? [] : [pdu] }
    try await scene.meet()
    let attempt = spawn { await scene.pair() }
    await testTimers.sleep(for: .seconds(5))
    transport.send(LEEnableEncryption { $0.handle = transport.connectionHandle })
    await testTimers.sleep(for: .seconds(5))
    scene.checkNothingIsGained()
    _ = try await attempt.value
    try await scene.checkLaterAttempt()
  }

  /// The keys of the attacker come before the link is encrypted; then nothing is encrypted at all.
  @Test func keysInClearAreNotTaken() async throws {
    let scene = try await PairingAttack(on: .central)
    let transport = scene.attacker.transport
    transport.edit = { pdu in
      pdu[0] == 0x0D ? [pdu, [0x08] + [UInt8](repeating: 1, count: 16)] : [pdu]
    }
    try await scene.meet()
    #expect(await scene.pair() != nil)
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// Encryption is switched off while keys are awaited, or the controller says that it is off when it should be on
  /// (CVE-2025-52435): no key is sent or taken in clear.
  @Test(arguments: [LERole.central, .peripheral], [true, false])
  func encryptionThatIsOffEndsPairing(_ role: LERole, _ fromTheStart: Bool) async throws {
    let scene = try await PairingAttack(on: role)
    let (attacker, victim) = (scene.attacker.transport, scene.victim.transport)
    // The attacker has promised an identity, for which the victim waits.
    attacker.edit = { pdu in
      var pdu = pdu
      if role == .central, pdu[0] == 0x02 { pdu[6] |= 2 }
      if role == .peripheral, pdu[0] == 0x01 { pdu[5] |= 2 }
      return [pdu]
    }
    attacker.editPacket = { packet in
      var packet = packet
      if packet[0] == 2, packet.count > 14, packet[7] == 6, packet[9] == 0x02 { packet[14] &= ~2 }
      return [packet]
    }
    victim.editPacket = { packet in
      guard packet[0] == 4, packet[1] == 0x08 else { return [packet] }
      let event = HCIEvent.encryptionChange(
        EncryptionChange {
          $0.handle = victim.connectionHandle
          $0.encryption = .off
        }
      ).packet
      return fromTheStart ? [event] : [packet, event]
    }
    try await scene.meet()
    let failure = await scene.pair()
    #expect(role == .peripheral || failure != nil)
    attacker.send([0x08] + [UInt8](repeating: 1, count: 16))
    attacker.send([0x09, 0] + [UInt8](repeating: 1, count: 6))
    await testTimers.sleep(for: .seconds(2))
    scene.checkNothingIsGained()
    #expect(try !scene.victim.link.isConnected)
    let keys = attacker.heard.filter { (0x06...0x0A).contains($0[0]) }
    // A responder gives the key of its signatures as soon as the link is encrypted, which it was.
    if role == .central || fromTheStart { #expect(keys == []) }
    try await scene.checkLaterAttempt()
  }

  /// The attacker stays silent from one of its PDUs on: after 30 s the pairing ends, and the link with it.
  @Test(arguments: [LERole.central, .peripheral], [0x01, 0x0C, 0x04, 0x0D] as [UInt8])
  func silenceInEachStateEndsPairing(_ role: LERole, _ code: UInt8) async throws {
    let scene = try await PairingAttack(on: role)
    try await scene.meet()
    var isSilent = false
    scene.attacker.transport.edit = { pdu in
      isSilent = isSilent || pdu[0] == code || code == 0x01 && pdu[0] == 0x02
      // Nobody has begun a pairing if the request is kept back.
      return isSilent && pdu[0] != 0x01 ? [] : [pdu]
    }
    let begin = testTimers.now
    #expect(await scene.pair() != nil)
    await testTimers.sleep(for: .seconds(2))
    #expect(try !scene.victim.link.isConnected)
    #expect(testTimers.now - begin < .seconds(40))
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// PDUs that say nothing do not keep a pairing open, nor the question to its user.
  @Test(arguments: [[0x0E, 1], [0x0B, 1], [0x55, 1, 2], []] as [[UInt8]])
  func emptyPhrasesDoNotProlongPairing(_ phrase: [UInt8]) async throws {
    let scene = try await PairingAttack(on: .peripheral, .displayYesNo, .ask)
    scene.victim.user.isAway = true
    try await scene.meet()
    let attempt = spawn { await scene.pair(to: .authenticated) }
    for _ in 0..<60 {
      await testTimers.sleep(for: .seconds(1))
      scene.attacker.transport.send(phrase)
    }
    #expect(scene.victim.user.ends.count == 1)
    _ = try await attempt.value
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// A program or person gives up in each state; a later attempt works.
  @Test(arguments: [LERole.central, .peripheral], [0x01, 0x0C, 0x04, 0x0D] as [UInt8])
  func linkThatEndsInEachStateLeavesNothing(_ role: LERole, _ code: UInt8) async throws {
    let scene = try await PairingAttack(on: role)
    try await scene.meet()
    scene.attacker.transport.edit = { pdu in
      guard pdu[0] == code || code == 0x01 && pdu[0] == 0x02 else { return [pdu] }
      scene.victim.links.last?.end()
      return []
    }
    let attempt = spawn { await scene.pair() }
    await testTimers.sleep(for: .seconds(3))
    attempt.cancel()
    #expect(try await attempt.value != nil)
    #expect(try !scene.victim.link.isConnected)
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// A task that is cancelled returns at once. The pairing goes on, and whoever wants it next has it.
  @Test(arguments: [0x02, 0x0C, 0x04, 0x0D] as [UInt8])
  func cancelledTaskLeavesTheLinkUsable(_ code: UInt8) async throws {
    let scene = try await PairingAttack(on: .central)
    let link = try await scene.meet()
    var attempt: Task<StackError?, any Error>?
    var cancelled = false
    scene.attacker.transport.edit = { pdu in
      if pdu[0] == code {
        cancelled = true
        attempt?.cancel()
      }
      return [pdu]
    }
    attempt = spawn {
      do throws(StackError) { try await link.secure(to: .encrypted) } catch { return error }
      return nil
    }
    #expect(try await attempt?.value == .cancelled)
    #expect(cancelled)
    #expect(await scene.pair() == nil)
    #expect(link.security.isEncrypted && scene.victim.bonds.bonds.count == 1)
    await scene.stop()
  }

  /// The adapter is pulled out in each state.
  @Test(arguments: [LERole.central, .peripheral], [0x01, 0x0C, 0x04, 0x0D] as [UInt8])
  func adapterThatIsPulledOutLeavesNothing(_ role: LERole, _ code: UInt8) async throws {
    let scene = try await PairingAttack(on: role, .displayYesNo, .ask)
    try await scene.meet()
    let timers = testTimers
    scene.attacker.transport.edit = { pdu in
      guard pdu[0] == code || code == 0x01 && pdu[0] == 0x02 else { return [pdu] }
      timers.schedule(after: .zero) { scene.victim.transport.fail("it was pulled out") }
      return [pdu]
    }
    let attempt = spawn { await scene.pair(to: .authenticated) }
    await testTimers.sleep(for: .seconds(10))
    #expect(try await attempt.value != nil)
    #expect(scene.victim.bonds.bonds == [])
    #expect(try !scene.victim.link.isConnected)
    #expect(scene.victim.user.ends.count == min(1, scene.victim.user.questions.count))
    await scene.stop()
  }

  // MARK: Floods

  /// Requests of one who never goes on: each begins a pairing after a longer wait than the one before, and at most one question
  /// is open.
  @Test func pairingRequestFloodAsksOnceAtATime() async throws {
    let scene = try await PairingAttack(on: .peripheral, .noInputNoOutput, .ask)
    scene.victim.user.isAway = true
    let transport = scene.attacker.transport
    try await scene.meet()
    let request: [UInt8] = [0x01, 3, 0, 0x01, 16, 0, 0]
    for _ in 0..<600 {
      transport.send(request)
      transport.send([0x05, 0x08])
      await testTimers.sleep(for: .milliseconds(100))
    }
    // After 1, 2, 4, 8, 16 and 32 seconds.
    let began = transport.heard.filter { $0[0] == 0x02 }.count
    #expect((4...7).contains(began), "\(began)")
    #expect(scene.victim.user.questions.count == scene.victim.user.ends.count)
    #expect(scene.victim.adapter.waitingPackets <= 512)
    scene.checkNothingIsGained()
    await scene.part()
    try await scene.checkLaterAttempt()
  }

  /// The same over a new link each time: the loss of a link does not shorten the wait.
  @Test func reconnectingDoesNotShortenTheWait() async throws {
    let scene = try await PairingAttack(on: .peripheral, .noInputNoOutput, .ask)
    scene.victim.user.isAway = true
    let begin = testTimers.now
    let transport = scene.attacker.transport
    transport.edit = { _ in [] }
    while testTimers.now - begin < .seconds(60) {
      try await scene.meet()
      transport.send([0x01, 3, 0, 0x01, 16, 0, 0])
      await testTimers.sleep(for: .milliseconds(200))
      await scene.part()
    }
    let began = transport.heard.filter { $0[0] == 0x02 }.count
    #expect((3...7).contains(began), "\(began)")
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// Pairing Failed is not answered, however often it comes.
  @Test(arguments: [LERole.central, .peripheral])
  func failureFloodIsNotAnswered(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role)
    try await scene.meet()
    for index in 0..<5000 {
      scene.attacker.transport.send([0x05, UInt8(index & 0xFF)])
      if index % 8 == 0 { await testTimers.sleep(for: .milliseconds(50)) }
    }
    #expect(scene.attacker.transport.heard == [])
    #expect(scene.victim.events.allSatisfy { if case .change = $0 { true } else { false } })
    try await scene.checkLaterAttempt()
  }

  /// Security Requests of a peer that refuses what it asks for.
  @Test func securityRequestFloodIsBounded() async throws {
    let scene = try await PairingAttack(on: .central)
    let transport = scene.attacker.transport
    transport.edit = { _ in [] }
    try await scene.meet()
    for _ in 0..<600 {
      for _ in 0..<4 { transport.send([0x0B, 0x01]) }
      await testTimers.sleep(for: .milliseconds(100))
      if transport.heard.last?[0] == 0x01 { transport.send([0x05, 0x05]) }
    }
    let began = transport.heard.filter { $0[0] == 0x01 }.count
    #expect((4...7).contains(began), "\(began)")
    #expect(transport.heard.count < 130, "\(transport.heard.count)")
    scene.checkNothingIsGained()
    try await scene.checkLaterAttempt()
  }

  /// Security Requests on a link that is encrypted begin no pairing.
  @Test func securityRequestsOnAnEncryptedLinkBeginNothing() async throws {
    let scene = try await PairingAttack(on: .central)
    scene.victim.security.settings.bonds = false
    try await scene.meet()
    #expect(await scene.pair() == nil)
    let count = scene.attacker.transport.heard.count
    for _ in 0..<30 {
      scene.attacker.transport.send([0x0B, 0x01])
      await testTimers.sleep(for: .seconds(2))
    }
    #expect(!scene.attacker.transport.heard[count...].contains { $0[0] == 0x01 })
    #expect(scene.victim.events.count { if case .paired = $0 { true } else { false } } == 1)
    await scene.stop()
  }

  /// What only the other role sends is refused, and begins nothing.
  @Test func requestsOfTheWrongRoleAreRefused() async throws {
    for role in [LERole.central, .peripheral] {
      let scene = try await PairingAttack(on: role)
      try await scene.meet()
      scene.attacker.transport.send(role == .central ? [0x01, 3, 0, 1, 16, 0, 0] : [0x0B, 1])
      await testTimers.sleep(for: .seconds(1))
      #expect(scene.attacker.transport.heard == [[0x05, 0x07]])
      scene.checkNothingIsGained()
      try await scene.checkLaterAttempt()
    }
  }
}
