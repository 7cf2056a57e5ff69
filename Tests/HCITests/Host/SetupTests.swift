import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct SetupTests {
  @Test func setsUpControllerWithoutExtendedCommands() throws {
    let controller = ScriptedController()
    controller.initialize()
    controller.answerAll()
    #expect(
      controller.takeSent() == [
        "01030c00", "01011000", "01021000", "01031000", "01032000", "01010c08" + "90e8040000800020",
        "01012008" + "0f00000000000000", "01022000", "01091000",
      ])
    let information = try #require(try controller.outcome?.get())
    #expect(information.address == BluetoothAddress(0x0001_0203_0405, .public))
    #expect(information.aclDataLength == 27)
    #expect(information.aclPackets == 4)
    #expect(!information.usesExtendedScan)
    #expect(!information.usesExtendedConnect)
    #expect(controller.host.controller == information)
  }

  @Test(arguments: [(UInt16(0), UInt8(0)), (0, 4), (27, 0)])
  func withoutBuffersOfItsOwnLESharesThoseOfBREDR(_ length: UInt16, _ count: UInt8) throws {
    let controller = ScriptedController(.init(leBuffers: (length, count)))
    controller.initialize()
    controller.answerAll()
    let information = try #require(try controller.outcome?.get())
    #expect(information.aclDataLength == 1021)
    #expect(information.aclPackets == 8)
  }

  @Test(arguments: [UInt64(0), 0xFFFF_FFFF_FFFF])
  func withoutAPublicAddressTheRandomOneIsSet(_ none: UInt64) throws {
    let controller = ScriptedController(.init(publicAddress: BluetoothAddress(none, .public)))
    controller.initialize()
    controller.answerAll()
    #expect(controller.takeSent().last == "01052006" + "01efbeaddee0")
    let information = try #require(try controller.outcome?.get())
    #expect(information.address == ScriptedController.random)
  }

  @Test func theFamilyOfCommandsIsThatOfTheSupportedCommands() throws {
    let extended = try #require(try ScriptedController.ready(.extended).outcome?.get())
    #expect(extended.usesExtendedScan && extended.usesExtendedConnect)
    // Never mixed: without the extended scan, the extended connect is not used either.
    let half = ScriptedController.ready(
      .init(commands: SupportedCommands([LEExtendedCreateConnection.self, LESetExtendedScanEnable.self])))
    let information = try #require(try half.outcome?.get())
    #expect(!information.usesExtendedScan && !information.usesExtendedConnect)
  }

  @Test func eventsOfFeaturesThatAreNotThereAreNotAskedFor() {
    let all = ScriptedController(
      .init(leFeatures: [
        .encryption, .connectionParametersRequestProcedure, .dataPacketLengthExtension, .phy2M,
        .extendedAdvertising,
      ]))
    all.initialize()
    all.answerAll()
    let mask = all.takeSent().first { $0.hasPrefix("010120") }
    #expect(mask == "01012008" + "7f1a020000000000")
  }

  @Test func aControllerWithoutLEIsRefused() {
    let controller = ScriptedController(.init(commands: SupportedCommands(), features: []))
    controller.initialize()
    controller.answerAll()
    #expect(controller.outcome == .failure(.lowEnergyNotSupported))
    // The bit may be missing where the commands are there.
    let only = ScriptedController.ready(
      .init(commands: SupportedCommands([LESetScanEnable.self]), features: []))
    #expect((try? only.outcome?.get()) != nil)
  }

  @Test func reportsFailedSetupCommand() {
    let controller = ScriptedController()
    controller.initialize()
    controller.complete(Reset.opcode, .hardwareFailure)
    #expect(controller.outcome == .failure(.commandFailed(Reset.opcode, .hardwareFailure)))
    #expect(controller.takeSent() == ["01030c00"])
  }

  @Test func reportsCommandWithShortReturnParameters() {
    let controller = ScriptedController()
    controller.initialize()
    controller.complete(Reset.opcode)
    controller.receive("04 0e 05 01 0110 00 09")
    let error = controller.outcome?.error
    #expect(error?.code == .malformedResponse && error?.command == ReadLocalVersionInformation.opcode)
  }

  @Test func aControllerThatNeverAnswersIsGivenUp() {
    let controller = ScriptedController()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    controller.initialize()
    controller.timers.advance(by: .milliseconds(2999))
    #expect(controller.outcome == nil)
    controller.timers.advance(by: .milliseconds(1))
    #expect(controller.outcome == .failure(.commandTimedOut(Reset.opcode)))
    #expect(failures == [.commandTimedOut(Reset.opcode)])
    #expect(controller.takeSent() == ["01030c00"])
  }

  /// The reason is told at once, not three seconds later as a command that was not answered.
  @Test func reportsTransportClosedBeforeSetup() {
    let controller = ScriptedController()
    controller.host.transportClosed("refused")
    controller.initialize()
    #expect(controller.outcome == .failure(.transportClosed("refused")))
    #expect(controller.takeSent() == [])
  }

  @Test func startsScanRequestedBeforeSetup() {
    let controller = ScriptedController()
    controller.host.setScan(.gentle)
    controller.initialize()
    controller.answerAll()
    #expect(controller.takeOpcodes().suffix(2) == [LESetScanParameters.opcode, LESetScanEnable.opcode])
  }

  @Test func connectBeforeSetupFails() {
    let controller = ScriptedController()
    #expect(controller.connect().error == .notReady)
  }
}
