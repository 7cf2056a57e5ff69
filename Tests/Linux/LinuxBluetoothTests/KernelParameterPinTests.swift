import HaloGATT
import HCI
import Testing

@testable import HaloLinuxBluetooth

@Suite struct KernelParameterPinTests {
  /// 12.5 to 20 ms, latency 2, 3 s.
  private static let wanted = ConnectionParameters(
    intervalMin: ConnectionInterval(rawValue: 10), intervalMax: ConnectionInterval(rawValue: 16), latency: 2,
    supervisionTimeout: SupervisionTimeout(rawValue: 300))

  private func pin(_ policy: ParameterPolicy) -> ConnectionParameterOverride? {
    ConnectionParameterOverride(
      ConnectionRequest(
        peer: .init(0xC011_2233_A1B2, .random), parameters: Self.wanted, parameterPolicy: policy))
  }

  private static func found(_ interval: UInt16, _ latency: UInt16 = 2, _ timeout: UInt16 = 300)
    -> LinkParameters
  {
    LinkParameters(
      interval: ConnectionInterval(rawValue: interval), latency: latency,
      supervisionTimeout: SupervisionTimeout(rawValue: timeout))
  }

  @Test func acceptPolicyPinsNoParameters() {
    #expect(pin(.accept) == nil)
  }

  @Test(arguments: [found(10), found(16), found(13, 0)])
  func leavesParametersWithinRange(_ parameters: LinkParameters) {
    var pin = self.pin(.keep)
    #expect(pin?.verdict(on: parameters) == .leave)
  }

  @Test(arguments: [found(9), found(17), found(13, 3), found(13, 2, 301), found(13, 2, 299)])
  func restoresParametersOutOfRange(_ parameters: LinkParameters) {
    var pin = self.pin(.keep)
    #expect(pin?.verdict(on: parameters) == .restore(1))
  }

  /// A peer that asks again after each time must not keep the two sides busy for ever.
  @Test func stopsRestoringAfterEightAttempts() {
    var pin = self.pin(.keep)
    var verdicts: [ConnectionParameterOverride.Verdict?] = []
    for _ in 0..<20 {
      verdicts.append(pin?.verdict(on: Self.found(80)))
      #expect(pin?.verdict(on: Self.found(16)) == .leave)
    }
    #expect(verdicts.prefix(8) == (1...8).map { .restore($0) }[...])
    #expect(verdicts[8] == .giveUp)
    #expect(verdicts.dropFirst(9).allSatisfy { $0 == .leave })
  }
}
