import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct CommandQueueTests {
  let controller = ScriptedController.ready()

  /// Collects the ends of a command.
  private final class Ends {
    var values: [Result<Int8?, StackError>] = []
  }

  private func readRSSI(_ number: UInt16) -> Ends {
    let ends = Ends()
    controller.host.send(ReadRSSI(handle: handle(number))) { ends.values.append($0.map(\.rssi)) }
    return ends
  }

  private func answer(_ number: UInt8, _ rssi: String = "c4", credits: String = "01") {
    controller.receive("04 0e 07 \(credits) 0514 00 \(Hex.string([number])) 00 \(rssi)")
  }

  @Test func commandsGoOneAtATime() {
    let first = readRSSI(1)
    let second = readRSSI(2)
    #expect(controller.takeSent() == ["010514020100"])
    answer(1)
    #expect(first.values == [.success(-60)])
    #expect(controller.takeSent() == ["010514020200"])
    answer(2, "7f")
    #expect(second.values == [.success(nil)])
  }

  @Test func aBudgetOfZeroStopsEverythingUntilItIsGivenBack() {
    let first = readRSSI(1)
    let second = readRSSI(2)
    _ = controller.takeSent()
    answer(1, credits: "00")
    #expect(first.values.count == 1)
    #expect(controller.takeSent() == [])
    // An event that answers nothing gives it back; here as Command Complete, there as Command Status.
    controller.receive("04 0e 03 01 0000")
    #expect(controller.takeSent() == ["010514020200"])
    answer(2, credits: "00")
    #expect(second.values.count == 1)
    _ = readRSSI(3)
    controller.receive("04 0f 04 00 01 0000")
    #expect(controller.takeSent() == ["010514020300"])
  }

  @Test func aBudgetThatNeverComesBackIsFoundOut() {
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    let first = readRSSI(1)
    answer(1, credits: "00")
    let second = readRSSI(2)
    _ = controller.takeSent()
    controller.timers.advance(by: .seconds(3))
    #expect(first.values == [.success(-60)])
    #expect(second.values == [.failure(.commandTimedOut(ReadRSSI.opcode))])
    #expect(failures.count == 1)
  }

  @Test func aLargeBudgetStillMeansOneAtATime() {
    answer(9, credits: "ff")
    _ = (1...3).map { readRSSI($0) }
    #expect(controller.takeSent().count == 1)
  }

  @Test func aDeadlineThatPassesFailsEverything() {
    let link = controller.established()
    var failures: [StackError] = []
    controller.host.onFailure = { failures.append($0) }
    let first = readRSSI(1)
    let second = readRSSI(2)
    controller.timers.advance(by: .seconds(3))
    let error = StackError.commandTimedOut(ReadRSSI.opcode)
    #expect(first.values == [.failure(error)])
    #expect(second.values == [.failure(error)])
    #expect(link.losses == [.hardwareFailure])
    #expect(failures == [error])
    // Nothing is sent any more, and nothing taken.
    _ = controller.takeSent()
    let late = readRSSI(3)
    #expect(late.values == [.failure(error)])
    #expect(controller.connect().error == error)
    answer(1)
    controller.timers.advance(by: .seconds(60))
    #expect(controller.takeSent() == [])
    #expect(failures.count == 1)
    #expect(first.values.count == 1)
  }

  @Test func ignoresUnsolicitedCommandCompletions() {
    controller.complete(Reset.opcode)
    controller.status(Disconnect.opcode)
    let rssi = readRSSI(1)
    controller.complete(Reset.opcode)
    controller.status(Reset.opcode, .commandDisallowed)
    #expect(rssi.values.isEmpty)
    answer(1)
    answer(1)
    #expect(rssi.values == [.success(-60)])
  }

  /// Status where completion is due: an error ends the command, success is only a sign of life.
  @Test func commandStatusWithAnErrorEndsACommand() {
    let refused = readRSSI(1)
    controller.status(ReadRSSI.opcode, .unknownCommand)
    #expect(refused.values == [.failure(.commandFailed(ReadRSSI.opcode, .unknownCommand))])
    let answered = readRSSI(2)
    controller.status(ReadRSSI.opcode)
    #expect(answered.values.isEmpty)
    answer(2)
    #expect(answered.values == [.success(-60)])
  }

  @Test func missingReturnParametersEndACommand() {
    for bytes in ["04 0e 03 01 0514", "04 0e 04 01 0514 00", "04 0e 06 01 0514 00 0100"] {
      let rssi = readRSSI(1)
      controller.receive(bytes)
      let error = rssi.values.first?.error
      #expect(error?.code == .malformedResponse && error?.command == ReadRSSI.opcode, "\(bytes)")
    }
  }

  @Test func anErrorNeedsNoParameters() {
    let rssi = readRSSI(1)
    controller.complete(ReadRSSI.opcode, .unknownConnectionIdentifier)
    #expect(rssi.values == [.failure(.commandFailed(ReadRSSI.opcode, .unknownConnectionIdentifier))])
  }

  @Test func queuesCommandSentFromCompletion() {
    var order: [Int] = []
    controller.host.send(ReadRSSI(handle: handle(1))) { _ in
      order.append(1)
      self.controller.host.send(ReadRSSI(handle: handle(3))) { _ in order.append(3) }
    }
    controller.host.send(ReadRSSI(handle: handle(2))) { _ in order.append(2) }
    for number in 1...3 as ClosedRange<UInt8> { answer(number) }
    #expect(order == [1, 2, 3])
  }
}
