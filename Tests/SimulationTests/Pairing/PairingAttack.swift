import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import TestLoop
import TestSupport
import Testing

@testable import HaloSimulation

/// A device and one that attacks it, in one air. The attacker is a host of this package whose PDUs are changed on their way: it
/// has all keys that an attacker may have.
@BluetoothActor final class PairingAttack {
  let victim: PairingDevice
  let attacker: PairingDevice
  /// The role of the victim.
  let role: LERole
  private let medium = RadioMedium(timers: testTimers)
  private let central: Central

  static let victimAddress: UInt64 = 0x001A_7DDA_7199
  static let attackerAddress: UInt64 = 0x001A_7DDA_7113

  init(
    on role: LERole, _ capability: IOCapability = .noInputNoOutput, _ policy: PairingPolicy = .justWorks,
    attackerAt address: BluetoothAddress? = nil
  ) async throws {
    self.role = role
    victim = try await PairingDevice(medium, Self.victimAddress, capability, policy)
    attacker = try await PairingDevice(
      medium, Self.attackerAddress, capability, policy, privateAddress: address)
    let peripheral = role == .central ? attacker : victim
    central = Central((role == .central ? victim : attacker).adapter)
    try peripheral.advertise()
  }

  /// Connects the two.
  ///
  /// - Returns: the link at the central
  @discardableResult
  func meet() async throws(StackError) -> GATTLink {
    let (device, peer) = role == .central ? (victim, attacker) : (attacker, victim)
    let link = try await central.connect(ConnectionRequest(peer: peer.address))
    device.add(link)
    await testTimers.sleep(for: .seconds(1))
    return link
  }

  /// The central pairs.
  ///
  /// - Returns: why that has failed; nil if it has not
  @discardableResult
  func pair(to level: LESecurityLevel = .encrypted) async -> StackError? {
    let device = role == .central ? victim : attacker
    do throws(StackError) {
      guard let link = device.links.last else { return .notConnected }
      try await link.secure(to: level)
      await testTimers.sleep(for: .seconds(1))
      return nil
    } catch {
      await testTimers.sleep(for: .seconds(1))
      return error
    }
  }

  func part() async {
    await (role == .central ? victim : attacker).links.last?.disconnect()
    await testTimers.sleep(for: .seconds(1))
  }

  /// What the victim has sent last.
  var answer: [UInt8]? { attacker.transport.heard.last }

  /// The victim has kept nothing, and its link is in clear.
  func checkNothingIsGained(_ location: SourceLocation = #_sourceLocation) {
    #expect(victim.bonds.bonds == [], sourceLocation: location)
    #expect(victim.links.last?.security.isEncrypted != true, sourceLocation: location)
    let isPaired = victim.events.contains { if case .paired = $0 { true } else { false } }
    #expect(!isPaired, sourceLocation: location)
  }

  /// After the longest wait, an honest attempt works.
  func checkLaterAttempt(_ location: SourceLocation = #_sourceLocation) async throws {
    attacker.transport.edit = { [$0] }
    attacker.transport.editPacket = { [$0] }
    victim.transport.editPacket = { [$0] }
    victim.user.isAway = false
    // The attacker may have finished.
    attacker.bonds.bonds = []
    await testTimers.sleep(for: .seconds(70))
    if try !victim.link.isConnected { try await meet() }
    #expect(await pair() == nil, sourceLocation: location)
    #expect(victim.bonds.bonds.count == 1, sourceLocation: location)
    #expect(try victim.link.security.isEncrypted, sourceLocation: location)
    await central.stop()
  }

  func stop() async { await central.stop() }
}

/// What an attacker does to one of its PDUs.
enum FalsePDU: String, CaseIterable {
  case keyOffTheCurve, keyWithoutY, debugKey, sameKey, sameX
  case shortKey, almostLongKey, longKey, unknownCapability, unknownFlag, dataOutOfBand
  case publicKeyFirst, checkInPlaceOfRandom, randomInPlaceOfCheck, identityBeforeEncryption
  case changedCheck, featuresAgain
  case cutFeatures, cutKey, cutRandom, cutCheck, longFeatures, longKeyPDU, longRandom, longCheck

