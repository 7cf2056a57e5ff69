import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct ACLDataTests {
  private func send(_ attempt: ScriptedController.Attempt, _ count: Int, _ byte: UInt8 = 0xAA) {
    let frame = [UInt8](repeating: byte, count: count)
    attempt.link?.send { $0.write(frame) }
  }

  private func packet(_ header: String, _ count: Int, _ byte: String = "aa") -> String {
    "02" + header + String(repeating: byte, count: count)
  }

  @Test func fragmentsFramesToControllerBufferSize() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    send(link, 27)
    #expect(controller.takeSent() == [packet("40001b00", 27)])
    send(link, 60)
    #expect(
      controller.takeSent() == [packet("40001b00", 27), packet("40101b00", 27), packet("40100600", 6)])
  }

  /// A controller drops what it has not sent when it disconnects a link (Vol 4, Part E, 7.1.6): the end waits for it.
  @Test func theEndOfALinkWaitsForItsData() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    send(link, 150)
    #expect(controller.takeSent().count == 4)
    link.link?.disconnect()
    link.link?.disconnect()
    // Nothing more is taken.
    send(link, 1)
    controller.completedPackets(0x40, 3)
    #expect(controller.takeSent().count == 2)
    controller.completedPackets(0x40, 2)
    #expect(controller.takeSent() == [])
    controller.completedPackets(0x40, 1)
    #expect(controller.takeSent() == ["010604034000" + "13"])
    #expect(link.link?.unsentPackets == 0)
    controller.status(Disconnect.opcode)
    controller.timers.advance(by: .seconds(3))
    #expect(controller.takeSent() == [])
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    #expect(link.losses == [.connectionTerminatedByLocalHost])
  }

  /// For two seconds at most; what was left is known. A link that is lost meanwhile is lost.
  @Test func theEndOfALinkWaitsTwoSeconds() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    let other = controller.established(0x41, peer: BluetoothAddress(0xC0FF_EE00_0001, .random))
    send(link, 150)
    send(other, 1)
    _ = controller.takeSent()
    link.link?.disconnect()
    other.link?.disconnect()
    controller.disconnected(0x41, .connectionTimeout)
    #expect(other.losses == [.connectionTimeout])
    controller.timers.advance(by: .milliseconds(1999))
    #expect(controller.takeOpcodes() == [])
    controller.timers.advance(by: .milliseconds(1))
    #expect(controller.takeOpcodes() == [Disconnect.opcode])
    #expect(link.link?.unsentPackets == 6)
  }

  @Test func noMoreIsSentThanThereIsRoomFor() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    for _ in 0..<6 { send(link, 1) }
    #expect(controller.takeSent().count == 4)
    controller.completedPackets(0x40, 1)
    #expect(controller.takeSent().count == 1)
    controller.completedPackets(0x40, 4)
    #expect(controller.takeSent().count == 1)
  }

  @Test func tooManyCreditsGivenBackAreIgnored() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    send(link, 1)
    controller.completedPackets(0x40, 0xFFFF)
    controller.completedPackets(0x40, 3)
    controller.completedPackets(0x77, 4)
    controller.completedPackets(0x40, 0)
    _ = controller.takeSent()
    for _ in 0..<9 { send(link, 1) }
    #expect(controller.takeSent().count == 4)
  }

  @Test func disconnectionReturnsBuffersInFlight() {
    let controller = ScriptedController.ready()
    let other = BluetoothAddress(0xC0FF_EE00_0001, .random)
    let first = controller.established(0x40)
    let second = controller.established(0x41, peer: other)
    for _ in 0..<9 { send(first, 1) }
    send(second, 1, 0xBB)
    #expect(controller.takeSent().count == 4)
    controller.disconnected(0x40)
    #expect(first.losses == [.remoteUserTerminatedConnection])
    // What waited for the old link is gone with it. The other one had a buffer.
    #expect(controller.takeSent() == [])
    for _ in 0..<9 { send(second, 1, 0xBB) }
    #expect(controller.takeSent().count == 3)
    // Late credits for the old link are nobody's.
    controller.completedPackets(0x40, 4)
    #expect(controller.takeSent().count == 0)
  }

  /// A link whose peer takes nothing keeps the controller's buffers until its supervision timeout: one is left for each
  /// other link (espressif/esp-nimble 118).
  @Test func aLinkThatStallsLeavesABufferForEachOther() {
    let controller = ScriptedController.ready()
    let stalled = controller.established(0x40)
    let others = [0x41, 0x42].map {
      controller.established($0, peer: BluetoothAddress(UInt64($0) | 0xC0FF_EE00_0000, .random))
    }
    for _ in 0..<9 { send(stalled, 1) }
    #expect(controller.takeSent() == [packet("40000100", 1), packet("40000100", 1)])
    for _ in 0..<3 {
      for (link, handle) in zip(others, ["4100", "4200"]) {
        send(link, 1, 0xBB)
        #expect(controller.takeSent() == [packet(handle + "0100", 1, "bb")])
      }
      controller.completedPackets(0x41, 1)
      controller.completedPackets(0x42, 1)
    }
    // What they no longer need is not kept for links that have ended.
    controller.disconnected(0x42)
    #expect(controller.takeSent() == [packet("40000100", 1)])
    controller.disconnected(0x41)
    #expect(controller.takeSent() == [packet("40000100", 1)])
  }

  @Test func linksTakeTurns() {
    let controller = ScriptedController.ready()
    let other = BluetoothAddress(0xC0FF_EE00_0001, .random)
    let first = controller.established(0x40)
    let second = controller.established(0x41, peer: other)
    for _ in 0..<6 { send(first, 1) }
    for _ in 0..<6 { send(second, 1, 0xBB) }
    _ = controller.takeSent()
    for _ in 0..<2 {
      controller.completedPackets(0x40, 2)
      #expect(controller.takeSent().sorted() == [packet("40000100", 1), packet("41000100", 1, "bb")])
    }
  }

  /// A peer that makes us answer without end, on a link that takes nothing.
  @Test func disconnectsOnceWhenSendQueueOverflows() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    for _ in 0..<5000 { send(link, 1) }
    controller.answerAll()
    let commands = controller.takeOpcodes()
    #expect(commands == [Disconnect.opcode])
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    #expect(link.losses == [.connectionTerminatedByLocalHost])
  }

  @Test func dataOfUnknownLinksIsCountedAndDropped() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    controller.receive("02 4120 0500 0100 0400 13")
    // The debug handle of some phone controllers.
    controller.receive("02 dc2e 0500 0100 0400 13")
    #expect(controller.host.counters.unknownHandlePackets == 2)
    #expect(link.data == [])
    controller.disconnected()
    controller.receive("02 4020 0500 0100 0400 13")
    #expect(controller.host.counters.unknownHandlePackets == 3)
    #expect(controller.takeSent() == [])
  }

  @Test func countsAndDropsMalformedPackets() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    for bytes in [
      "02 4020 0600 0100 0400 13", "02 40", "04 3e", "04 05 04 00 40", "03 0000 00", "01 030c 00",
    ] {
      controller.receive(bytes)
    }
    controller.receive("")
    #expect(controller.host.counters.malformedPackets == 6)
    #expect(link.data == [] && link.losses == [])
  }

  @Test func separatesStartAndContinuationFragments() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    for boundary in ["4000", "4010", "4020", "4030"] { controller.receive("02 \(boundary) 0100 aa") }
    #expect(link.data == ["aa", "+aa", "aa", "aa"])
  }
}

