import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// Controllers whose events are lost, late or doubled, as public reports describe them. The Core Specification has no word for
/// this: a host that believes everything waits for ever.
@Suite struct LostEventTests {
  let controller = ScriptedController.ready()
  private let other = BluetoothAddress(0xC0FF_EE00_0001, .random)

  private func creating(deadline: Duration = .seconds(30)) -> ScriptedController.Attempt {
    let attempt = controller.connect(deadline: deadline)
    controller.answerAll()
    _ = controller.takeSent()
    return attempt
  }

  /// The commands of a Reset and what follows are answered.
  private func expectReset(sourceLocation: SourceLocation = #_sourceLocation) {
    controller.answerAll()
    #expect(controller.takeOpcodes().contains(Reset.opcode), sourceLocation: sourceLocation)
  }

  // MARK: Lost

  /// LE Connection Complete is lost: the cancellation is disallowed, and the next creation is refused, as there is a link
  /// (espressif/esp-idf#7763, noble#354).
  @Test func aLinkWhoseBeginningWasLost() {
    let bystander = controller.established(0x41, peer: other)
    let attempt = creating(deadline: .seconds(5))
    controller.timers.advance(by: .seconds(5))
    controller.complete(LECreateConnectionCancel.opcode, .commandDisallowed)
    controller.timers.advance(by: .seconds(2))
    #expect(attempt.error == .peerNotFound(ScriptedController.peer, seconds: 5))
    _ = controller.takeSent()

    let next = controller.connect()
    controller.status(LECreateConnection.opcode, .connectionAlreadyExists)
    let error = StackError.hostControllerMismatch(
      .commandFailed(LECreateConnection.opcode, .connectionAlreadyExists))
    #expect(next.error == error)
    #expect(bystander.losses == [.hardwareFailure] && bystander.link?.failure == error)
    expectReset()
    #expect(controller.established().link != nil)
  }

