import BluetoothCore
import Capture
import Central
import Glibc
import HCI
import HaloRaw
import Recording
import RingLink
import TestLoop
import Testing

@Suite(.onTheLoop) @BluetoothActor struct OpeningTests {
  private func battery(_ opened: OpenedAdapter) async throws -> String {
    let central = Central(opened.adapter)
    try await central.start()
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
    let ring = try await Ring.open(try await central.connect(ConnectionRequest(peer: device.address)))
    let battery = try await ring.battery()
    await central.stop()
    #expect(opened.finish() == 0)
    // The writer's thread may not have written the last packets yet.
    opened.tap?.writer?.waitUntilWritten()
    return "\(battery)"
  }

  /// A program that records and replays, with one import.
  @Test func whatIsRecordedReplays() async throws {
    let path = "/tmp/halo-opening-\(getpid()).btsnoop"
    defer { unlink(path) }
    var opening = AdapterOpening()
    opening.makeTap = { timers, _, _ in TrafficTap(writer: try CaptureWriter(path: path), timers: timers) }
    let recorded = try await battery(try await AdapterSpecification("virtual:battery=73,fast").open(opening))
    #expect(recorded.contains("73"))
    let opened = try await AdapterSpecification("replay:\(path)").open()
    #expect(try await battery(opened) == recorded)
    #expect(opened.replay?.report.differences == 0)
  }

  @Test func privilegesAreDroppedBeforeTheTapIsMade() async throws {
    var steps: [String] = []
    var opening = AdapterOpening()
    opening.onOpened = { steps.append($0 ? "raw" : "other") }
    opening.makeTap = { _, _, _ in
      steps.append("tap")
      return nil
    }
    opening.prepareRing = { options, _ in
      steps.append("ring")
      return options
    }
    let opened = try await AdapterSpecification("virtual").open(opening)
    #expect(steps == ["ring", "other", "tap"] && opened.tap == nil)
  }

  @Test func whatCannotBeOpenedSaysWhy() async throws {
    await #expect(throws: CaptureError.self) {
      try await AdapterSpecification("replay:/nonexistent/file").open()
    }
    await #expect(throws: TransportError.self) {
      try await AdapterSpecification("unix:/nonexistent/socket").open()
    }
  }
}