@Suite struct LinkTests {
  @Test func reportsDisconnectionOnCompletionEvent() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    link.link?.disconnect()
    link.link?.disconnect()
    #expect(controller.takeSent() == ["010604034000" + "13"])
    controller.status(Disconnect.opcode)
    #expect(link.losses == [])
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    controller.disconnected(0x40, .connectionTerminatedByLocalHost)
    #expect(link.losses == [.connectionTerminatedByLocalHost])
    link.link?.disconnect()
    controller.timers.advance(by: .seconds(60))
    #expect(controller.takeSent() == [])
    #expect(link.losses.count == 1)
  }

  @Test func disconnectTimesOutWithoutCompletionEvent() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    link.link?.disconnect()
    controller.status(Disconnect.opcode)
    controller.timers.advance(by: .seconds(5))
    #expect(link.losses == [.connectionTerminatedByLocalHost])
    #expect(link.link?.isConnected == false)
  }

  @Test func aLinkThatTheControllerDoesNotKnowIsGone() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    link.link?.disconnect()
    controller.status(Disconnect.opcode, .unknownConnectionIdentifier)
    #expect(link.losses == [.connectionTerminatedByLocalHost])
  }

  @Test func ignoresFailedDisconnectionComplete() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    controller.receive("04 05 04 0c 4000 13")
    controller.disconnected(0x99)
    #expect(link.losses == [])
  }

  /// A handle may be given anew at once: nothing of the old link is left.
  @Test func aHandleThatIsUsedAgainIsANewLink() {
    let controller = ScriptedController.ready()
    let old = controller.established()
    controller.disconnected()
    let new = controller.established()
    controller.receive("02 4020 0100 aa")
    #expect(old.data == [])
    #expect(new.data == ["aa"])
    // The old object is of no use any more.
    old.link?.send { $0.write(1 as UInt8) }
    old.link?.disconnect()
    #expect(controller.takeSent() == [])
    #expect(new.link?.isConnected == true)
  }

  @Test func reusedHandleEndsOldLink() {
    let controller = ScriptedController.ready()
    let old = controller.established()
    let new = controller.connect()
    controller.answerAll()
    controller.connectionComplete(0x40)
    #expect(old.losses == [.unspecifiedError])
    controller.featuresComplete(0x40)
    #expect(new.link?.isConnected == true)
  }

  @Test func reportsConnectionParameterUpdate() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    controller.receive("04 3e 0a 03 00 4000 1800 0400 f401")
    controller.receive("04 3e 0a 03 3b 4000 0600 0000 f401")
    controller.receive("04 3e 0a 03 00 9900 0600 0000 f401")
    let expected = LinkParameters(interval: interval(24), latency: 4, supervisionTimeout: timeout(500))
    #expect(link.parameters == [expected])
    #expect(link.link?.parameters == expected)
  }

  @Test(arguments: [
    (ParameterPolicy.accept, "0c00 1800 0400 f401", "0120200e4000" + "0c0018000400f401" + "00000000"),
    (.keep, "0c00 1800 0400 f401", "0121200340003b"),
    (.accept, "0500 1800 0400 f401", "0121200340003b"),
    (.accept, "1800 0c00 0400 f401", "0121200340003b"),
    (.accept, "0c00 1800 f301 0a00", "0121200340003b"),
  ])
  func answersParameterRequestByPolicyAndValidity(
    _ policy: ParameterPolicy, _ wish: String, _ reply: String
  ) {
    let controller = ScriptedController.ready()
    _ = controller.established(policy: policy)
    controller.receive("04 3e 0b 06 4000 \(wish)")
    #expect(controller.takeSent() == [reply])
  }

  /// `keep` keeps to what was asked for, which may be a range (embassy-rs/trouble 478): 15 to 125 ms here.
  @Test(arguments: [
    ("0c00 6400", true), ("1800 2800", true), ("0b00 6400", false), ("0c00 6500", false),
    ("0600 0600", false),
  ])
  func acceptsParameterRequestWithinRequestedRange(_ range: String, _ isGranted: Bool) {
    let controller = ScriptedController.ready()
    let parameters = ConnectionParameters(
      intervalMin: interval(12), intervalMax: interval(100), supervisionTimeout: timeout(400))
    let link = controller.established(policy: .keep, parameters: parameters)
    controller.receive("04 3e 0b 06 4000 " + range + " 0000 9001")
    let reply: HCIOpcode =
      isGranted
      ? LERemoteConnectionParameterRequestReply.opcode
      : LERemoteConnectionParameterRequestNegativeReply.opcode
    #expect(controller.takeOpcodes() == [reply])
    controller.disconnected(0x40, .remoteUserTerminatedConnection)
    #expect(link.link?.unfinished == (isGranted ? nil : .keepParameters))
  }

  /// The controller has no longer packets, so that no LE Data Length Change follows: the refusal has cost the link.
  @Test func attributesLossToRefusalNotDataLengthUpdate() {
    let controller = ScriptedController.ready(.init(leFeatures: .dataPacketLengthExtension))
    let link = controller.established(policy: .keep)
    link.link?.setDataLength(251) { _ in }
    controller.answerAll()
    controller.receive("04 3e 0b 06 4000 1800 2800 0000 9001")
    controller.answerAll()
    controller.disconnected()
    #expect(link.link?.unfinished == .keepParameters)
    // Without a refusal, they are not to blame after a while, either.
    let other = controller.established(policy: .keep)
    other.link?.setDataLength(251) { _ in }
    controller.answerAll()
    controller.timers.advance(by: .seconds(2))
    controller.disconnected()
    #expect(other.link?.unfinished == nil)
  }

  /// The event may come before the answer to the command.
  @Test func completedDataLengthUpdateIsNotBlamedForLoss() {
    let controller = ScriptedController.ready(.init(leFeatures: .dataPacketLengthExtension))
    let link = controller.established()
    link.link?.setDataLength(251) { _ in }
    controller.receive(
      .leDataLengthChange(
        LEDataLengthChange {
          $0.handle = handle(0x40)
          $0.lengths.transmit = DataLength(octets: 251, time: 2120)
        }))
    controller.answerAll()
    controller.disconnected()
    #expect(link.link?.unfinished == nil)
  }

  /// A timer would keep the link, and the link the timers, where nobody goes on with their time.
  @Test func aLostLinkLeavesNoTimer() {
    let controller = ScriptedController.ready(.init(leFeatures: .dataPacketLengthExtension))
    let link = controller.established()
    let deadline = controller.timers.nextDeadline
    link.link?.setDataLength(251) { _ in }
    controller.answerAll()
    controller.disconnected()
    #expect(controller.timers.nextDeadline == deadline)
  }

  /// A loss has to do with a refusal if the peer has ended the link, within a minute.
  @Test(arguments: [
    (HCIErrorCode.unacceptableConnectionParameters, Duration.seconds(5), true),
    (.responseTimeout, .seconds(40), true),
    (.remoteUserTerminatedConnection, .seconds(61), false), (.connectionTimeout, .seconds(1), false),
  ])
  func attributesLossToRecentParameterRefusal(_ reason: HCIErrorCode, _ time: Duration, _ isCause: Bool) {
    let controller = ScriptedController.ready()
    let link = controller.established(policy: .keep)
    controller.receive("04 3e 0b 06 4000 1800 2800 0000 9001")
    controller.answerAll()
    controller.timers.advance(by: time)
    controller.disconnected(0x40, reason)
    #expect(link.link?.unfinished == (isCause ? .keepParameters : nil))
  }

  @Test func rejectsParameterRequestForUnknownHandle() {
    let controller = ScriptedController.ready()
    controller.receive("04 3e 0b 06 4000 0c00 1800 0400 f401")
    #expect(controller.takeSent() == ["0121200340003b"])
  }
}