  /// The completion of a cancelled creation is lost: the controller is still creating.
  @Test func aCreationWhoseEndWasLost() {
    let attempt = creating()
    attempt.giveUp()
    controller.complete(LECreateConnectionCancel.opcode)
    controller.timers.advance(by: .seconds(2))
    _ = controller.takeSent()
    let next = controller.connect()
    controller.status(LECreateConnection.opcode, .commandDisallowed)
    #expect(
      next.error == .hostControllerMismatch(.commandFailed(LECreateConnection.opcode, .commandDisallowed)))
    expectReset()
    #expect(controller.established().link != nil)
  }

  /// A creation that is refused now and then is not a reason: the next may be accepted.
  @Test func refusalsInARowAreAReasonForAReset() {
    for _ in 0..<2 {
      let attempt = controller.connect()
      controller.status(LECreateConnection.opcode, .commandDisallowed)
      #expect(attempt.error == .commandFailed(LECreateConnection.opcode, .commandDisallowed))
    }
    let attempt = controller.connect()
    controller.status(LECreateConnection.opcode, .commandDisallowed)
    #expect(
      attempt.error == .hostControllerMismatch(.commandFailed(LECreateConnection.opcode, .commandDisallowed)))
    expectReset()
  }

  @Test func aLinkThatHasNeverEndedIsReset() {
    let link = controller.established()
    link.link?.disconnect()
    controller.status(Disconnect.opcode)
    controller.timers.advance(by: .seconds(5))
    #expect(link.losses == [.connectionTerminatedByLocalHost])
    _ = controller.takeSent()
    let next = controller.connect()
    controller.status(LECreateConnection.opcode, .connectionAlreadyExists)
    #expect(
      next.error
        == .hostControllerMismatch(.commandFailed(LECreateConnection.opcode, .connectionAlreadyExists)))
    expectReset()
  }

  /// Disconnection Complete is lost, or the controller has restarted without a word: it does not know the link.
  @Test(arguments: ["rssi", "update", "phy", "length", "disconnect"])
  func aLinkWhoseEndWasLost(_ command: String) {
    let attempt = controller.established()
    let link = attempt.link
    var results = 0
    switch command {
    case "rssi": link?.readRSSI { _ in results += 1 }
    case "update": link?.update(ConnectionParameters()) { _ in results += 1 }
    case "phy": link?.setPHYs(.le2M) { _ in results += 1 }
    case "length": link?.setDataLength(100) { _ in results += 1 }
    default:
      link?.disconnect()
      results = 1
    }
    let opcode = controller.takeOpcodes()[0]
    switch command {
    case "rssi", "length": controller.complete(opcode, .unknownConnectionIdentifier)
    default: controller.status(opcode, .unknownConnectionIdentifier)
    }
    #expect(results == 1)
    #expect(attempt.losses.count == 1)
    #expect(controller.established().link != nil)
  }

  // MARK: Twice

  /// The same link is reported twice, or by LE Connection Complete and by LE Enhanced Connection Complete (btstack#437,
  /// stoprocent/noble#97).
  @Test func ignoresDuplicateConnectionComplete() {
    let attempt = creating()
    controller.connectionComplete()
    controller.connectionComplete()
    controller.answerAll()
    controller.featuresComplete()
    controller.connectionComplete()
    controller.receive(
      "04 3e 1f 0a 00 4000 00 01 b2a1332211c0 000000000000 000000000000 0c00 0000 9001 00")
    #expect(attempt.link?.isConnected == true && attempt.losses == [])
    #expect(!controller.takeOpcodes().contains(Disconnect.opcode))
    controller.receive("02 4020 0500 0100 0400 0b")
    #expect(attempt.data == ["010004000b"])
  }

  /// The link is lost without an event, and the controller gives its handle to the next one to the same peer.
  @Test func aHandleThatIsAssignedAgainIsANewLink() {
    let first = controller.established()
    let second = creating()
    controller.connectionComplete()
    #expect(first.losses == [.unspecifiedError])
    controller.answerAll()
    controller.featuresComplete()
    #expect(second.link?.isConnected == true)
  }

  // MARK: Early

  /// Over USB, data come before the event of their link: by up to 11 ms on RTL8852AE, Intel 9260 and nRF52840
  /// (CachyOS/kernel-patches#180, bluez/bluetooth-next#472, google/bumble#935).
  @Test func dataBeforeTheirLinkAreDelivered() {
    let attempt = creating()
    controller.receive("02 4020 0700 0300 0400 02 f700")
    controller.timers.advance(by: .milliseconds(8))
    controller.receive("02 4020 0500 0100 0600 0b")
    controller.timers.advance(by: .milliseconds(3))
    controller.connectionComplete()
    // They prove the link, too.
    #expect(attempt.link != nil)
    #expect(attempt.data == ["0300040002f700", "010006000b"])
    #expect(controller.host.counters.unknownHandlePackets == 0)
  }

  /// Not what is older than 100 ms, of another handle, too much, or of a link that has just ended.
  @Test func otherDataOfUnknownLinksAreDropped() {
    let ended = controller.established()
    controller.disconnected()
    #expect(ended.losses.count == 1)
    let attempt = creating()
    controller.receive("02 4020 0500 0100 0400 0b")
    #expect(controller.host.counters.unknownHandlePackets == 1)
    controller.receive("02 4120 0500 0100 0400 0c")
    controller.timers.advance(by: .milliseconds(101))
    for _ in 0..<20 { controller.receive("02 4220 0500 0100 0400 0d") }
    #expect(controller.host.counters.unknownHandlePackets == 5)
    controller.connectionComplete(0x41)
    controller.answerAll()
    controller.featuresComplete(0x41)
    #expect(attempt.link != nil && attempt.data == [])
  }

  @Test func dataOfNoLinkAreDropped() {
    controller.receive("02 4020 0500 0100 0400 0b")
    #expect(controller.host.counters.unknownHandlePackets == 1)
  }

  // MARK: Held

  private func send(_ attempt: ScriptedController.Attempt) {
    let frame = [UInt8](hex("0100040002"))
    attempt.link?.send { $0.write(frame) }
  }

  /// Number Of Completed Packets never comes, and commands are answered (zephyr#14899, bumble#946): after the supervision
  /// timeout of 4 s, a link would have been lost if its peer were to blame.
  @Test func aControllerThatSendsNoPacketIsReset() {
    let attempt = controller.established()
    for _ in 0..<3 { send(attempt) }
    _ = controller.takeSent()
    // It lives.
    for _ in 0..<5 {
      controller.timers.advance(by: .seconds(1))
      controller.receive("02 4020 0500 0100 0400 0b")
    }
    #expect(attempt.losses == [] && controller.takeSent() == [])
    controller.timers.advance(by: .seconds(1))
    #expect(attempt.losses == [.hardwareFailure])
    #expect(attempt.link?.failure == .packetsStalled(3, seconds: 6))
    expectReset()
    #expect(controller.established().link != nil)
  }

  /// Another link's packets are sent: the peer of this one takes none. Only this link is ended.
  @Test func aPeerThatTakesNoPacketLosesItsLink() {
    let good = controller.established(0x41, peer: other)
    let attempt = controller.established()
    send(attempt)
    for _ in 0..<6 {
      send(good)
      controller.completedPackets(0x41, 1)
      controller.timers.advance(by: .seconds(1))
    }
    #expect(controller.takeOpcodes() == [Disconnect.opcode])
    controller.status(Disconnect.opcode)
    // It is asked once, however long the end takes.
    controller.timers.advance(by: .seconds(2))
    #expect(controller.takeOpcodes() == [])
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    #expect(attempt.link?.failure == .packetsStalled(1, seconds: 6))
    #expect(good.losses == [])
  }

  /// A link may last for 32 s without an acknowledgement.
  @Test func aLinkWithALongTimeoutIsGivenThatTime() {
    let attempt = creating()
    controller.receive("04 3e 13 01 00 4000 00 01 b2a1332211c0 0c00 0000 800c 00")
    controller.answerAll()
    controller.featuresComplete()
    send(attempt)
    for _ in 0..<33 {
      controller.receive("02 4020 0500 0100 0400 0b")
      controller.timers.advance(by: .seconds(1))
    }
    #expect(attempt.losses == [])
    controller.timers.advance(by: .seconds(1))
    #expect(attempt.losses == [.hardwareFailure])
  }

  /// Packets that leave slowly are not held.
  @Test func slowPacketsAreNotHeld() {
    let attempt = controller.established()
    for _ in 0..<4 { send(attempt) }
    for _ in 0..<4 {
      controller.timers.advance(by: .milliseconds(4500))
      controller.completedPackets(0x40, 1)
    }
    controller.timers.advance(by: .seconds(60))
    #expect(attempt.losses == [])
    #expect(!controller.takeOpcodes().contains(Reset.opcode))
  }

  // MARK: Set-up

  /// A hardware error comes in place of an answer while the controller is set up: it begins again, and who has asked gets the
  /// result of that.
  @Test(arguments: 0..<8) func aHardwareErrorWhileItIsSetUp(_ step: Int) {
    let controller = ScriptedController()
    controller.initialize()
    for _ in 0..<step { controller.answerNext() }
    controller.receive("04 10 01 42")
    #expect(controller.outcome == nil)
    controller.answerAll()
    #expect((try? controller.outcome?.get()) != nil)
    #expect(controller.established().link != nil)
  }

  /// Again and again: the last one is the result.
  @Test func aControllerThatBreaksDownInEachSetUp() {
    let controller = ScriptedController()
    controller.initialize()
    for code in 1...4 as ClosedRange<UInt8> { controller.receive("04 10 01 " + Hex.string([code])) }
    #expect(throws: StackError.hardwareError(4)) { try controller.outcome?.get() }
  }
}
