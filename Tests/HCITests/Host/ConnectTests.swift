import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct ConnectTests {
  let controller = ScriptedController.ready()

  /// A link attempt for which LE Create Connection has been taken up.
  private func creating(
    _ peer: BluetoothAddress = ScriptedController.peer, deadline: Duration = .seconds(30)
  ) -> ScriptedController.Attempt {
    let attempt = controller.connect(peer, deadline: deadline)
    controller.answerAll()
    _ = controller.takeSent()
    return attempt
  }

  @Test func theCommandSaysWhomAndHow() {
    _ = controller.connect()
    #expect(
      controller.takeSent() == [
        "010d2019" + "6000" + "6000" + "00" + "01" + ScriptedController.peerBytes + "00" + "0600" + "0c00"
          + "0000" + "9001" + "00000000"
      ])
  }

  @Test func theExtendedCommandIsUsedWithTheExtendedScan() {
    let controller = ScriptedController.ready(.extended)
    _ = controller.connect()
    #expect(
      controller.takeSent() == [
        "0143201a" + "00" + "00" + "01" + ScriptedController.peerBytes + "01" + "6000" + "6000" + "0600"
          + "0c00" + "0000" + "9001" + "00000000"
      ])
  }

  @Test func aLinkCountsWhenTheFeaturesAreThere() {
    let attempt = creating()
    controller.connectionComplete()
    #expect(attempt.results.isEmpty)
    controller.answerAll()
    #expect(controller.takeSent() == ["011620024000"])
    controller.featuresComplete()
    #expect(attempt.link?.peer == ScriptedController.peer)
    #expect(attempt.link?.handle == handle(0x40))
    #expect(attempt.link?.remoteFeatures == .encryption)
    #expect(attempt.link?.parameters.interval == interval(12))
    controller.timers.advance(by: .seconds(100))
    #expect(attempt.results.count == 1)
    #expect(attempt.losses == [])
    #expect(controller.takeSent() == [])
  }

  /// The peer may speak before its features are known; what it says is not lost.
  @Test func aLinkCountsWithItsFirstPacket() {
    let attempt = creating()
    controller.connectionComplete()
    controller.receive("02 4020 0700 0300 0400 02 1700")
    #expect(attempt.link != nil)
    #expect(attempt.data == ["0300040002" + "1700"])
    controller.answerAll()
    controller.featuresComplete()
    #expect(attempt.results.count == 1)
  }

  @Test func establishesLinkWithoutRemoteFeatures() {
    let attempt = creating()
    controller.connectionComplete()
    controller.answerAll()
    controller.featuresComplete(0x40, .unsupportedRemoteFeature)
    #expect(attempt.link != nil)
    #expect(attempt.link?.remoteFeatures == nil)
  }

  /// Where nobody can be asked, a link that is not lost within some intervals is there.
  @Test func establishesLinkAfterDelayWithoutFeatureRequest() {
    let attempt = creating()
    controller.connectionComplete()
    controller.status(LEReadRemoteFeatures.opcode, .unknownCommand)
    #expect(attempt.results.isEmpty)
    controller.timers.advance(by: .milliseconds(15 * 8))
    #expect(attempt.link != nil)
  }

  /// Common on a Raspberry Pi: complete, and lost with 0x3E before the first packet.
  @Test func aLinkThatIsNotEstablishedIsTriedAgainUnseen() {
    let attempt = creating()
    controller.connectionComplete()
    controller.answerAll()
    controller.featuresComplete(0x40, .connectionFailedToBeEstablished)
    #expect(attempt.results.isEmpty)
    _ = controller.takeSent()
    controller.disconnected(0x40, .connectionFailedToBeEstablished)
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(49))
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(1))
    #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
    controller.status(LECreateConnection.opcode)
    controller.connectionComplete(0x41)
    controller.answerAll()
    controller.featuresComplete(0x41)
    #expect(attempt.link?.handle == handle(0x41))
    #expect(attempt.losses == [])
  }

  @Test func theTriesHaveALimitAndGrowApart() {
    let attempt = creating()
    var pauses: [Int] = []
    for _ in 1...5 {
      controller.connectionComplete()
      controller.answerAll()
      controller.disconnected(0x40, .connectionFailedToBeEstablished)
      _ = controller.takeSent()
      var pause = 0
      while controller.takeOpcodes().isEmpty, pause < 5000 {
        controller.timers.advance(by: .milliseconds(10))
        pause += 10
      }
      pauses.append(pause)
      controller.status(LECreateConnection.opcode)
    }
    #expect(pauses == [50, 100, 200, 400, 800])
    controller.connectionComplete()
    controller.disconnected(0x40, .connectionFailedToBeEstablished)
    #expect(attempt.error == .connectionNotEstablished(ScriptedController.peer, attempts: 6))
  }

  @Test func aLinkThatIsLostForAnotherReasonFails() {
    let attempt = creating()
    controller.connectionComplete()
    controller.disconnected(0x40, .connectionTimeout)
    #expect(
      attempt.error == .connectionFailed(ScriptedController.peer, .connectionTimeout))
  }

  @Test func aRefusedCommandFails() {
    let attempt = controller.connect()
    controller.status(LECreateConnection.opcode, .invalidCommandParameters)
    #expect(attempt.error == .commandFailed(LECreateConnection.opcode, .invalidCommandParameters))
    _ = controller.established()
    let connected = controller.connect()
    controller.status(LECreateConnection.opcode, .connectionAlreadyExists)
    #expect(connected.error == .connectionFailed(ScriptedController.peer, .connectionAlreadyExists))
  }

  // MARK: Giving up

  @Test func aDeadlineCancelsAndWaitsForTheCompletion() {
    let attempt = creating(deadline: .seconds(10))
    controller.timers.advance(by: .seconds(10))
    #expect(controller.takeSent() == ["010e2000"])
    #expect(attempt.results.isEmpty)
    controller.complete(LECreateConnectionCancel.opcode)
    controller.connectionComplete(0, .unknownConnectionIdentifier)
    #expect(attempt.error == .peerNotFound(ScriptedController.peer, seconds: 10))
    controller.timers.advance(by: .seconds(60))
    #expect(attempt.results.count == 1)
    #expect(controller.takeSent() == [])
  }

  @Test func givingUpCancels() {
    let attempt = creating()
    attempt.giveUp()
    attempt.giveUp()
    #expect(controller.takeSent() == ["010e2000"])
    controller.complete(LECreateConnectionCancel.opcode)
    controller.connectionComplete(0, .unknownConnectionIdentifier)
    #expect(attempt.error == .cancelled)
    attempt.giveUp()
    #expect(controller.takeSent() == [])
  }

  /// The link was faster than its cancellation: it is ended unseen, and who gave up hears that.
  @Test func aSuccessThatRacesWithTheCancellationIsEndedUnseen() {
    let attempt = creating()
    attempt.giveUp()
    controller.complete(LECreateConnectionCancel.opcode, .commandDisallowed)
    _ = controller.takeSent()
    controller.connectionComplete()
    #expect(controller.takeSent() == ["010604034000" + "13"])
    controller.receive("02 4020 0500 0100 0400 0b")
    controller.status(Disconnect.opcode)
    #expect(attempt.results.isEmpty)
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    #expect(attempt.error == .cancelled)
    #expect(attempt.losses == [])
  }

  /// A controller that does not keep to the rule costs two seconds, no more.
  @Test func aCancellationWithoutACompletionEnds() {
    let attempt = creating()
    attempt.giveUp()
    controller.complete(LECreateConnectionCancel.opcode)
    controller.timers.advance(by: .seconds(2))
    #expect(attempt.error == .cancelled)
    // The completion comes late, when the next link is being made already: it is not its end.
    let next = creating()
    controller.connectionComplete(0, .unknownConnectionIdentifier)
    #expect(next.results.isEmpty)
    controller.connectionComplete()
    controller.featuresComplete()
    #expect(next.link != nil)
  }

  @Test func givingUpWhileTheFirstPacketIsAwaitedDisconnects() {
    let attempt = creating()
    controller.connectionComplete()
    controller.answerAll()
    _ = controller.takeSent()
    attempt.giveUp()
    #expect(controller.takeSent() == ["0106040340" + "0013"])
    controller.featuresComplete()
    #expect(attempt.results.isEmpty)
    controller.status(Disconnect.opcode)
    controller.disconnected()
    #expect(attempt.error == .cancelled)
  }

  @Test func givingUpWhileItWaitsForTheNextTryEndsAtOnce() {
    let attempt = creating()
    controller.connectionComplete()
    controller.answerAll()
    controller.disconnected(0x40, .connectionFailedToBeEstablished)
    _ = controller.takeSent()
    attempt.giveUp()
    #expect(attempt.error == .cancelled)
    controller.timers.advance(by: .seconds(60))
    #expect(controller.takeSent() == [])
  }

  @Test func givingUpWhileTheScanIsBeingPaused() {
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    let attempt = controller.connect()
    attempt.giveUp()
    controller.answerAll()
    #expect(attempt.error == .cancelled)
    #expect(
      controller.takeOpcodes() == [
        LESetScanEnable.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode,
      ])
  }

  // MARK: Several

  @Test func oneLinkIsMadeAtATime() {
    let other = BluetoothAddress(0xC0FF_EE00_0001, .random)
    let first = creating()
    let second = controller.connect(other)
    #expect(controller.takeSent() == [])
    controller.connectionComplete()
    controller.answerAll()
    _ = controller.takeSent()
    controller.featuresComplete()
    #expect(first.link != nil)
    #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
    controller.status(LECreateConnection.opcode)
    controller.connectionComplete(0x41, peer: other)
    controller.answerAll()
    controller.featuresComplete(0x41)
    #expect(second.link?.peer == other)
  }

  @Test func queuedConnectionAttemptTimesOut() {
    _ = creating(deadline: .seconds(100))
    let second = controller.connect(deadline: .seconds(5))
    let third = controller.connect()
    controller.timers.advance(by: .seconds(5))
    #expect(second.error == .notTried(ScriptedController.peer, seconds: 5))
    third.giveUp()
    #expect(third.error == .cancelled)
    #expect(controller.takeSent() == [])
  }

  // MARK: Links that nobody asked for

  @Test func aLinkToAnotherPeerIsEnded() {
    let attempt = creating()
    controller.connectionComplete(0x40, peer: BluetoothAddress(0xC0FF_EE00_0001, .random))
    #expect(controller.takeSent() == ["010604034000" + "13"])
    controller.status(Disconnect.opcode)
    #expect(attempt.results.isEmpty)
    controller.connectionComplete(0x41)
    controller.featuresComplete(0x41)
    #expect(attempt.link?.handle == handle(0x41))
  }

  @Test func aLinkInTheOtherRoleIsEnded() {
    let attempt = creating()
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(controller.takeSent() == ["010604034000" + "13"])
    #expect(attempt.results.isEmpty)
  }

  @Test func disconnectsUnsolicitedLink() {
    controller.connectionComplete()
    #expect(controller.takeSent() == ["010604034000" + "13"])
    controller.connectionComplete(0x40, .connectionTimeout)
    #expect(controller.takeSent() == [])
  }
}