  /// Whether an attacker can do it to a victim in this role: the key of an initiator is sent before that of the responder.
  func fits(_ role: LERole) -> Bool { role == .central || self != .sameKey && self != .sameX }

  /// - Parameter heard: the PDUs of the victim
  func applied(to pdu: [UInt8], after heard: [[UInt8]]) -> [UInt8] {
    var pdu = pdu
    let isFeatures = pdu[0] == 0x01 || pdu[0] == 0x02
    switch (self, pdu[0]) {
    case (.keyOffTheCurve, 0x0C): pdu[64] ^= 1
    case (.keyWithoutY, 0x0C): pdu.replaceSubrange(33..<65, with: [UInt8](repeating: 0, count: 32))
    case (.debugKey, 0x0C): pdu.replaceSubrange(1..<33, with: Self.debugX)
    case (.sameKey, 0x0C): return heard.last { $0[0] == 0x0C } ?? []
    case (.sameX, 0x0C): pdu.replaceSubrange(1..<33, with: (heard.last { $0[0] == 0x0C } ?? [])[1..<33])
    case (.shortKey, _) where isFeatures: pdu[4] = 7
    case (.almostLongKey, _) where isFeatures: pdu[4] = 15
    case (.longKey, _) where isFeatures: pdu[4] = 17
    case (.unknownCapability, _) where isFeatures: pdu[1] = 5
    case (.unknownFlag, _) where isFeatures: pdu[2] = 2
    case (.dataOutOfBand, _) where isFeatures: pdu[2] = 1
    case (.publicKeyFirst, _) where isFeatures: return [0x0C] + [UInt8](repeating: 1, count: 64)
    case (.checkInPlaceOfRandom, 0x04): pdu[0] = 0x0D
    case (.randomInPlaceOfCheck, 0x0D): pdu[0] = 0x04
    case (.identityBeforeEncryption, 0x0D): pdu[0] = 0x08
    case (.changedCheck, 0x0D): pdu[16] ^= 0x80
    case (.featuresAgain, 0x0C): return [0x01, 3, 0, 1, 16, 0, 0]
    case (.cutFeatures, _) where isFeatures: pdu.removeLast()
    case (.longFeatures, _) where isFeatures: pdu.append(0)
    case (.cutKey, 0x0C), (.cutRandom, 0x04), (.cutCheck, 0x0D): pdu.removeLast()
    case (.longKeyPDU, 0x0C), (.longRandom, 0x04), (.longCheck, 0x0D): pdu.append(0)
    default: break
    }
    return pdu
  }

  /// The reason with which the victim ends it.
  var reason: PairingFailureReason {
    switch self {
    case .keyOffTheCurve, .keyWithoutY, .sameKey, .sameX, .changedCheck: .dhKeyCheckFailed
    case .debugKey: .authenticationRequirements
    case .shortKey, .almostLongKey: .encryptionKeySize
    case .dataOutOfBand: .oobNotAvailable
    case .longKey, .unknownCapability, .unknownFlag: .invalidParameters
    case .publicKeyFirst, .checkInPlaceOfRandom, .randomInPlaceOfCheck, .identityBeforeEncryption,
      .featuresAgain:
      .unspecifiedReason
    case .cutFeatures, .cutKey, .cutRandom, .cutCheck, .longFeatures, .longKeyPDU, .longRandom, .longCheck:
      .invalidParameters
    }
  }

  /// As on the wire.
  static let debugX: [UInt8] = [
    0xE6, 0x9D, 0x35, 0x0E, 0x48, 0x01, 0x03, 0xCC, 0xDB, 0xFD, 0xF4, 0xAC, 0x11, 0x91, 0xF4, 0xEF, 0xB9,
    0xA5, 0xF9, 0xE9, 0xA7, 0x83, 0x2C, 0x5E, 0x2C, 0xBE, 0x97, 0xF2, 0xD2, 0x03, 0xB0, 0x20,
  ]
}
