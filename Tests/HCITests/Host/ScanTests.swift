import BluetoothCore
import HCI
import TestSupport
import Testing

@Suite struct ScanTests {
  private let gentle = "010b2007" + "01" + "8000" + "1000" + "00" + "00"
  private let enable = "010c20020100"
  private let disable = "010c20020000"

  @Test func theLegacyCommands() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
    controller.host.setScan(nil)
    controller.answerAll()
    #expect(controller.takeSent() == [disable])
  }

  @Test func theExtendedCommands() {
    let controller = ScriptedController.ready(.extended)
    controller.host.setScan(ScanParameters(isActive: false, filtersDuplicates: true))
    controller.answerAll()
    #expect(
      controller.takeSent() == [
        "01412008" + "00" + "00" + "01" + "00" + "8000" + "1000", "01422006" + "0101" + "00000000",
      ])
    controller.host.setScan(nil)
    controller.answerAll()
    #expect(controller.takeSent() == ["01422006" + "0000" + "00000000"])
  }

  @Test func theRandomAddressIsUsedWhereThereIsNoOther() {
    let controller = ScriptedController.ready(.init(publicAddress: BluetoothAddress(0, .public)))
    controller.host.setScan(.gentle)
    #expect(controller.takeSent() == ["010b2007" + "01" + "8000" + "1000" + "01" + "00"])
  }

  @Test func theSameWishTwiceChangesNothing() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.host.setScan(.gentle)
    controller.answerAll()
    controller.host.setScan(.gentle)
    #expect(controller.takeSent() == [gentle, enable])
  }

  /// Parameters can't be changed while a scan runs.
  @Test func anotherWishStopsAndStartsAgain() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    controller.host.setScan(.aggressive)
    controller.answerAll()
    #expect(controller.takeSent() == [disable, "010b2007" + "01" + "8000" + "8000" + "00" + "00", enable])
  }

  @Test func aWishThatChangesWhileACommandIsUnderWay() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.host.setScan(nil)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable, disable])
  }

  @Test func aScanThatIsOffAlreadyIsOff() {
    let controller = ScriptedController.ready()
    var failures: [HCIError] = []
    controller.host.onScanFailure = { failures.append($0) }
    controller.host.setScan(.gentle)
    controller.answerAll()
    controller.host.setScan(nil)
    controller.complete(LESetScanEnable.opcode, .commandDisallowed)
    #expect(failures == [])
    _ = controller.takeSent()
    controller.host.setScan(.gentle)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
  }

  @Test(arguments: [LESetScanParameters.opcode, LESetScanEnable.opcode])
  func aRefusedScanIsToldAndNotTriedAgain(_ refused: HCIOpcode) {
    let controller = ScriptedController.ready()
    var failures: [HCIError] = []
    controller.host.onScanFailure = { failures.append($0) }
    controller.host.setScan(.gentle)
    if refused == LESetScanEnable.opcode { controller.complete(LESetScanParameters.opcode) }
    controller.complete(refused, .invalidCommandParameters)
    #expect(failures == [.commandFailed(refused, .invalidCommandParameters)])
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(60))
    #expect(controller.takeSent() == [])
    // A new wish is a new try.
    controller.host.setScan(.gentle)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
  }

  /// The wish is dropped: it must not come back by itself behind the link that it was paused for.
  @Test func aScanThatCannotBeStoppedIsToldAndDropped() {
    let controller = ScriptedController.ready()
    var failures: [HCIError] = []
    controller.host.onScanFailure = { failures.append($0) }
    controller.host.setScan(.gentle)
    controller.answerAll()
    let attempt = controller.connect()
    controller.complete(LESetScanEnable.opcode, .hardwareFailure)
    #expect(failures == [.commandFailed(LESetScanEnable.opcode, .hardwareFailure)])
    controller.answerAll()
    controller.connectionComplete()
    controller.answerAll()
    _ = controller.takeSent()
    controller.featuresComplete()
    #expect(attempt.link != nil)
    #expect(controller.takeSent() == [])
  }

  @Test func theScanPausesWhileALinkIsMade() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    let attempt = controller.connect()
    #expect(controller.takeSent() == [disable])
    controller.complete(LESetScanEnable.opcode)
    #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
    // A wish meanwhile waits, too.
    controller.host.setScan(.aggressive)
    controller.status(LECreateConnection.opcode)
    controller.connectionComplete()
    #expect(controller.takeOpcodes() == [LEReadRemoteFeatures.opcode])
    controller.status(LEReadRemoteFeatures.opcode)
    controller.featuresComplete()
    controller.answerAll()
    #expect(controller.takeOpcodes() == [LESetScanParameters.opcode, LESetScanEnable.opcode])
    #expect(attempt.link != nil)
  }

  @Test func theScanGoesOnBehindALinkThatWasNotMade() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    let attempt = controller.connect()
    controller.answerAll()
    _ = controller.takeSent()
    controller.connectionComplete(0, .connectionLimitExceeded)
    controller.answerAll()
    #expect(attempt.error == .connectionFailed(ScriptedController.peer, .connectionLimitExceeded))
    #expect(controller.takeSent() == [gentle, enable])
  }

  @Test func reportsAreHandedOnWithTheirTime() {
    let controller = ScriptedController.ready()
    var reports: [(AdvertisingReport, Instant)] = []
    controller.host.onReport = { reports.append(($0, $1)) }
    controller.timers.advance(to: Instant(nanoseconds: 1_000_000))
    controller.receive("04 3e 0f 02 01 00 01 b2a1332211c0 03 020106 c4")
    #expect(reports.map(\.0.address) == [ScriptedController.peer])
    #expect(reports.first?.0.rssi == -60)
    #expect(reports.first?.1 == controller.timers.now)
    // One that claims more reports than there are gives what is there.
    controller.receive("04 3e 0f 02 02 00 01 b2a1332211c0 03 020106 c4")
    #expect(reports.count == 2)
    #expect(controller.host.counters.malformedPackets == 1)
  }
}
