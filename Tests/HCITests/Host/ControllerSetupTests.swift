import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// The set-up of a controller as a dialogue of bytes: no host controller, no queue, no time.
@Suite struct ControllerSetupTests {
  private static let random = BluetoothAddress(0xE0DE_ADBE_EF01, .random)

  /// The commands, and the responses to them without the status, in hexadecimal digits.
  private struct Dialogue {
    var setup = ControllerSetup(randomAddress: ControllerSetupTests.random)
    var sent: [String] = []
    var result: Result<ControllerInformation, StackError>?

    init() { take(setup.start()) }

    private mutating func take(_ step: ControllerSetup.Step) {
      switch step {
      case .send(let command):
        var writer = ByteWriter(capacity: 64)
        command.packet(into: &writer)
        sent.append(Hex.string(writer.bytes))
      case .done(let result): self.result = result
      }
    }

    mutating func answer(_ parameters: String...) {
      for parameters in parameters { take(setup.next(.success(hex(parameters)))) }
    }

    mutating func fail(_ error: StackError) { take(setup.next(.failure(error))) }
  }

  /// Reset; version; all commands; LMP features with LE; LE host support; LE features of none; both masks.
  private static let untilBuffers = [
    "", "0a 0000 0a 0f00 0000", String(repeating: "ff", count: 64), "0000000040000000", "",
    "0000000000000000", "", "",
  ]

  private func dialogueUntilBuffers() -> Dialogue {
    var dialogue = Dialogue()
    for parameters in Self.untilBuffers { dialogue.answer(parameters) }
    return dialogue
  }

  @Test func theCommandsInTheirOrder() throws {
    var dialogue = dialogueUntilBuffers()
    dialogue.answer("1b00 04", "050403020100")
    #expect(
      dialogue.sent == [
        "01030c00", "01011000", "01021000", "01031000", "016d0c02" + "0100", "01032000",
        "01010c08" + "90e8040000800020",
        "01012008" + "0f00000000000000", "01022000", "01091000",
      ])
    let information = try #require(try dialogue.result?.get())
    #expect(information.address == BluetoothAddress(0x0001_0203_0405, .public))
    #expect(information.aclDataLength == 27)
    #expect(information.aclPackets == 4)
    #expect(information.usesExtendedConnect)
  }

  @Test func withoutLEBuffersAndAddressItAsksForMore() throws {
    var dialogue = dialogueUntilBuffers()
    dialogue.answer("0000 00", "fd03 00 0800 0000", "ffffffffffff", "")
    #expect(dialogue.sent.suffix(3) == ["01051000", "01091000", "01052006" + "01efbeaddee0"])
    let information = try #require(try dialogue.result?.get())
    #expect(information.address == Self.random)
    #expect(information.aclDataLength == 1021)
    #expect(information.aclPackets == 8)
  }

  @Test func withoutAnyBuffersItFails() {
    var dialogue = dialogueUntilBuffers()
    dialogue.answer("1b00 00", "fd03 00 0000 0000")
    #expect(dialogue.result == .failure(.noDataBuffers))
  }

  @Test func withoutLEItFails() {
    var dialogue = Dialogue()
    dialogue.answer("", "0a 0000 0a 0f00 0000", String(repeating: "00", count: 64), "0000000000000000")
    #expect(dialogue.result == .failure(.lowEnergyNotSupported))
    #expect(dialogue.sent.count == 4)
  }

  @Test func aFailedCommandEndsIt() {
    var dialogue = Dialogue()
    dialogue.answer("")
    dialogue.fail(.commandTimedOut(ReadLocalVersionInformation.opcode))
    #expect(dialogue.result == .failure(.commandTimedOut(ReadLocalVersionInformation.opcode)))
    #expect(dialogue.sent.count == 2)
  }

  /// A controller that takes the bits of events that cannot be masked for errors.
  @Test func aRefusedEventMaskIsSetWithoutItsReservedBits() {
    var dialogue = Dialogue()
    for parameters in Self.untilBuffers.prefix(6) { dialogue.answer(parameters) }
    let error = StackError.commandFailed(SetEventMask.opcode, .invalidCommandParameters)
    dialogue.fail(error)
    #expect(dialogue.sent.suffix(2) == ["01010c08" + "90e8040000800020", "01010c08" + "9088000000800020"])
    #expect(dialogue.result == nil)
    dialogue.fail(error)
    #expect(dialogue.result == .failure(error))
  }

  /// Linux, Zephyr, BTstack and Bumble write it; a Reset switches it off. The set-up does without where it is refused.
  @Test func aRefusalOfLEHostSupportIsIgnored() {
    var dialogue = Dialogue()
    for parameters in Self.untilBuffers.prefix(4) { dialogue.answer(parameters) }
    #expect(dialogue.sent.last == "016d0c02" + "0100")
    dialogue.fail(.commandFailed(WriteLEHostSupport.opcode, .commandDisallowed))
    #expect(dialogue.sent.last == "01032000" && dialogue.result == nil)
  }

  @Test func aShortResponseEndsIt() {
    var dialogue = Dialogue()
    dialogue.answer("", "0a00")
    let error = dialogue.result?.error
    #expect(error?.code == .malformedResponse && error?.command == ReadLocalVersionInformation.opcode)
  }
}
