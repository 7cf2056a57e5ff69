import HaloRaw
import HeartRateMonitor
import Testing

/// Tests of a program against a recorded device: `heart-rate.btsnoop` was made with `heart-rate ADAPTER FILE`.
@BluetoothActor
@Suite(.serialized) struct HeartRateMonitorTests {
  private static let recording =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/heart-rate.btsnoop"

  /// A program on the recorded device.
  private func replay<Value: Sendable>(
    _ peripheral: ReplayedPeripheral, _ program: @escaping @Sendable (HeartRateMonitor) async throws -> Value
  ) async throws -> Value {
    try await peripheral.replay { radio in
      try await program(HeartRateMonitor(radio.connect(to: .service(HeartRateMonitor.service))))
    }
  }

  @Test func theHeartRatesAreThoseOfTheRecording() async throws {
    let peripheral = try ReplayedPeripheral(path: Self.recording)
    peripheral.expect(write: [1], to: HeartRateMonitor.controlPoint)
    peripheral.expect(subscriptionTo: HeartRateMonitor.measurement)
    let rates = try await replay(peripheral) { monitor in
      try await monitor.resetEnergy()
      return try await monitor.heartRates(3)
    }
    #expect(rates == [64, 65, 300])
    try peripheral.verify()
  }

  @Test func theBatteryIsReadWithoutTheRest() async throws {
    let peripheral = try ReplayedPeripheral(path: Self.recording)
    peripheral.expect(readOf: .batteryLevel)
    let battery = try await replay(peripheral) { try await $0.battery() }
    #expect(battery == 81)
    try peripheral.verify()
  }

  @Test func whatTheProgramForgetsIsListed() async throws {
    let peripheral = try ReplayedPeripheral(path: Self.recording)
    peripheral.expect(write: [1], to: HeartRateMonitor.controlPoint)
    _ = try await replay(peripheral) { try await $0.battery() }
    #expect(peripheral.unmet.map(\.description) == ["write 01 to 2A39"])
    #expect(throws: ReplayError.self) { try peripheral.verify() }
  }
}
