import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import L2CAP
import TestLoop
import TestSupport
import Testing

@testable import HaloSimulation

/// Attacks on bonds: an attacker wants a bond replaced by one of its own, forgotten, or not used.
@BluetoothActor
@Suite(.onTheLoop, .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct BondAttackTests {
  private static let other = BluetoothAddress(0x0002_5B00_0001, .public)
  /// Changes, and nobody knows the key of it.
  private static let hidden = BluetoothAddress(0x5000_0000_0001, .random)

  private func bond(with peer: BluetoothAddress, isAuthenticated: Bool = false) -> Bond {
    var bond = Bond(
      peer: peer, own: BluetoothAddress(PairingAttack.victimAddress, .public), isSecureConnections: true)
    let key = LongTermKey([UInt8](repeating: 5, count: 16), isAuthenticated: isAuthenticated)
    (bond.keyAsCentral, bond.keyAsPeripheral) = (key, key)
    return bond
  }

  /// Has the attacker say, after a pairing that is otherwise honest, that it is another device.
  private func claim(_ identity: BluetoothAddress, in scene: PairingAttack) async throws {
    let transport = scene.attacker.transport
    var signingKeys: [[UInt8]] = []
    transport.edit = { pdu in
      var pdu = pdu
      // It follows the identity.
      if pdu[0] == 0x0A {
        signingKeys.append(pdu)
        return []
      }
      if scene.role == .central, pdu[0] == 0x02 { pdu[6] |= 2 }
      if scene.role == .peripheral, pdu[0] == 0x01 { pdu[5] |= 2 }
      return [pdu]
    }
    // The attacker's host has not promised that.
    transport.editPacket = { packet in
      var packet = packet
      if packet[0] == 2, packet.count > 14, packet[7] == 6, packet[9] == 0x02 { packet[14] &= ~2 }
      return [packet]
    }
    try await scene.meet()
    let attempt = spawn { await scene.pair() }
    await testTimers.sleep(for: .seconds(5))
    transport.send([0x08] + [UInt8](repeating: 1, count: 16))
    transport.send(IdentityAddressInformation { $0.address = identity }.pdu)
    for key in signingKeys { transport.send(key) }
    await testTimers.sleep(for: .seconds(5))
    _ = try await attempt.value
  }

  /// BLERP (CVE-2025-62235): who pairs at an address that changes can say that it is any device. The bond of that one stays,
  /// whatever the new pairing is worth, unless the owner has allowed it to pair anew.
  @Test(arguments: [LERole.central, .peripheral], [false, true])
  func claimedIdentityOfABondedDeviceReplacesNothing(_ role: LERole, _ isAllowed: Bool) async throws {
    let scene = try await PairingAttack(on: role, attackerAt: Self.hidden)
    let bond = bond(with: Self.other)
    scene.victim.bonds.bonds = [bond]
    scene.victim.security.settings.allowsRepairing = isAllowed
    try await claim(Self.other, in: scene)
    #expect((scene.victim.bonds.bonds == [bond]) == !isAllowed)
    #expect(scene.victim.bonds.bonds.count == 1)
    if !isAllowed {
      #expect(try !scene.victim.link.isConnected)
      #expect(scene.victim.events.contains(.pairingFailed(.repairingRefused(Self.other))))
    }
    await scene.stop()
  }

  /// An unknown device may say who it is.
  @Test(arguments: [LERole.central, .peripheral])
  func claimedIdentityOfAnUnknownDeviceIsKept(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role, attackerAt: Self.hidden)
    try await claim(Self.other, in: scene)
    #expect(scene.victim.bonds.bonds.map(\.peer) == [Self.other])
    await scene.stop()
  }

  /// Who pairs with a server while nobody compares a number may be any device: this side does not connect to it as that one,
  /// and does not know it in scans.
  @Test func claimedIdentityIsNoneForTheOtherRole() async throws {
    let scene = try await PairingAttack(on: .peripheral, attackerAt: Self.hidden)
    try await claim(Self.other, in: scene)
    let security = scene.victim.security
    let own = BluetoothAddress(PairingAttack.victimAddress, .public)
    let key = try #require(LibcryptoCryptography.shared).blockCipher(key: [UInt8](repeating: 1, count: 16))
    let address = try #require(try ResolvableAddress(random: 7, key)).address
    let (asCentral, asPeripheral) = (security.bonded(.central), security.bonded(.peripheral))
    #expect(asPeripheral.identity(of: address) == Self.other)
    #expect(asCentral.identity(of: address) == address)
    #expect(asPeripheral.bond(with: address, as: own) != nil)
    #expect(asCentral.bond(with: Self.other, as: own) == nil)
    #expect(!asCentral.mayHide(Self.other) && asPeripheral.mayHide(Self.other))
    await scene.stop()
  }

  /// A device with an address that changes and without an identity can't be recognized: its keys are for this link only, and
  /// do not fill the store.
  @Test(arguments: [LERole.central, .peripheral])
  func deviceWithoutIdentityFillsNoStore(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role, attackerAt: Self.hidden)
    try await scene.meet()
    #expect(await scene.pair() == nil)
    #expect(scene.victim.bonds.bonds == [])
    #expect(try scene.victim.link.security.isEncrypted)
    await scene.stop()
  }

  /// A new pairing over the encrypted link of a bond is not weaker than that.
  @Test(arguments: [LERole.central, .peripheral], [3, 1, 4])
  func bondIsNotReplacedByAWeakerOne(_ role: LERole, _ field: Int) async throws {
    let scene = try await PairingAttack(on: role, .displayYesNo, .ask)
    try await scene.meet()
    #expect(await scene.pair(to: .authenticated) == nil)
    let bonds = scene.victim.bonds.bonds
    #expect(bonds.map(\.strength.isAuthenticated) == [true])
    scene.victim.security.settings.minimumKeySize = 7
    let transport = scene.attacker.transport
    transport.edit = { pdu in
      guard pdu[0] <= 0x02 else { return [pdu] }
      var pdu = pdu
      // Without Secure Connections; without a display; with a short key.
      pdu[field] = [3: 0x05, 1: 3, 4: 7][field] ?? 0
      return [pdu]
    }
    if role == .central {
      // The victim's program wants nothing; the attacker asks, and gets encryption.
      transport.send([0x0B, 0x01])
    } else {
      transport.send(
        [0x01, 4, 0, 0x0D, 16, 1, 3].enumerated().map {
          $0 == field ? [3: 0x05, 1: 3, 4: 7][field] ?? 0 : $1
        })
    }
    await testTimers.sleep(for: .seconds(5))
    #expect(scene.victim.bonds.bonds == bonds)
    if role == .peripheral { #expect(transport.heard.last.map { $0[0] } == 0x05) }
    await scene.stop()
  }

  /// Who asks to pair without the key evicts no bond, in either role and however often.
  @Test(arguments: [LERole.central, .peripheral])
  func requestsWithoutTheKeyEvictNoBond(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role)
    scene.victim.bonds.bonds = [bond(with: scene.attacker.address)]
    let bonds = scene.victim.bonds.bonds
    let transport = scene.attacker.transport
    if role == .central {
      // The first link ends, as the attacker has no key; it asks at once on it.
      let timers = testTimers
      transport.onLink = { [unowned transport] in
        timers.schedule(after: .milliseconds(1)) { transport.send([0x0B, 0x01]) }
      }
      do throws(StackError) {
        try await scene.meet()
        Issue.record("a link in clear")
      } catch {
        #expect(error.code == .keyMissing)
      }
    } else {
      try await scene.meet()
      for _ in 0..<100 {
        transport.send([0x01, 3, 0, 0x09, 16, 3, 3])
        await testTimers.sleep(for: .milliseconds(100))
      }
      #expect(transport.heard.allSatisfy { $0 == [0x05, 0x03] } && !transport.heard.isEmpty)
      #expect(scene.victim.user.questions == [])
    }
    #expect(scene.victim.bonds.bonds == bonds)
    await scene.stop()
  }

  /// A bond with keys for one role only is not replaced by a pairing in clear in the other role.
  @Test(arguments: [true, false])
  func bondOfTheOtherRoleIsNotReplacedInClear(_ isWish: Bool) async throws {
    let scene = try await PairingAttack(on: .central)
    var bond = bond(with: scene.attacker.address)
    bond.isSecureConnections = false
    bond.keyAsCentral = nil
    scene.victim.bonds.bonds = [bond]
    do throws(StackError) {
      try await scene.meet()
      if isWish {
        scene.attacker.transport.send([0x0B, 0x01])
        await testTimers.sleep(for: .seconds(5))
      } else {
        _ = await scene.pair()
      }
    } catch {
      #expect(error.code == .pairingFailed)
    }
    #expect(scene.victim.bonds.bonds == [bond])
    await scene.stop()
  }

  /// The owner pairs with a device in whose name another one has paired with the server, while nobody compared a number.
  @Test(arguments: [false, true]) func ownerReplacesABondThatNobodyChecked(_ isWanted: Bool) async throws {
    let scene = try await PairingAttack(on: .central)
    var bond = bond(with: scene.attacker.address)
    bond.keyAsCentral = nil
    scene.victim.bonds.bonds = [bond]
    scene.victim.security.settings.replacesUncheckedBonds = isWanted
    try await scene.meet()
    let error = await scene.pair()
    #expect((error == nil) == isWanted && (scene.victim.bonds.bonds == [bond]) != isWanted)
    #expect(scene.victim.bonds.bonds.count == 1)
    await scene.stop()
  }

  /// BLESA: the false peer of a bond sends values at once, in clear. It has no key, so there is no link to a program, and
  /// nothing but a confirmation was sent to it.
  @Test func valuesInClearOfABondedPeerAreDropped() async throws {
    let scene = try await PairingAttack(on: .central)
    scene.victim.bonds.bonds = [bond(with: scene.attacker.address)]
    let transport = scene.attacker.transport
    let timers = testTimers
    transport.onLink = { [unowned transport] in
      for delay in 1...40 {
        timers.schedule(after: .milliseconds(delay)) {
          transport.sendFrame(.attribute, [0x1B, 3, 0, 9])
          transport.sendFrame(.attribute, [0x1D, 3, 0, 9])
          transport.sendFrame(.attribute, [0x0B, 9])
        }
      }
    }
    do throws(StackError) {
      try await scene.meet()
      Issue.record("a link in clear to a bonded peer")
    } catch {
      #expect(error == .keyMissing(at: scene.attacker.address))
    }
    #expect(transport.attributePDUs.allSatisfy { $0 == [0x1E] })
    #expect(scene.victim.bonds.bonds.count == 1)
    await scene.stop()
  }

  /// A bonded peer that does not go on with encryption holds nobody up for the 40 s that a controller waits.
  @Test func silenceInsteadOfEncryptionEndsTheAttempt() async throws {
    let scene = try await PairingAttack(on: .central)
    try await scene.meet()
    #expect(await scene.pair() == nil)
    await scene.part()
    scene.victim.transport.editPacket = { packet in packet[0] == 4 && packet[1] == 0x08 ? [] : [packet] }
    let begin = testTimers.now
    do throws(StackError) {
      try await scene.meet()
      Issue.record("a link in clear to a bonded peer")
    } catch {
      #expect(error == .encryptionTimedOut(scene.attacker.address))
    }
    #expect(testTimers.now - begin <= ConnectionRequest(peer: scene.attacker.address).deadline + .seconds(6))
    scene.victim.transport.editPacket = { [$0] }
    try await scene.meet()
    #expect(try scene.victim.link.security.isEncrypted)
    await scene.stop()
  }

  /// A server gives a bonded client nothing that needs encryption before its link is encrypted, and tells it why.
  @Test func bondedClientInClearGetsNoValue() async throws {
    let scene = try await PairingAttack(on: .peripheral)
    scene.attacker.security.settings.policy = .encryptOnly
    scene.victim.bonds.bonds = [bond(with: scene.attacker.address)]
    let link = try await scene.meet()
    do throws(StackError) {
      _ = try await link.gatt.readFirst(uuid: PairingDevice.encryptedType)
      Issue.record("a value in clear")
    } catch {
      #expect(error.attCode == .insufficientEncryption)
    }
    await scene.stop()
  }

  /// A bond that could not be stored does not replace the one in the store, and the program is told.
  @Test(arguments: [LERole.central, .peripheral])
  func bondThatCannotBeStoredLeavesTheOldOne(_ role: LERole) async throws {
    let scene = try await PairingAttack(on: role)
    let bond = bond(with: Self.other)
    scene.victim.bonds.bonds = [bond]
    scene.victim.bonds.failure = BondStoreError("the disk is full")
    try await scene.meet()
    #expect(await scene.pair() == nil)
    #expect(scene.victim.bonds.bonds == [bond])
    #expect(scene.victim.unkept == [BondStoreError("the disk is full")])
    #expect(try scene.victim.link.security.isEncrypted)
    await scene.part()
    scene.victim.bonds.failure = nil
    // The attacker has a bond now, and gets no link to a device that has none.
    scene.attacker.bonds.bonds = []
    try await scene.meet()
    #expect(await scene.pair() == nil)
    #expect(scene.victim.bonds.bonds.count == 2)
    await scene.stop()
  }
}
