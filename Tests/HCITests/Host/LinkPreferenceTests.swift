import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// What is requested of a link once it is established, and what a program requests later.
@Suite struct LinkPreferenceTests {
  private static let all: LEFeatures = [.dataPacketLengthExtension, .phy2M, .phyCoded]

  /// LE Set Data Length: 251 bytes, 2120 us.
  private static let longPackets = "01222006 4000 fb00 4808".filter { $0 != " " }

  /// LE Set PHY, with the same PHYs for both directions.
  private static func setPHY(_ phys: LEPHYs) -> String {
    let digits = Hex.string([phys.rawValue])
    return "01322007400000" + digits + digits + "0000"
  }

  private func connected(
    _ own: LEFeatures = all, _ peers: LEFeatures = all, _ preferences: LinkPreferences? = nil
  ) -> (controller: ScriptedController, link: ScriptedController.Attempt) {
    var abilities = ScriptedController.Abilities()
    abilities.leFeatures = own
    let controller = ScriptedController.ready(abilities)
    let attempt = controller.connect(preferences: preferences)
    controller.answerAll()
    controller.connectionComplete()
    controller.answerAll()
    _ = controller.takeSent()
    controller.featuresComplete(0x40, .success, peers)
    return (controller, attempt)
  }

  private func phys(_ phy: LEPHY, _ status: HCIErrorCode = .success) -> HCIEvent {
    .lePHYUpdateComplete(
      LEPHYUpdateComplete {
        $0.status = status
        $0.handle = handle(0x40)
        $0.phys.transmit = phy
        $0.phys.receive = phy
      })
  }

  /// A peer that advertises on LE Coded alone can be connected on it alone. LE 1M stays, for those that do both.
  @Test(arguments: [(LEFeatures.phyCoded, LEPHYs.leCoded), (.phyCoded, .le1M), (.phy2M, .leCoded)])
  func linksOnLECodedAreCreatedOnIt(_ own: LEFeatures, _ wanted: LEPHYs) {
    var abilities = ScriptedController.Abilities.extended
    abilities.leFeatures = own
    let controller = ScriptedController.ready(abilities)
    _ = controller.connect(preferences: LinkPreferences(phys: wanted))
    let link = "0600" + "0c00" + "0000" + "9001" + "0000" + "0000"
    let peer = "00" + "00" + "01" + ScriptedController.peerBytes
    let expected =
      own == .phyCoded && wanted == .leCoded
      ? "0143202a" + peer + "05" + "6000" + "3000" + link + "6000" + "3000" + link
      : "0143201a" + peer + "01" + "6000" + "6000" + link
    #expect(controller.takeSent() == [expected])
  }

  @Test func longPacketsAndTheFasterPHYAreRequestedWhereBothSupportThem() {
    let (controller, attempt) = connected()
    #expect(attempt.link?.phys == .le1M && attempt.link?.dataLengths == .shortest)
    controller.answerAll()
    #expect(controller.takeSent() == [Self.longPackets, Self.setPHY([.le1M, .le2M])])
    controller.receive(phys(.le2M))
    var lengths = DataLengths()
    lengths.transmit = DataLength(octets: 251, time: 2120)
    lengths.receive = DataLength(octets: 27, time: 328)
    let change = HCIEvent.leDataLengthChange(
      LEDataLengthChange {
        $0.handle = handle(0x40)
        $0.lengths = lengths
      })
    controller.receive(change)
    controller.receive(change)
    #expect(attempt.changes == [.phys(attempt.link?.phys ?? .le1M), .dataLengths(lengths)])
    #expect(attempt.link?.phys.transmit == .le2M)
    #expect(attempt.link?.dataLengths.description == "251 bytes to send, 27 bytes to receive")
  }

  @Test(arguments: [
    (LEFeatures.phy2M, all, [setPHY([.le1M, .le2M])]), (all, LEFeatures.phy2M, [setPHY([.le1M, .le2M])]),
    (all, .dataPacketLengthExtension, [longPackets]), (.dataPacketLengthExtension, all, [longPackets]),
    (all, .encryption, []), (.encryption, all, []),
  ])
  func doesNotRequestFeatureUnsupportedByEitherSide(_ own: LEFeatures, _ peers: LEFeatures, _ sent: [String])
  {
    let (controller, attempt) = connected(own, peers)
    #expect(attempt.changes.count == 2 - sent.count)
    controller.answerAll()
    #expect(controller.takeSent() == sent)
  }

