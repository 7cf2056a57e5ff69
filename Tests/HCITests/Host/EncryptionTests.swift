import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// The encryption of links: what the host does with the events of the controller.
struct EncryptionTests {
  private static let key = LongTermKey(Array(0..<16), random: 0x0102_0304_0506_0708, diversifier: 0x1234)
  private static let keyHex = "000102030405060708090a0b0c0d0e0f"
  private static let enable = "0119201c" + "4000" + "0807060504030201" + "3412" + keyHex

  /// A controller with a link in the peripheral role.
  private func accepted(
    _ key: @escaping (UInt64, UInt16) -> LongTermKey? = { _, _ in nil }
  ) throws -> (ScriptedController, LEConnection) {
    let controller = ScriptedController.ready()
    var links: [LEConnection] = []
    controller.host.onAccepted = {
      $0.onKeyRequest = key
      links.append($0)
    }
    controller.connectionComplete(0x40, role: .peripheral)
    return (controller, try #require(links.first))
  }

  private func request(_ controller: ScriptedController) {
    controller.receive("043e0d" + "05" + "4000" + "0807060504030201" + "3412")
  }

  private func encryptionChange(_ controller: ScriptedController, _ status: String = "00", on: String = "01")
  {
    controller.receive("040804" + status + "4000" + on)
  }

  @Test func theCentralEncrypts() throws {
    let controller = ScriptedController.ready()
    let attempt = controller.established()
    let link = try #require(attempt.link)
    var results: [Result<Void, StackError>] = []
    link.encrypt(with: Self.key) { results.append($0) }
    #expect(controller.takeSent() == [Self.enable])
    controller.status(LEEnableEncryption.opcode)
    #expect(results.isEmpty && !link.isEncrypted)
    encryptionChange(controller)
    try #require(results.first).get()
    #expect(results.count == 1 && link.isEncrypted && attempt.encryptions == [true])
    // An encrypted link gets another key: the other event says so.
    let other = LongTermKey(Array(repeating: 7, count: 16))
    link.encrypt(with: other) { results.append($0) }
    controller.answerAll()
    controller.status(LEEnableEncryption.opcode)
    // Until then, what the old key is worth counts.
    #expect(link.key == Self.key)
    controller.receive("04300300" + "4000")
    #expect(link.key == other)
    #expect(results.count == 2 && link.isEncrypted && attempt.encryptions == [true, true])
  }

  /// bluez/bluez 138: the peer has lost its key.
  @Test func aPeerWithoutTheKeyIsAnError() throws {
    let controller = ScriptedController.ready()
    let attempt = controller.established()
    let link = try #require(attempt.link)
    var results: [Result<Void, StackError>] = []
    link.encrypt(with: Self.key) { results.append($0) }
    controller.status(LEEnableEncryption.opcode)
    encryptionChange(controller, "06", on: "00")
    #expect(throws: StackError.commandFailed(LEEnableEncryption.opcode, .pinOrKeyMissing)) {
      try results.first?.get()
    }
    #expect(!link.isEncrypted && link.isConnected && attempt.encryptions == [])
  }

  /// bluez/bluez 1776: the keys differ, so that the link is lost.
  @Test func theEndOfTheLinkEndsTheWait() throws {
    let controller = ScriptedController.ready()
    let attempt = controller.established()
    var results: [Result<Void, StackError>] = []
    try #require(attempt.link).encrypt(with: Self.key) { results.append($0) }
    controller.status(LEEnableEncryption.opcode)
    controller.disconnected(0x40, .micFailure)
    #expect(throws: StackError.notConnected) { try results.first?.get() }
    #expect(results.count == 1 && attempt.losses == [.micFailure])
  }

  @Test func aLinkThatBecomesClearIsEnded() throws {
    let controller = ScriptedController.ready()
    let link = try #require(controller.established().link)
    encryptionChange(controller)
    #expect(link.isEncrypted)
    _ = controller.takeSent()
    encryptionChange(controller, on: "00")
    #expect(!link.isEncrypted && controller.takeSent() == ["01060403400013"])
  }

  @Test func aRefreshThatFailsLeavesItClear() throws {
    let controller = ScriptedController.ready()
    let link = try #require(controller.established().link)
    encryptionChange(controller)
    controller.receive("04300306" + "4000")
    #expect(!link.isEncrypted)
  }

  /// MillerTechnologyPeru/hcitool 31, nrfconnect/sdk-nrf 3695: each request gets an answer, of whatever role.
  @Test func aRequestWithoutAKeyIsAnswered() throws {
    let (controller, _) = try accepted()
    _ = controller.takeSent()
    request(controller)
    #expect(controller.takeSent() == ["011b20024000"])
    let central = ScriptedController.ready()
    let link = try #require(central.established().link)
    link.onKeyRequest = { _, _ in Self.key }
    request(central)
    #expect(central.takeSent() == ["011b20024000"])
  }

  /// google/bumble 890: Rand and EDIV name the key.
  @Test func theKeyIsGivenByItsName() throws {
    var asked: [(UInt64, UInt16)] = []
    let (controller, link) = try accepted { random, diversifier in
      asked.append((random, diversifier))
      return Self.key
    }
    _ = controller.takeSent()
    request(controller)
    #expect(controller.takeSent() == ["011a2012" + "4000" + Self.keyHex])
    #expect(asked.count == 1 && asked[0] == (Self.key.random, Self.key.diversifier))
    controller.complete(LELongTermKeyRequestReply.opcode)
    encryptionChange(controller)
    #expect(link.isEncrypted)
  }

  @Test func aRequestOfNoLinkIsIgnored() {
    let controller = ScriptedController.ready()
    request(controller)
    encryptionChange(controller)
    #expect(controller.takeSent() == [])
  }

  /// The events are asked for, as far as the controller has the feature.
  @Test func theEventsAreEnabled() {
    #expect(LEEventMask.host([.encryption]).contains(.longTermKeyRequest))
    #expect(!LEEventMask.host([]).contains(.longTermKeyRequest))
    #expect(LEEventMask.host([.extendedAdvertising]).contains(.advertisingSetTerminated))
    #expect(EventMask.host.contains(.encryptionKeyRefreshComplete))
  }
}

extension ScriptedController.Attempt {
  fileprivate var encryptions: [Bool] {
    changes.compactMap { if case .encryption(let isOn) = $0 { isOn } else { nil } }
  }
}
