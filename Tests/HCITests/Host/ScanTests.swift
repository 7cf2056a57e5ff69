import HCI
import HaloBluetoothCore
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

  // MARK: LE Coded

  /// Long-range devices advertise on LE Coded alone (particle-iot/device-os#2287, weliem/blessed-kotlin#24). Both windows
  /// have room in one interval.
  @Test func aScanOnLECoded() {
    let controller = ScriptedController.ready(.extended)
    var results: [StackError?] = []
    controller.host.onScanRefusal = { results.append($0) }
    var scan = ScanParameters.aggressive
    scan.includesCoded = true
    controller.host.setScan(scan)
    controller.answerAll()
    let phy = "01" + "8000" + "4000"
    #expect(
      controller.takeSent() == [
        "0141200d" + "00" + "00" + "05" + phy + phy, "01422006" + "0100" + "00000000",
      ])
    #expect(results == [])
  }

  @Test(arguments: [HCIErrorCode.unsupportedFeatureOrParameterValue, .invalidCommandParameters])
  func aControllerWithoutLECodedScansOnLE1M(_ status: HCIErrorCode) {
    let controller = ScriptedController.ready(.extended)
    var results: [StackError?] = []
    controller.host.onScanRefusal = { results.append($0) }
    controller.host.setScan(ScanParameters(includesCoded: true))
    controller.complete(LESetExtendedScanParameters.opcode, status)
    _ = controller.takeSent()
    controller.complete(LESetExtendedScanParameters.opcode)
    controller.answerAll()
    #expect(results == [.codedScanNotSupported])
    controller.host.setScan(nil)
    controller.answerAll()
    _ = controller.takeSent()
    controller.host.setScan(ScanParameters(includesCoded: true))
    controller.answerAll()
    #expect(controller.takeSent().first == "014120080000010180001000")
  }

  @Test func aControllerWithoutExtendedCommandsScansOnLE1M() {
    let controller = ScriptedController.ready()
    var results: [StackError?] = []
    controller.host.onScanRefusal = { results.append($0) }
    controller.host.setScan(ScanParameters(includesCoded: true))
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
    #expect(results == [.codedScanNotSupported])
  }

  @Test func usesRandomAddressWithoutPublicAddress() {
    let controller = ScriptedController.ready(.init(publicAddress: BluetoothAddress(0, .public)))
    controller.host.setScan(.gentle)
    #expect(controller.takeSent() == ["010b2007" + "01" + "8000" + "1000" + "01" + "00"])
  }

  @Test func ignoresRepeatedScanParameters() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.host.setScan(.gentle)
    controller.answerAll()
    controller.host.setScan(.gentle)
    #expect(controller.takeSent() == [gentle, enable])
  }

  /// Parameters can't be changed while a scan runs.
  @Test func changedParametersRestartScan() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    controller.host.setScan(.aggressive)
    controller.answerAll()
    #expect(controller.takeSent() == [disable, "010b2007" + "01" + "8000" + "8000" + "00" + "00", enable])
  }

  @Test func stopsScanCancelledDuringStart() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.host.setScan(nil)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable, disable])
  }

  @Test func ignoresCommandDisallowedWhenDisablingScan() {
    let controller = ScriptedController.ready()
    var failures: [StackError] = []
    controller.host.onScanRefusal = { if let error = $0 { failures.append(error) } }
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

  // MARK: Refusals

  /// Intel and Realtek controllers refuse a scan now and then, and accept it the next time (python-bleson#84,
  /// custom-components/ble_monitor#61, noble#176).
  @Test(
    arguments: [LESetScanParameters.opcode, LESetScanEnable.opcode],
    [
      HCIErrorCode.commandDisallowed, .invalidCommandParameters, .hardwareFailure,
    ])
  func aRefusedScanIsTriedAgain(_ refused: HCIOpcode, _ status: HCIErrorCode) {
    let controller = ScriptedController.ready()
    var results: [StackError?] = []
    controller.host.onScanRefusal = { results.append($0) }
    controller.host.setScan(.gentle)
    func refuse() {
      if refused == LESetScanEnable.opcode { controller.complete(LESetScanParameters.opcode) }
      controller.complete(refused, status)
      guard refused == LESetScanParameters.opcode, status == .commandDisallowed else { return }
      // A scan may be on.
      controller.complete(LESetScanEnable.opcode)
      controller.complete(refused, status)
    }
    refuse()
    #expect(results == [.commandFailed(refused, status)])
    _ = controller.takeSent()
    controller.timers.advance(by: .milliseconds(249))
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(1))
    #expect(controller.takeSent() == [gentle])
    refuse()
    _ = controller.takeSent()
    controller.timers.advance(by: .milliseconds(499))
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(1))
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
    #expect(results == [.commandFailed(refused, status), .commandFailed(refused, status), nil])
  }

  /// It is asked every ten seconds at last, and not any more when nobody wants it.
  @Test func aScanThatIsAlwaysRefusedIsAskedForSeldom() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    var count = 0
    for _ in 0..<600 {
      count += controller.takeSent().filter { $0 == gentle }.count
      controller.complete(LESetScanParameters.opcode, .hardwareFailure)
      controller.timers.advance(by: .milliseconds(100))
    }
    // 0, 0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 25.75 ...
    #expect(count == 11)
    controller.host.setScan(nil)
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(60))
    #expect(controller.takeSent() == [])
  }

  /// Links are made while the scan is refused, and a link that is made is a reason to try at once.
  @Test func aRefusedScanDelaysNoLink() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.complete(LESetScanParameters.opcode, .hardwareFailure)
    _ = controller.takeSent()
    let link = controller.established()
    #expect(link.link != nil)
    controller.timers.advance(by: .seconds(1))
    #expect(controller.takeSent() == [])
    controller.host.setScan(.aggressive)
    controller.answerAll()
    #expect(
      controller.takeOpcodes() == [
        LESetScanEnable.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode,
      ])
  }

  /// A scan that could not be stopped is stopped before the next one.
  @Test func scanStopFailureDoesNotDelayConnection() {
    let controller = ScriptedController.ready()
    var failures: [StackError?] = []
    controller.host.onScanRefusal = { failures.append($0) }
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
    controller.complete(LESetScanParameters.opcode, .commandDisallowed)
    #expect(controller.takeSent() == [gentle, disable])
    controller.complete(LESetScanEnable.opcode)
    controller.answerAll()
    #expect(controller.takeSent() == [gentle, enable])
    #expect(failures.last == .some(nil))
  }

  /// A controller that claims the extended commands and does not have them: RTL8761B says Bluetooth 5.1 (bluetooth-next#133).
  @Test(arguments: [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode])
  func theLegacyCommandsReplaceThoseThatAreUnknown(_ unknown: HCIOpcode) {
    let controller = ScriptedController.ready(.extended)
    var results: [StackError?] = []
    controller.host.onScanRefusal = { results.append($0) }
    controller.host.setScan(.gentle)
    if unknown == LESetExtendedScanEnable.opcode { controller.complete(LESetExtendedScanParameters.opcode) }
    controller.complete(unknown, .unknownCommand)
    _ = controller.takeSent()
    controller.complete(LESetScanParameters.opcode)
    controller.complete(LESetScanEnable.opcode)
    #expect(controller.takeSent() == [enable])
    controller.host.setScan(nil)
    #expect(controller.takeSent() == [disable])
    #expect(results == [])
  }

  // MARK: Silence

  /// A scan that reports nothing any more, without an error, works when it is started again (abandonware/noble#79,
  /// home-assistant/core#77043, bluez/bluez#1554, AlCalzone/ioBroker.ble#849).
  @Test func aScanWithoutReportsIsStartedAgain() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(60))
    controller.receive("04 3e 0c 02 01 00 01 b2a1332211c0 00 c4")
    controller.timers.advance(by: .milliseconds(89_999))
    #expect(controller.takeSent() == [])
    controller.timers.advance(by: .milliseconds(1))
    controller.answerAll()
    #expect(controller.takeSent() == [disable, gentle, enable])
    controller.receive("04 3e 0c 02 01 00 01 b2a1332211c0 00 c4")
    controller.timers.advance(by: .seconds(90))
    controller.answerAll()
    #expect(controller.takeSent() == [disable, gentle, enable])
  }

  /// If that does not help, the controller is reset; not if it has a link, which works.
  @Test(arguments: [false, true]) func aScanThatStaysSilentIsReset(_ hasLink: Bool) {
    let controller = ScriptedController.ready()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    let link = hasLink ? controller.established() : nil
    controller.host.setScan(.gentle)
    controller.answerAll()
    controller.timers.advance(by: .seconds(90))
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(90))
    controller.answerAll()
    let sent = controller.takeOpcodes()
    #expect(sent.contains(Reset.opcode) == !hasLink)
    #expect(sent.suffix(2) == [LESetScanParameters.opcode, LESetScanEnable.opcode])
    #expect(link?.losses ?? [] == [])
    #expect(failures == [])
  }

  /// While a link is being made, the scan is off, and no reports come.
  @Test func aPausedScanIsNotSilent() {
    let controller = ScriptedController.ready()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.connect(deadline: .seconds(300))
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(200))
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