  @Test func reportsWhichSideLacksAFeature() {
    let (_, poorPeer) = connected(Self.all, .encryption)
    #expect(
      poorPeer.changes == [
        .notSupported(.dataPacketLengthExtension, byPeer: true), .notSupported(.phy2M, byPeer: true),
      ])
    #expect(poorPeer.changes.last?.description == "the peer does not support LE 2M PHY")
    let (_, poorController) = connected(
      [.dataPacketLengthExtension], Self.all, LinkPreferences(phys: .leCoded))
    #expect(poorController.changes == [.notSupported(.phyCoded, byPeer: false)])
  }

  private static let chosen: [(LinkPreferences, sent: [String])] = [
    (LinkPreferences(), []), (LinkPreferences(phys: .le1M), [setPHY(.le1M)]),
    (LinkPreferences(phys: .le2M), [setPHY(.le2M)]),
    // 27 bytes need 2704 us on LE Coded.
    (
      LinkPreferences(phys: .leCoded, dataLength: 27),
      ["01222006" + "4000" + "1b00" + "900a", setPHY(.leCoded)]
    ),
  ]

  @Test(arguments: chosen) func aProgramChooses(_ preferences: LinkPreferences, _ sent: [String]) {
    let (controller, _) = connected(Self.all, Self.all, preferences)
    controller.answerAll()
    #expect(controller.takeSent() == sent)
  }

  /// The first request of a program is data, which does not wait for commands.
  @Test func sendsDataBeforePreferenceCommandsComplete() {
    let (controller, attempt) = connected()
    // The controller has not answered LE Set Data Length, and LE Set PHY waits for that.
    #expect(controller.takeSent() == [Self.longPackets])
    attempt.link?.send { $0.write([UInt8](repeating: 1, count: 5)) }
    #expect(controller.takeSent() == ["02400005000101010101"])
  }

  @Test func requestsNothingOnCancelledLink() {
    var abilities = ScriptedController.Abilities()
    abilities.leFeatures = Self.all
    let controller = ScriptedController.ready(abilities)
    let attempt = controller.connect()
    controller.answerAll()
    controller.connectionComplete()
    attempt.giveUp()
    controller.answerAll()
    _ = controller.takeSent()
    controller.featuresComplete(0x40, .success, Self.all)
    #expect(controller.takeSent() == [])
  }

  @Test func aPreferenceThatTheControllerRejectsIsReportedAndTheLinkStays() {
    let (controller, attempt) = connected()
    controller.complete(LESetDataLength.opcode, .unsupportedFeatureOrParameterValue)
    controller.status(LESetPHY.opcode)
    controller.receive(phys(.le1M, .unsupportedRemoteFeature))
    #expect(
      attempt.changes == [
        .rejected(.commandFailed(LESetDataLength.opcode, .unsupportedFeatureOrParameterValue)),
        .rejected(.commandFailed(LESetPHY.opcode, .unsupportedRemoteFeature)),
      ])
    #expect(attempt.link?.isConnected == true)
  }

  /// Bumble's controller has LE Set PHY among its commands, and ignores it.
  @Test func aControllerThatIgnoresAPreferenceStaysInUseAndIsNotAskedAgain() {
    let (controller, attempt) = connected(.phy2M, .phy2M)
    #expect(controller.takeSent() == [Self.setPHY([.le1M, .le2M])])
    // Waits for the credit.
    attempt.link?.disconnect()
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(500))
    #expect(attempt.changes.last == .rejected(.commandTimedOut(LESetPHY.opcode)))
    #expect(controller.takeOpcodes() == [Disconnect.opcode])
    controller.status(Disconnect.opcode)
    controller.disconnected()
    #expect(controller.host.failure == nil)
    let again = controller.connect()
    controller.answerAll()
    controller.connectionComplete()
    controller.answerAll()
    _ = controller.takeSent()
    controller.featuresComplete(0x40, .success, .phy2M)
    #expect(again.link?.isConnected == true && controller.takeSent() == [])
  }

  // MARK: Later requests

  @Test func eachRequestEndsWithItsEvent() {
    let (controller, attempt) = connected(.encryption, .encryption)
    var phyResults: [Result<LinkPHYs, StackError>] = []
    var updates: [Result<LinkParameters, StackError>] = []
    attempt.link?.setPHYs(.leCoded) { phyResults.append($0) }
    attempt.link?.update(.fast) { updates.append($0) }
    controller.answerAll()
    #expect(phyResults == [] && updates == [])
    controller.receive(phys(.leCoded))
    let parameters = LinkParameters(interval: interval(6), supervisionTimeout: timeout(400))
    controller.receive(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          $0.handle = handle(0x40)
          $0.parameters = parameters
        }))
    #expect(phyResults == [.success(attempt.link?.phys ?? .le1M)])
    #expect(attempt.link?.phys.transmit == .leCoded)
    #expect(updates == [.success(parameters)] && attempt.link?.parameters == parameters)
    // The peer's own procedure has the same event.
    controller.receive(phys(.le1M))
    #expect(phyResults.count == 1 && attempt.link?.phys == .le1M)
  }

  @Test func aRequestEndsWithTheLinkAndWithTime() {
    let (controller, attempt) = connected(.encryption, .encryption)
    var results: [Result<LinkPHYs, StackError>] = []
    attempt.link?.setPHYs(.le2M) { results.append($0) }
    controller.answerAll()
    controller.timers.advance(by: .seconds(46))
    #expect(results == [.failure(.commandTimedOut(LESetPHY.opcode))])
    attempt.link?.setPHYs(.le2M) { results.append($0) }
    controller.answerAll()
    controller.disconnected()
    #expect(results.last == .failure(.notConnected) && results.count == 2)
    attempt.link?.setPHYs(.le2M) { results.append($0) }
    attempt.link?.setDataLength(100) { #expect($0 != .success(())) }
    #expect(results.count == 3)
  }
}

private func != (left: Result<Void, StackError>, right: Result<Void, StackError>) -> Bool {
  switch (left, right) {
  case (.success, .success): false
  case (.failure(let left), .failure(let right)): left != right
  default: true
  }
}
