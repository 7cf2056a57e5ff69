import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSecurityManager
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloSimulation

/// Two bonded hosts on a link in clear, a central that signs what it writes, and an attacker who has heard it.
///
/// The faults are those of others: BlueZ's `handle_signed` (src/shared/att.c) takes over the counter of a command before it has
/// checked its signature, and `remote_counter` (src/device.c) accepts the last one again; Zephyr loses counters with a restart
/// (issue 115879), and takes no signature after a gap (pull request 115877); Mbed OS let plain writes pass where a signature
/// was needed (pull request 9991), and had one key for all peers, by which they could follow a device (15281).
@BluetoothActor
@Suite(.onTheLoop, .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct SignedWriteTests {
  private let medium = RadioMedium(timers: testTimers)
  private let device: PairingDevice
  private let phone: PairingDevice
  private let central: Central

  init() async throws {
    device = try await PairingDevice(medium, 0x001A_7DDA_7199, .noInputNoOutput, .justWorks)
    phone = try await PairingDevice(medium, 0x001A_7DDA_7113, .noInputNoOutput, .justWorks)
    central = Central(phone.adapter)
    try device.advertise()
  }

  // MARK: The scene

  private func connect(inClear isInClear: Bool = true) async throws(StackError) -> GATTLink {
    var request = ConnectionRequest(peer: device.address)
    request.firstEncryption = isInClear ? .never : .ifBonded
    let link = try await central.connect(request)
    phone.add(link)
    await pass()
    return link
  }

  /// What was sent has arrived, and what waits is done.
  private func pass() async { await testTimers.sleep(for: .seconds(1)) }

  private func pair() async throws {
    let link = try await connect()
    try await link.secure(to: .encrypted)
    await pass()
    await link.disconnect()
    await pass()
  }

  /// Writes one byte, signed.
  private func write(_ value: UInt8, to handle: AttributeHandle? = nil, over link: GATTLink) async throws {
    try await link.gatt.writeWithoutResponse(
      [value], to: handle ?? device.signed, .signed, within: .seconds(1))
    await pass()
  }

  private var value: [UInt8]? { device.database.value(of: device.signed) }
  private var ownCounter: UInt32? { phone.bonds.bonds.first?.ownSigning?.counter }
  private var peerCounter: UInt32? { device.bonds.bonds.first?.peerSigning?.counter }
  private var refusals: [SignatureFault] {
    device.events.compactMap { if case .signatureRefused(let fault) = $0 { fault } else { nil } }
  }
  /// The signed writes that the device has received.
  private var heard: [[UInt8]] { device.transport.attributePDUs.filter { $0[0] == 0xD2 } }

  /// Sends a PDU as the phone, or as an attacker at its address.
  private func send(_ pdu: [UInt8]) async {
    phone.transport.sendFrame(.attribute, pdu)
    await pass()
  }

  /// A command with the signature that the phone's key makes.
  private func command(_ value: [UInt8], _ counter: UInt32, to handle: AttributeHandle? = nil) throws
    -> [UInt8]
  {
    let functions = SecurityFunctions(try #require(LibcryptoCryptography.shared))
    let key = try #require(phone.bonds.bonds.first?.ownSigning?.key)
    var command = ATTSignedWriteCommand(
      handle ?? device.signed, value: value, signature: ATTSignature(counter: counter, code: 0))
    command.signature.code = try functions.signature(of: command.message, counter, key: key)
    return command.bytes
  }

  // MARK: Errands

  @Test func signedWriteIsTakenInClear() async throws {
    try await pair()
    #expect(ownCounter == 0 && peerCounter == 0)
    let link = try await connect()
    #expect(!link.security.isEncrypted)
    try await write(1, over: link)
    #expect(value == [1] && heard.count == 1 && peerCounter == 1)
    try await write(2, over: link)
    #expect(value == [2] && peerCounter == 2 && refusals == [])
    // The link has taken a step of counters; what it has not used is there again when it has ended.
    #expect(ownCounter == 100)
    await link.disconnect()
    await pass()
    #expect(ownCounter == 2)
    let again = try await connect()
    try await write(3, over: again)
    #expect(value == [3] && peerCounter == 3)
    await central.stop()
  }

  /// Also the peripheral has a key of the central, and the central one of the peripheral: each side can be the server.
  @Test func bothSidesHaveKeysOfTheirOwn() async throws {
    try await pair()
    let (ofPhone, ofDevice) = (try #require(phone.bonds.bonds.first), try #require(device.bonds.bonds.first))
    #expect(ofPhone.ownSigning == ofDevice.peerSigning && ofPhone.peerSigning == ofDevice.ownSigning)
    #expect(ofPhone.ownSigning != nil && ofPhone.ownSigning != ofPhone.peerSigning)
    phone.bonds.bonds = []
    device.bonds.bonds = []
    try await pair()
    let new = try #require(phone.bonds.bonds.first)
    #expect(
      new.ownSigning?.key != ofPhone.ownSigning?.key && new.peerSigning?.key != ofPhone.peerSigning?.key)
    await central.stop()
  }

  /// An encrypted link needs no signature, and BlueZ (82f925a58) and NimBLE (pull request 1672) came to send a plain command
  /// there, too.
  @Test func encryptedLinkGetsAPlainCommand() async throws {
    try await pair()
    let link = try await connect(inClear: false)
    #expect(link.security.isEncrypted)
    try await write(7, over: link)
    #expect(value == [7] && heard == [])
    #expect(device.transport.attributePDUs.contains { $0[0] == 0x52 })
    #expect(peerCounter == 0)
    await central.stop()
  }

  @Test func signedCommandOverAnEncryptedLinkIsIgnored() async throws {
    try await pair()
    let link = try await connect(inClear: false)
    await send(try command([7], 0))
    #expect(heard.count == 1 && value == [0] && peerCounter == 0)
    #expect(link.isConnected)
    await central.stop()
  }

  /// Many at once are kept in few steps, and none is lost.
  @Test func burstIsTakenWithFewChangesOfTheFile() async throws {
    try await pair()
    let link = try await connect()
    var written: [UInt8] = []
    try device.link.server?.onEvent = { if case .written(_, let value) = $0 { written += value } }
    let before = device.bonds.count
    for number in 0..<50 {
      try await link.gatt.writeWithoutResponse(
        [UInt8(number)], to: device.signed, .signed, within: .seconds(1))
    }
    // Writes that still wait when the link ends are taken, too.
    await link.disconnect()
    await pass()
    #expect(written == Array(0..<50))
    #expect(peerCounter == 50 && ownCounter == 50)
    #expect((1...5).contains(device.bonds.count - before))
    await central.stop()
  }

  // MARK: Without a key

  @Test func withoutABondTheErrorSaysToPair() async throws {
    let link = try await connect()
    do throws(StackError) {
      try await link.gatt.writeWithoutResponse([1], to: device.signed, .signed, within: .seconds(1))
      Issue.record("a write was signed without a key")
    } catch {
      #expect(error.code == .pairingFailed && "\(error)".contains("pair with it"))
    }
    await pass()
    #expect(heard == [] && value == [0])
    await central.stop()
  }

  /// A peer that never asks for the keys of signatures: it pairs as before.
  @Test(arguments: [LERole.central, .peripheral])
  func peerWithoutSignaturesPairs(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role)
    // Its requests do not have the flag, and it does not see that of the others.
    scene.attacker.transport.edit = { pdu in
      guard pdu[0] == 0x01 else { return [pdu] }
      return [Array(pdu.prefix(5)) + pdu.suffix(2).map { $0 & ~4 }]
    }
    scene.attacker.transport.editPacket = { packet in
      guard packet.count == 16, packet[7] == 6, packet[9] == 0x01 else { return [packet] }
      return [Array(packet.prefix(14)) + packet.suffix(2).map { $0 & ~4 }]
    }
    try await scene.meet()
    #expect(await scene.pair() == nil)
    let bond = try #require(scene.victim.bonds.bonds.first)
    #expect(bond.keyAsPeripheral != nil && bond.ownSigning == nil && bond.peerSigning == nil)
    await scene.stop()
  }

  /// Stacks that have no key send zeros, as Bumble does. Anybody could sign with them.
  @Test func keyOfZerosIsNone() async throws {
    phone.transport.edit = { pdu in [pdu[0] == 0x0A ? [0x0A] + [UInt8](repeating: 0, count: 16) : pdu] }
    try await pair()
    let bond = try #require(device.bonds.bonds.first)
    #expect(bond.keyAsPeripheral != nil && bond.peerSigning == nil && bond.ownSigning != nil)
    _ = try await connect()
    phone.bonds.bonds[0].ownSigning?.key = [UInt8](repeating: 0, count: 16)
    await send(try command([1], 0))
    #expect(value == [0] && refusals == [.noKey])
    await central.stop()
  }

  // MARK: Attacks

  /// The last command again, an older one, the same on another link, and after the program was killed and has started again.
  @Test func recordedCommandsAreIgnored() async throws {
    try await pair()
    let link = try await connect()
    for number in 1...3 { try await write(UInt8(number), over: link) }
    let recorded = heard
    #expect(recorded.count == 3)
    try device.database.setValue([0], of: device.signed)
    for pdu in recorded.reversed() { await send(pdu) }
    #expect(value == [0] && refusals == [.usedCounter])
    await link.disconnect()
    // Nothing but the file of the bonds is left.
    device.restart()
    let again = try await connect()
    for pdu in recorded { await send(pdu) }
    #expect(value == [0] && refusals == [.usedCounter, .usedCounter])
    try await write(4, over: again)
    #expect(value == [4])
    await central.stop()
  }

  /// A command that is killed before it takes effect: its counter is kept before, not after.
  @Test func counterIsKeptBeforeTheWriteTakesEffect() async throws {
    try await pair()
    let link = try await connect()
    var kept: [UInt32?] = []
    try device.link.server?.onEvent = { [device] event in
      if case .written = event { kept.append(device.bonds.bonds.first?.peerSigning?.counter) }
    }
    for number in 1...3 { try await write(UInt8(number), over: link) }
    #expect(kept == [1, 2, 3])
    device.bonds.failure = BondStoreError("the disk is full")
    try await write(9, over: link)
    try await write(10, over: link)
    #expect(value == [3] && refusals == [.counterNotKept("the disk is full")])
    device.bonds.failure = nil
    try await write(11, over: link)
    #expect(value == [11] && peerCounter == 6)
    await central.stop()
  }

  /// A forged command with a high counter would shut the honest phone out, if the counter were taken over before the check.
  @Test func forgedCommandChangesNothing() async throws {
    try await pair()
    let link = try await connect()
    try await write(1, over: link)
    let honest = try command([9], 1)
    for place in honest.indices.dropFirst() {
      for bit in [0, 7] {
        var forged = honest
        forged[place] ^= 1 << bit
        phone.transport.sendFrame(.attribute, forged)
      }
    }
    var forged = try command([9], .max - 2)
    forged[forged.count - 1] ^= 1
    for _ in 0..<20 { phone.transport.sendFrame(.attribute, forged) }
    await pass()
    #expect(value == [1] && peerCounter == 1)
    // It is said once, and nothing is answered.
    #expect(refusals == [.wrongSignature])
    await send(honest)
    #expect(value == [9] && link.isConnected)
    await central.stop()
  }

  /// Commands are lost, for many reasons: with a queue, or a link.
  @Test func gapIsAccepted() async throws {
    try await pair()
    _ = try await connect()
    for (counter, expected) in [(0, 1), (7, 2), (1000, 3), (4_000_000_000, 4)] as [(UInt32, UInt8)] {
      await send(try command([expected], counter))
      #expect(value == [expected] && peerCounter == counter + 1)
    }
    await central.stop()
  }

  /// Wherever a command is sent to, it is used up: it can't be kept for a time at which it is allowed.
  @Test func commandThatIsNotPermittedIsUsedUp() async throws {
    try await pair()
    _ = try await connect()
    for handle in [device.encrypted, 0xFFF0, 1] {
      await send(try command([1], try #require(peerCounter), to: handle))
    }
    #expect(peerCounter == 3)
    #expect(device.database.value(of: device.encrypted) == [42])
    // Too long for the attribute; without a value; and less than a signature.
    await send(try command([1, 2], 3))
    await send(try command([], 4))
    for count in 1..<15 { await send(Array(try command([1], 5).prefix(count))) }
    #expect(peerCounter == 5 && refusals == [])
    await send(try command([5], 5))
    #expect(value == [5])
    await central.stop()
  }

  /// Plain writes, with and without response, where a signature is needed.
  @Test func plainWritesInClearAreRefused() async throws {
    try await pair()
    _ = try await connect()
    for handle in [device.signed, device.signedOrEncrypted] {
      await send(ATTWriteCommand(handle, value: [9]).bytes)
    }
    await send(ATTWriteRequest(device.signed, value: [9]).bytes)
    #expect(phone.transport.attributePDUs.last?.last == ATTErrorCode.writeNotPermitted.rawValue)
    await send(ATTWriteRequest(device.signedOrEncrypted, value: [9]).bytes)
    #expect(phone.transport.attributePDUs.last?.last == ATTErrorCode.insufficientEncryption.rawValue)
    #expect(value == [0] && device.database.value(of: device.signedOrEncrypted) == [0])
    await send(try command([4], 0, to: device.signedOrEncrypted))
    #expect(device.database.value(of: device.signedOrEncrypted) == [4])
    await central.stop()
  }

  /// A key of Just Works does not do where a person has to have compared a number.
  @Test func keyOfJustWorksIsNotAuthenticated() async throws {
    try await pair()
    var requirement = SecurityRequirement.encryptedOrSigned
    requirement.needsAuthentication = true
    let strict = device.database.addCharacteristic(
      0x2A41, .authenticatedSignedWrites, value: [0], security: requirement)
    _ = try await connect()
    await send(try command([1], 0, to: strict))
    #expect(device.database.value(of: strict) == [0])
    device.bonds.bonds[0].keyAsCentral?.isAuthenticated = true
    device.bonds.bonds[0].keyAsPeripheral?.isAuthenticated = true
    await send(try command([2], 1, to: strict))
    #expect(device.database.value(of: strict) == [2])
    await central.stop()
  }

  // MARK: Counters of this side

  /// The program is killed while a link is there: the counters that it may have used are not used again.
  @Test func killedProgramUsesNoCounterAgain() async throws {
    try await pair()
    let link = try await connect()
    try await write(1, over: link)
    let file = phone.bonds.bonds
    await link.disconnect()
    phone.bonds.bonds = file
    phone.restart()
    let again = try await connect()
    try await write(2, over: again)
    #expect(value == [2] && peerCounter == 101)
    await central.stop()
  }

  @Test func writeIsNotSentIfItsCounterIsNotKept() async throws {
    try await pair()
    let link = try await connect()
    phone.bonds.failure = BondStoreError("the disk is full")
    do throws(StackError) {
      try await link.gatt.writeWithoutResponse([1], to: device.signed, .signed, within: .seconds(1))
      Issue.record("a counter was used that can be used again")
    } catch {
      #expect("\(error)".contains("the disk is full"))
    }
    await pass()
    #expect(heard == [] && value == [0])
    phone.bonds.failure = nil
    try await write(1, over: link)
    #expect(value == [1])
    await central.stop()
  }

  /// There are 2^32 - 1 signatures, and no more.
  @Test func lastCounterIsTheEnd() async throws {
    try await pair()
    phone.bonds.bonds[0].ownSigning?.counter = .max - 2
    let link = try await connect()
    try await write(1, over: link)
    try await write(2, over: link)
    #expect(value == [2] && peerCounter == .max && ownCounter == .max)
    do throws(StackError) {
      try await link.gatt.writeWithoutResponse([3], to: device.signed, .signed, within: .seconds(1))
      Issue.record("a counter was used twice")
    } catch {
      #expect("\(error)".contains("signatures of the bond with 00:1A:7D:DA:71:99 are used"))
    }
    await send(try command([4], .max))
    await send(try command([4], 0))
    #expect(value == [2])
    await central.stop()
  }

  /// A value with a signature has 12 bytes less room. The counter of one that is too long is not used.
  @Test func longValueIsRefused() async throws {
    try await pair()
    let link = try await connect()
    let most = link.mtu - 15
    await #expect(throws: StackError.self) {
      try await link.gatt.writeWithoutResponse(
        [UInt8](repeating: 1, count: most + 1), to: device.signed, .signed, within: .seconds(1))
    }
    try await link.gatt.writeWithoutResponse(
      [UInt8](repeating: 1, count: most), to: device.signed, .signed, within: .seconds(1))
    await pass()
    // The attribute takes one byte; the signature is right.
    #expect(peerCounter == 1 && refusals == [])
    await central.stop()
  }

  /// The bond is forgotten while the link is there.
  @Test func forgottenBondSignsAndChecksNothing() async throws {
    try await pair()
    let link = try await connect()
    let later = try command([5], 1)
    try await write(1, over: link)
    device.bonds.bonds = []
    await send(later)
    #expect(value == [1] && refusals == [.noKey] && device.bonds.bonds == [])
    await link.disconnect()
    await pass()
    #expect(device.bonds.bonds == [])
    await central.stop()
  }
}
