import ATT
import HCI
import HaloBluetoothCore
import TestSupport

@testable import HaloRecording

/// A connection that begins after its discovery, with characteristics at 0x0010, 0x0020, 0x0030 that notify or indicate,
/// and at 0x0040, 0x0050 that are written.
struct GeneratedTraffic {
  private var script = ATTScript()
  /// Makes values different.
  private var count: UInt8 = 0

  static let notifying: [AttributeHandle] = [0x0010, 0x0020, 0x0030]
  static let written: [AttributeHandle] = [0x0040, 0x0050]

  /// Up to 60 steps: subscriptions, also repeated and ended ones, writes with and without an answer, values that nobody
  /// has asked for, also before the subscription, requests of the server, pauses, times that stand still.
  mutating func connection(_ generator: inout SeededGenerator) -> RecordedConnection {
    for _ in 0..<Int.random(in: 3...60, using: &generator) { step(&generator) }
    let reasons: [HCIErrorCode?] = [
      nil, .connectionTimeout, .remoteUserTerminatedConnection, .connectionTerminatedByLocalHost,
    ]
    return script.connection(
      reason: reasons.randomElement(using: &generator) ?? nil,
      endsAfter: Int64.random(in: 0...3000, using: &generator))
  }

  private mutating func step(_ generator: inout SeededGenerator) {
    let notifying = Self.notifying.randomElement(using: &generator) ?? 0x0010
    let value =
      [UInt8.random(in: 1...3, using: &generator)] + generator.bytes(Int.random(in: 0...3, using: &generator))
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1:
      let configuration: [UInt8] = [Bool.random(using: &generator) ? 1 : 2, 0]
      script.ask(
        ATTWriteRequest(AttributeHandle(notifying.rawValue + 1), value: configuration), ATTWriteResponse())
    case 2:
      script.ask(ATTWriteRequest(AttributeHandle(notifying.rawValue + 1), value: [0, 0]), ATTWriteResponse())
    case 3, 4, 5:
      let written = Self.written.randomElement(using: &generator) ?? 0x0040
      if Bool.random(using: &generator) {
        script.command(ATTWriteCommand(written, value: value))
      } else {
        script.ask(ATTWriteRequest(written, value: value), ATTWriteResponse())
      }
      guard Bool.random(using: &generator) else { return }
      for part in 0..<UInt8.random(in: 1...4, using: &generator) {
        push(notifying, [value[0], part], &generator)
      }
    case 6: script.ask(ATTReadRequest(0x0060), ATTReadResponse(value))
    case 7: script.push(ATTExchangeMTURequest(clientMTU: 100), after: 0)
    case 8: script.wait(Int64.random(in: 0...8000, using: &generator))
    default: push(notifying, value, &generator)
    }
  }

  private mutating func push(
    _ handle: AttributeHandle, _ value: [UInt8], _ generator: inout SeededGenerator
  ) {
    count &+= 1
    let value = value + [count]
    let pause = [0, 0, 10, 300, 1500].randomElement(using: &generator) ?? 0
    if handle == Self.notifying[2] {
      script.push(ATTHandleValueIndication(handle, value: value), after: Int64(pause))
      script.command(ATTHandleValueConfirmation())
    } else {
      script.notify(handle, value, after: Int64(pause))
    }
  }
}
