import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// Controllers that can't advertise and create a link at the same time (Vol 4, Part E, 7.8.27). Linux pauses its advertising
/// for each creation for this reason.
@Suite struct ExclusiveStatesTests {
  private let set = AdvertisingSet()

  private func advertising(_ commands: [any HCICommand.Type] = []) throws -> ScriptedController {
    let controller = ScriptedController.ready(
      .init(commands: SupportedCommands([LESetScanEnable.self, LECreateConnection.self] + commands)))
    controller.host.setAdvertising(
      try Advertising(AdvertisingData([.flags(.generalDiscoverable)])), in: set)
    controller.answerAll()
    _ = controller.takeSent()
    return controller
  }

  private static let off = "010a200100"
  private static let on = "010a200101"

  @Test(arguments: [
    HCIErrorCode.commandDisallowed, .connectionRejectedLimitedResources, .invalidCommandParameters,
  ])
  func aCreationThatIsRefusedIsTriedWithoutAdvertising(_ status: HCIErrorCode) throws {
    let controller = try advertising()
    for attempt in 0..<3 {
      let link = controller.connect()
      if attempt == 0 {
        #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
        controller.status(LECreateConnection.opcode, status)
      }
      #expect(controller.takeSent() == [Self.off])
      controller.complete(LESetAdvertisingEnable.opcode)
      #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
      controller.status(LECreateConnection.opcode)
      #expect(controller.takeSent() == [])
      controller.connectionComplete()
      controller.answerAll()
      controller.featuresComplete()
      controller.answerAll()
      #expect(link.link?.isConnected == true && controller.takeSent().contains(Self.on))
      controller.disconnected()
      controller.answerAll()
      _ = controller.takeSent()
    }
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// The states say it before it is tried.
  @Test(arguments: [0, 1 << 2, 1 << 2 | 1 << 32] as [UInt64])
  func theStatesOfTheControllerAreAskedFor(_ states: UInt64) throws {
    let controller = try advertising([LEReadSupportedStates.self])
    _ = controller.connect()
    #expect(controller.takeOpcodes() == [LEReadSupportedStates.opcode])
    controller.receive(.complete(LEReadSupportedStates.self, .init { $0.states = states }))
    let pauses = states == 1 << 2
    #expect(controller.takeOpcodes() == [pauses ? LESetAdvertisingEnable.opcode : LECreateConnection.opcode])
  }

  /// Advertising is not the reason: it is on again, and stays on for the next attempt.
  @Test func aCreationThatIsRefusedNeverthelessIsRefused() throws {
    let controller = try advertising()
    let link = controller.connect()
    controller.status(LECreateConnection.opcode, .commandDisallowed)
    controller.complete(LESetAdvertisingEnable.opcode)
    controller.status(LECreateConnection.opcode, .commandDisallowed)
    #expect(link.error == .commandFailed(LECreateConnection.opcode, .commandDisallowed))
    controller.answerAll()
    #expect(controller.takeSent().contains(Self.on))
    _ = controller.connect()
    #expect(controller.takeOpcodes() == [LECreateConnection.opcode])
  }

  /// An attempt that is given up while advertising stops leaves nothing behind.
  @Test func anAttemptThatIsGivenUpGoesOnAdvertising() throws {
    let controller = try advertising()
    let link = controller.connect(deadline: .seconds(5))
    controller.status(LECreateConnection.opcode, .commandDisallowed)
    link.giveUp()
    _ = controller.takeSent()
    controller.complete(LESetAdvertisingEnable.opcode)
    controller.complete(LECreateConnectionCancel.opcode, .commandDisallowed)
    controller.answerAll()
    #expect(link.error == .cancelled)
    let sent = controller.takeSent()
    #expect(sent.contains(Self.on) && !sent.contains { $0.hasPrefix("010d20") })
    // The controller creates nothing: the next refusal is no sign of a lost event.
    let next = controller.connect()
    controller.status(LECreateConnection.opcode, .connectionLimitExceeded)
    #expect(next.error == .commandFailed(LECreateConnection.opcode, .connectionLimitExceeded))
    #expect(controller.host.counters.breakdowns == 0)
  }

  /// An attempt is given up while the states are read: nothing is paused for it.
  @Test func attemptCancelledDuringStateReadPausesNothing() throws {
    let controller = try advertising([LEReadSupportedStates.self])
    let link = controller.connect()
    #expect(controller.takeOpcodes() == [LEReadSupportedStates.opcode])
    link.giveUp()
    controller.receive(.complete(LEReadSupportedStates.self, .init { $0.states = 1 << 2 }))
    #expect(controller.takeSent() == [])
  }

  // MARK: A scan and advertising

  /// Answers commands as a controller that does one at a time, for some seconds.
  ///
  /// - Returns: the times, in tenths of a second, at which each began
  private func run(
    _ controller: ScriptedController, seconds: Int, refuses: Set<HCIOpcode>, isAdvertising: inout Bool,
    isScanning: inout Bool
  ) -> (scan: [Int], advertising: [Int]) {
    var began: (scan: [Int], advertising: [Int]) = ([], [])
    for tenth in 0..<seconds * 10 {
      var sent = controller.takeSent()
      while !sent.isEmpty {
        for packet in sent {
          let opcode = HCIOpcode(ofCommand: hex(packet))
          let isOn = hex(packet)[4] == 1
          var status = HCIErrorCode.success
          switch opcode {
          case LESetScanEnable.opcode where isOn && isAdvertising,
            LESetAdvertisingEnable.opcode where isOn && isScanning,
            _ where isOn && refuses.contains(opcode),
            // Parameters can't be set while it is on.
            LESetScanParameters.opcode where isScanning,
            LESetAdvertisingParameters.opcode where isAdvertising:
            status = .commandDisallowed
          case LESetScanEnable.opcode:
            isScanning = isOn
            if isOn { began.scan.append(tenth) }
          case LESetAdvertisingEnable.opcode:
            isAdvertising = isOn
            if isOn { began.advertising.append(tenth) }
          default: break
          }
          controller.complete(opcode, status)
        }
        sent = controller.takeSent()
      }
      controller.timers.advance(by: .milliseconds(100))
    }
    return began
  }

  @Test func aScanAndAdvertisingTakeTurns() throws {
    let controller = try advertising()
    var refusals: [StackError] = []
    controller.host.onScanRefusal = { if let error = $0 { refusals.append(error) } }
    var (isAdvertising, isScanning) = (true, false)
    controller.host.setScan(.gentle)
    let began = run(
      controller, seconds: 60, refuses: [], isAdvertising: &isAdvertising, isScanning: &isScanning)
    // Five seconds each.
    #expect(began.scan.count == 6 && began.advertising.count == 6, "\(began)")
    #expect(zip(began.scan, began.advertising).allSatisfy { 45...52 ~= $1 - $0 }, "\(began)")
    #expect(refusals == [] && controller.host.counters.breakdowns == 0)
    // The scan alone needs none.
    controller.host.setAdvertising(nil, in: set)
    let alone = run(
      controller, seconds: 60, refuses: [], isAdvertising: &isAdvertising, isScanning: &isScanning)
    #expect(alone.advertising == [] && alone.scan.count <= 1 && isScanning, "\(alone)")
  }

  /// Advertising that is refused for a scan has turns, too.
  @Test func advertisingThatIsRefusedForAScanTakesTurns() throws {
    let controller = ScriptedController.ready(.init(commands: SupportedCommands([LESetScanEnable.self])))
    var results: [StackError?] = []
    set.onResult = { results.append($0) }
    var (isAdvertising, isScanning) = (false, false)
    controller.host.setScan(.gentle)
    _ = run(controller, seconds: 1, refuses: [], isAdvertising: &isAdvertising, isScanning: &isScanning)
    controller.host.setAdvertising(
      try Advertising(AdvertisingData([.flags(.generalDiscoverable)])), in: set)
    let began = run(
      controller, seconds: 60, refuses: [], isAdvertising: &isAdvertising, isScanning: &isScanning)
    #expect(5...7 ~= began.scan.count && 5...7 ~= began.advertising.count, "\(began)")
    #expect(results.allSatisfy { $0 == nil } && !results.isEmpty)
  }

  /// The other side is not the reason: it stays on, and the refusal is reported.
  @Test(arguments: [LESetScanEnable.opcode, LESetAdvertisingEnable.opcode])
  func aRefusalInItsOwnTurnEndsTheTurns(_ refused: HCIOpcode) throws {
    let controller =
      refused == LESetScanEnable.opcode
      ? try advertising()
      : ScriptedController.ready(.init(commands: SupportedCommands([LESetScanEnable.self])))
    var refusals: [StackError] = []
    controller.host.onScanRefusal = { if let error = $0 { refusals.append(error) } }
    set.onResult = { if let error = $0 { refusals.append(error) } }
    var (isAdvertising, isScanning) = (refused == LESetScanEnable.opcode, false)
    controller.host.setScan(.gentle)
    _ = run(
      controller, seconds: 1, refuses: [refused], isAdvertising: &isAdvertising, isScanning: &isScanning)
    controller.host.setAdvertising(
      try Advertising(AdvertisingData([.flags(.generalDiscoverable)])), in: set)
    let began = run(
      controller, seconds: 80, refuses: [refused], isAdvertising: &isAdvertising, isScanning: &isScanning)
    #expect(began.scan.count <= 1 && began.advertising.count <= 1, "\(began)")
    #expect(isScanning || isAdvertising)
    #expect(refusals.first == .commandFailed(refused, .commandDisallowed))
  }
}
