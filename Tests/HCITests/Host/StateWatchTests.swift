import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// What an idle host notices: events that are lost, and controllers that restart.
@Suite struct StateWatchTests {
  private let set = AdvertisingSet()

  private static let commands = SupportedCommands([
    LESetScanEnable.self, LECreateConnection.self, ReadRSSI.self,
  ])
  private static let sets = SupportedCommands([
    LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
    LESetExtendedAdvertisingParameters.self, ReadRSSI.self,
  ])

  private func serving(_ commands: SupportedCommands = Self.commands) throws -> ScriptedController {
    let controller = ScriptedController.ready(.init(commands: commands))
    let advertising = try Advertising(AdvertisingData([.flags(.generalDiscoverable)]))
    controller.host.setAdvertising(advertising, in: set)
    controller.host.onAccepted = { _ in }
    controller.answerAll()
    _ = controller.takeSent()
    return controller
  }

  private func parameters(_ commands: SupportedCommands) -> HCIOpcode {
    commands == Self.sets ? LESetExtendedAdvertisingParameters.opcode : LESetAdvertisingParameters.opcode
  }

  // MARK: Advertising

  /// Parameters are refused while a controller advertises (Vol 4, Part E, 7.8.5): that is how it is asked.
  @Test(arguments: [commands, sets])
  func aControllerThatAdvertisesIsAskedEachHalfMinute(_ commands: SupportedCommands) throws {
    let controller = try serving(commands)
    for _ in 0..<5 {
      controller.timers.advance(by: .seconds(30))
      #expect(controller.takeOpcodes() == [parameters(commands)])
      controller.complete(parameters(commands), .commandDisallowed)
      #expect(controller.takeSent() == [])
    }
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// It has restarted, and forgotten all that was set (zephyrproject-rtos/zephyr 55648): also the events that it is to send.
  @Test(arguments: [commands, sets])
  func aControllerThatHasRestartedIsSetUpAgain(_ commands: SupportedCommands) throws {
    let controller = try serving(commands)
    controller.timers.advance(by: .seconds(30))
    // The parameters are taken, it begins again, and refuses them then.
    #expect(controller.takeOpcodes() == [parameters(commands)])
    controller.complete(parameters(commands))
    let enable = commands == Self.sets ? LESetExtendedAdvertisingEnable.opcode : LESetAdvertisingEnable.opcode
    while controller.takeOpcodes().last.map({ opcode in
      controller.complete(opcode)
      return opcode != enable
    }) ?? false {}
    #expect(controller.takeOpcodes() == [parameters(commands)])
    controller.complete(parameters(commands), .commandDisallowed)
    controller.answerAll()
    let opcodes = controller.takeOpcodes()
    #expect(opcodes.first == Reset.opcode && opcodes.last == enable)
    #expect(controller.host.counters.breakdowns == 1)
  }

  /// Some controllers take parameters at any time: what they answer says nothing, and they are not asked again.
  @Test(arguments: [commands, sets])
  func aControllerThatTakesParametersAtAnyTimeIsNotReset(_ commands: SupportedCommands) throws {
    let controller = try serving(commands)
    controller.timers.advance(by: .seconds(30))
    controller.answerAll()
    let opcodes = controller.takeOpcodes()
    #expect(!opcodes.contains(Reset.opcode))
    #expect(opcodes.filter { $0 == parameters(commands) }.count == 4)
    controller.timers.advance(by: .seconds(300))
    #expect(controller.takeSent() == [])
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// All that a restart takes away is set again: the random address, too, and what a scan wants.
  @Test func aRestartIsFollowedByTheWholeSetUp() {
    let controller = ScriptedController.ready(
      .init(commands: Self.commands, publicAddress: BluetoothAddress(0, .public)))
    controller.host.setScan(.gentle)
    _ = controller.established()
    controller.timers.advance(by: .seconds(30))
    controller.receive(.complete(ReadRSSI.opcode, [0x02, 0x40, 0, 0]))
    controller.answerAll()
    let opcodes = controller.takeOpcodes()
    for opcode in [
      Reset.opcode, SetEventMask.opcode, LESetEventMask.opcode, LESetRandomAddress.opcode,
      LESetScanEnable.opcode,
    ] { #expect(opcodes.contains(opcode)) }
  }

  // MARK: Links

  /// Disconnection Complete of a central's link is lost (apache/mynewt-nimble 1148, raspberrypi/linux 5460).
  @Test func aLinkWhoseEndWasLostIsNoticed() throws {
    let controller = try serving()
    var losses: [HCIErrorCode] = []
    controller.host.onAccepted = { link in link.onDisconnected = { losses.append($0) } }
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    controller.connectionComplete(0x41, peer: BluetoothAddress(7, .random), role: .peripheral)
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(30))
    // One is there, and the other one is not: the controller has not restarted.
    #expect(controller.takeSent() == ["0105140240" + "00"])
    controller.receive(.complete(ReadRSSI.opcode, [0x02, 0x40, 0, 0]))
    #expect(controller.takeSent() == ["0105140241" + "00"])
    controller.receive(.complete(ReadRSSI.opcode, [0x00, 0x41, 0, 0xC4]))
    #expect(losses == [])
    controller.complete(LESetAdvertisingParameters.opcode, .commandDisallowed)
    #expect(losses == [.unknownConnectionIdentifier])
    #expect(!controller.takeOpcodes().contains(Reset.opcode))
  }

  /// The controller knows no link any more.
  @Test func aControllerThatKnowsNoLinkIsReset() {
    let controller = ScriptedController.ready(.init(commands: Self.commands))
    let link = controller.established()
    controller.timers.advance(by: .seconds(30))
    #expect(controller.takeOpcodes() == [ReadRSSI.opcode])
    controller.receive(.complete(ReadRSSI.opcode, [0x02, 0x40, 0, 0]))
    #expect(link.link?.failure == .stateLost)
    controller.answerAll()
    #expect(controller.takeOpcodes().first == Reset.opcode)
    #expect(controller.established().link != nil)
  }

  /// It still advertises, so it has not restarted: the link alone is gone.
  @Test func lostDisconnectionEventDoesNotCauseReset() throws {
    let controller = try serving()
    var losses: [HCIErrorCode] = []
    controller.host.onAccepted = { link in link.onDisconnected = { losses.append($0) } }
    for round in 1...6 {
      controller.connectionComplete(0x40, role: .peripheral)
      controller.answerAll()
      _ = controller.takeSent()
      controller.timers.advance(by: .seconds(30))
      controller.receive(.complete(ReadRSSI.opcode, [0x02, 0x40, 0, 0]))
      controller.complete(LESetAdvertisingParameters.opcode, .commandDisallowed)
      #expect(losses.count == round)
    }
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// A link ends in order while it is asked for, and another one may get its handle.
  @Test(arguments: [false, true]) func linkEndingDuringStateCheckDoesNotCauseReset(_ isFollowed: Bool) {
    let controller = ScriptedController.ready(.init(commands: Self.commands))
    _ = controller.established()
    controller.timers.advance(by: .seconds(30))
    #expect(controller.takeOpcodes() == [ReadRSSI.opcode])
    controller.disconnected()
    var next: ScriptedController.Attempt?
    if isFollowed {
      next = controller.connect()
      controller.connectionComplete()
    }
    controller.receive(.complete(ReadRSSI.opcode, [0x02, 0x40, 0, 0]))
    controller.answerAll()
    controller.connectionComplete()
    controller.answerAll()
    #expect(!controller.takeOpcodes().contains(Reset.opcode) && controller.host.counters.breakdowns == 0)
    #expect(next?.losses ?? [] == [])
  }

  /// Data say more than the answer to a question.
  @Test(arguments: [HCIErrorCode.unknownConnectionIdentifier, .commandDisallowed])
  func controllerWithDataOnLinkIsNotReset(_ status: HCIErrorCode) throws {
    let controller = try serving()
    controller.host.onAccepted = { _ in }
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    for _ in 0..<20 {
      _ = controller.takeSent()
      controller.timers.advance(by: .seconds(15))
      controller.receive("02 4020 0500 0100 0400 0b")
      for opcode in controller.takeOpcodes() {
        controller.complete(opcode, opcode == ReadRSSI.opcode ? status : .commandDisallowed)
      }
    }
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// The end of advertising was lost while a link lives: the link stays.
  @Test func aLostAdvertisementCostsNoLink() throws {
    let controller = try serving()
    var losses: [HCIErrorCode] = []
    controller.host.onAccepted = { link in link.onDisconnected = { losses.append($0) } }
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(30))
    // Neither says anything of the link.
    controller.complete(ReadRSSI.opcode, .commandDisallowed)
    controller.complete(LESetAdvertisingParameters.opcode)
    while let opcode = controller.takeOpcodes().last, opcode != LESetAdvertisingParameters.opcode {
      controller.complete(opcode)
    }
    controller.complete(LESetAdvertisingParameters.opcode, .commandDisallowed)
    #expect(losses == [] && controller.host.counters.breakdowns == 0)
  }

  /// A central connects while the controller is asked whether it advertises: that has ended it.
  @Test func aCentralThatConnectsMeanwhileKeepsItsLink() throws {
    let controller = try serving()
    var losses: [HCIErrorCode] = []
    controller.host.onAccepted = { link in link.onDisconnected = { losses.append($0) } }
    controller.timers.advance(by: .seconds(30))
    #expect(controller.takeOpcodes() == [LESetAdvertisingParameters.opcode])
    controller.connectionComplete(0x40, role: .peripheral)
    controller.complete(LESetAdvertisingParameters.opcode)
    controller.answerAll()
    #expect(losses == [] && controller.host.counters.breakdowns == 0)
    #expect(controller.takeOpcodes().last == LESetAdvertisingEnable.opcode)
  }

  /// Advertising that is refused for a while is watched when it is on.
  @Test func advertisingThatWasRefusedIsWatchedLater() throws {
    let controller = try serving()
    controller.host.setAdvertising(nil, in: set)
    controller.answerAll()
    controller.host.setAdvertising(
      try Advertising(AdvertisingData([.flags(.limitedDiscoverable)])), in: set)
    for _ in 0..<20 {
      while let opcode = controller.takeOpcodes().last {
        controller.complete(
          opcode, opcode == LESetAdvertisingEnable.opcode ? .connectionLimitExceeded : .success)
      }
      controller.timers.advance(by: .seconds(2))
    }
    for _ in 0..<5 {
      controller.timers.advance(by: .seconds(2))
      controller.answerAll()
    }
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(30))
    #expect(controller.takeOpcodes().contains(LESetAdvertisingParameters.opcode))
  }

  /// Some controllers that are made of software ignore Read RSSI: they are asked no more, if they answer something else.
  @Test func toleratesControllerThatIgnoresReadRSSI() {
    let controller = ScriptedController.ready(.init(commands: Self.commands))
    let link = controller.established()
    controller.timers.advance(by: .seconds(33))
    #expect(controller.takeOpcodes() == [ReadRSSI.opcode, ReadBDADDR.opcode])
    controller.receive(.complete(ReadBDADDR.self, .init()))
    controller.timers.advance(by: .seconds(100))
    #expect(controller.takeSent() == [] && link.losses == [])
  }

  /// Controllers say No Operation when they have started.
  @Test func unsolicitedNoOperationTriggersStateCheck() {
    let controller = ScriptedController.ready(.init(commands: Self.commands))
    _ = controller.established()
    controller.timers.advance(by: .seconds(12))
    controller.receive("040e03010000")
    #expect(controller.takeOpcodes() == [ReadRSSI.opcode])
    controller.receive(.complete(ReadRSSI.opcode, [0x00, 0x40, 0, 0xC4]))
    // Not more often than every ten seconds: some give their credits back in this way.
    for _ in 0..<9 {
      controller.timers.advance(by: .seconds(1))
      controller.receive("040e03010000")
    }
    #expect(controller.takeSent() == [])
  }

  /// There is nothing to ask for, and nothing wakes the process.
  @Test func anIdleHostIsNotWoken() {
    let controller = ScriptedController.ready(.init(commands: Self.commands))
    controller.host.setScan(nil)
    #expect(controller.timers.nextDeadline == nil)
    _ = controller.established()
    controller.disconnected()
    controller.timers.advance(by: .seconds(31))
    #expect(controller.timers.nextDeadline == nil && controller.takeSent() == [])
  }
}