@Suite struct BreakdownTests {
  @Test func hardwareErrorEndsLinksAndResetsController() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    controller.host.setScan(.gentle)
    controller.answerAll()
    let attempt = controller.connect(BluetoothAddress(0xC0FF_EE00_0001, .random))
    _ = controller.takeSent()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    controller.receive("04 10 01 42")
    #expect(link.losses == [.hardwareFailure])
    #expect(attempt.error == .hardwareError(0x42))
    controller.answerAll()
    let commands = controller.takeOpcodes()
    #expect(commands.first == Reset.opcode)
    // The scan is wished for all the same.
    #expect(commands.suffix(2) == [LESetScanParameters.opcode, LESetScanEnable.opcode])
    #expect(failures == [])
    #expect(controller.host.counters.breakdowns == 1)
    // And it works on.
    let again = controller.established()
    #expect(again.link != nil)
    #expect(link.losses.count == 1)
  }

  /// A request that was open when the controller broke down has not been refused.
  @Test func hardwareErrorDoesNotReportScanRefusal() {
    let controller = ScriptedController.ready()
    var refusals: [StackError] = []
    controller.host.onScanRefusal = { if let error = $0 { refusals.append(error) } }
    controller.host.setScan(.gentle)
    controller.receive("04 10 01 42")
    controller.answerAll()
    controller.host.setScan(nil)
    controller.host.transportClosed("unplugged")
    #expect(refusals == [])
  }

  @Test func connectFromFailureHandlerCompletesAfterReset() {
    let controller = ScriptedController.ready()
    var second: ScriptedController.Attempt?
    var first: StackError?
    _ = controller.host.connect(ConnectionRequest(peer: ScriptedController.peer)) { result in
      if case .failure(let error) = result { first = error }
      second = controller.connect()
    }
    controller.receive("04 10 01 42")
    #expect(first == .hardwareError(0x42))
    // It waits until the controller is set up.
    #expect(second?.results.isEmpty == true)
    controller.answerAll()
    controller.connectionComplete()
    controller.answerAll()
    controller.featuresComplete()
    #expect(second?.link != nil)
  }

  @Test(arguments: ["given up", "failed", "closed"])
  func attemptPendingDuringResetFailsOnce(_ end: String) {
    let controller = ScriptedController.ready()
    controller.receive("04 10 01 42")
    let attempt = controller.connect()
    switch end {
    case "given up": attempt.giveUp()
    case "failed": controller.timers.advance(by: .seconds(3))
    default: controller.host.close()
    }
    #expect(attempt.error == (end == "failed" ? .hardwareError(0x42) : .cancelled))
    controller.answerAll()
    attempt.giveUp()
    #expect(attempt.results.count == 1)
    #expect(!controller.takeOpcodes().contains(LECreateConnection.opcode))
  }

  @Test func hardwareErrorDuringSetupRestartsSetup() {
    let controller = ScriptedController.ready()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    controller.receive("04 10 01 01")
    controller.receive("04 10 01 02")
    #expect(failures == [])
    controller.answerAll()
    #expect(controller.established().link != nil)
  }

  @Test func aControllerThatBreaksDownAgainAndAgainIsGivenUp() {
    let controller = ScriptedController.ready()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    for code in 1...5 as ClosedRange<UInt8> {
      controller.receive("04 10 01 " + Hex.string([code]))
      controller.answerAll()
    }
    #expect(failures == [.hardwareError(4)])
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(100))
    #expect(controller.takeSent() == [])
  }

  @Test func aControllerThatDoesNotComeBackIsGivenUp() {
    let controller = ScriptedController.ready()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    controller.receive("04 10 01 42")
    controller.timers.advance(by: .seconds(3))
    #expect(failures.count == 1)
  }

  @Test func aTransportThatClosesFailsEverything() {
    let controller = ScriptedController.ready()
    let link = controller.established()
    let attempt = controller.connect(BluetoothAddress(0xC0FF_EE00_0001, .random))
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    controller.host.transportClosed("unplugged")
    controller.host.transportClosed("again")
    #expect(failures == [.transportClosed("unplugged")])
    #expect(link.losses == [.hardwareFailure])
    #expect(attempt.error == .transportClosed("unplugged"))
    _ = controller.takeSent()
    controller.host.setScan(.gentle)
    #expect(controller.connect().error == .transportClosed("unplugged"))
    controller.timers.advance(by: .seconds(100))
    #expect(controller.takeSent() == [])
  }

  /// Whatever a controller sends, at any time, the host comes back from it.
  @Test func handlesRandomPacketsWithoutCrashing() {
    for seed in 0..<60 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let controller = ScriptedController.ready(seed % 2 == 0 ? .init() : .extended)
      controller.host.setScan(.gentle)
      controller.answerAll()
      var attempts = [controller.established()]
      for _ in 0..<300 {
        var packet = eventVectors[Int.random(in: eventVectors.indices, using: &random)].packet
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          packet[Int.random(in: packet.indices, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
        case 1: packet = [4, 0x3E, 19, 1, 0] + random.bytes(18)
        case 2: packet = [2, 0x40, 0x20, 4, 0] + random.bytes(4)
        case 3:
          packet =
            [UInt8.random(in: 0...5, using: &random)] + random.bytes(Int.random(in: 0...40, using: &random))
        default: break
        }
        controller.receive(Hex.string(packet))
        if Int.random(in: 0..<10, using: &random) == 0 { controller.answerAll() }
        if Int.random(in: 0..<20, using: &random) == 0 { attempts.append(controller.connect()) }
        controller.timers.advance(by: .milliseconds(Int.random(in: 0..<200, using: &random)))
      }
      controller.host.transportClosed("the end")
      #expect(attempts.allSatisfy { $0.results.count == 1 && $0.losses.count == ($0.link == nil ? 0 : 1) })
    }
  }
}
