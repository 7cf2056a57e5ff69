import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// The text of what is rare.
@Suite struct DecodedTextTests {
  /// Weight Measurement (GATT Specification Supplement): 0.005 kg or 0.01 lb, 0.001 m or 0.1 in.
  @Test(arguments: [
    ("00 204e", "flags none, weight 100.000 kg"), ("00 0100", "flags none, weight 0.005 kg"),
    ("01 204e", "flags imperial, weight 200.00 lb"),
    ("08 204e fa00 d606", "flags BMI and height, weight 100.000 kg, BMI 25.0, height 1.750 m"),
    ("09 204e fa00 b202", "flags imperial, BMI and height, weight 200.00 lb, BMI 25.0, height 69.0 in"),
  ])
  func weightsHaveTheirUnits(_ digits: String, _ words: String) {
    #expect(CharacteristicValue.text(hex(digits.dense), type: 0x2A9D) == words)
  }

  /// Signed Write Command (Vol 3, Part F, 3.4.5.4): the last 12 bytes are the signature.
  @Test func aSignedWriteHasItsValueAndItsSignature() {
    let script = Script()
    script.received(Script.connected)
    let packet = script.att("d2 0300 0102 01000000 1122334455667788".dense, isSent: true)
    #expect(packet.summary == "Signed Write Command, 0x0003: 0102 · Signed Write Without Response")
    #expect(packet.value(.att, "sign counter") == "1")
    let cut = script.att("d2 0300 01000000 112233".dense, isSent: true)
    #expect(!cut.summary.contains("0x0003: "))
  }

  @Test func showsUnknownATTOpcodeInHex() {
    let script = Script()
    script.received(Script.connected)
    let packet = script.att("3e 0102".dense, isSent: true)
    #expect(packet.summary.contains("0x3e") && packet.summary.contains("0102"))
  }

  // MARK: Names

  private func learn(
    _ names: inout DeviceNames, _ name: String, of number: UInt64 = 1, isComplete: Bool = true
  )
    -> Bool
  {
    let bytes = Array(name.utf8)
    return names.learn(bytes.span.bytes, of: BluetoothAddress(number, .random), isComplete: isComplete)
  }

  private func name(_ names: DeviceNames, of number: UInt64 = 1) -> String? {
    names[BluetoothAddress(number, .random)]
  }

  /// A device that advertises an empty name, as some do in the scan response, still has the name that it had.
  @Test func anEmptyNameReplacesNone() {
    var names = DeviceNames()
    let steps = [
      learn(&names, "R02"), learn(&names, ""), learn(&names, "\0\0"), learn(&names, "R02\0\0"),
      learn(&names, "R0", isComplete: false),
    ]
    #expect(steps == [true, false, false, false, false])
    #expect(name(names) == "R02")
    let longer = learn(&names, "R02 new")
    #expect(longer && name(names) == "R02 new")
  }

  @Test func aShortenedNameIsReplaced() {
    var names = DeviceNames()
    let steps = [
      learn(&names, "R0", isComplete: false), learn(&names, "R02_1", isComplete: false), learn(&names, "R0"),
    ]
    #expect(steps == [true, true, true])
    #expect(name(names) == "R0")
  }

  @Test func theFirstNameIsForgottenFirst() {
    var names = DeviceNames()
    for number in 1...UInt64(DeviceNames.capacity) { _ = learn(&names, "n\(number)", of: number) }
    #expect(name(names, of: 1) == "n1")
    _ = learn(&names, "new", of: 9001)
    _ = learn(&names, "newer", of: 9002)
    #expect(name(names, of: 1) == nil && name(names, of: 2) == nil && name(names, of: 3) == "n3")
    #expect(name(names, of: 9001) == "new" && name(names, of: 9002) == "newer")
  }
}
