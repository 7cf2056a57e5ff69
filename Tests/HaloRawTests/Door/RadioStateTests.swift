import GAP
import HCI
import HaloBluetoothCore
import HaloRaw
import TestLink
import TestLoop
import TestSupport
import Testing
import HaloSimulation

/// What a program learns of its radio, and how it listens.
@BluetoothActor
@Suite(.onTheLoop) struct RadioStateTests {
  /// A machine without adapters has none, which is no error.
  @Test func adaptersAreListed() async throws {
    for adapter in try await Radio.list() { #expect(adapter.selector.description.hasPrefix("hci")) }
  }

  @Test func obstaclesReportRadioFailureAndRecovery() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let seen = spawn { try await radio.obstacles.first(3) }
    await testTimers.sleep(for: .seconds(1))
    adapter.onFailure?(.notReady)
    await testTimers.sleep(for: .seconds(1))
    let obstacles = try await seen.value
    #expect(obstacles.map { $0?.code } == [nil, .radioUnavailable, nil])
    try await radio.close()
    for try await _ in radio.obstacles { Issue.record("a closed radio has no obstacles") }
  }

  @Test func closeEndsObstacleSequence() async throws {
    let radio = try await Radio.start(OpenedAdapter(FakeAdapter()))
    let seen = spawn {
      var all: [BluetoothError?] = []
      for try await obstacle in radio.obstacles { all.append(obstacle) }
      return all.count
    }
    await testTimers.sleep(for: .seconds(1))
    try await radio.close()
    #expect(try await seen.value == 1)
  }

  /// IanHarvey/bluepy 198, hbldh/bleak 606 and 876, arduino-libraries/ArduinoBLE 283, bluez/bluez 992.
  @Test func appliesScanOptions() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let options = ScanOptions(
      isActive: false, interval: .milliseconds(100), window: .milliseconds(50), includesCoded: true)
    let scan = spawn { for try await _ in radio.advertisements(scan: options) {} }
    await testTimers.sleep(for: .milliseconds(10))
    let parameters = try #require(adapter.scans.last ?? nil)
    #expect(!parameters.isActive && parameters.includesCoded)
    #expect(parameters.interval.duration == .milliseconds(100))
    #expect(parameters.window.duration == .milliseconds(50))
    scan.cancel()
  }
}
