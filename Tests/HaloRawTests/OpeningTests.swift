import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloRaw
import HaloRecording
import RingLink
import TestLoop
import Testing

@Suite(.onTheLoop) @BluetoothActor struct OpeningTests {
  private func battery(_ opened: OpenedAdapter) async throws -> String {
    let central = Central(opened.adapter)
    try await central.start()
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
    let ring = try await RingClient.open(try await central.connect(ConnectionRequest(peer: device.address)))
    let battery = try await ring.battery()
    await central.stop()
    #expect(try await opened.end() == 0)
    return "\(battery)"
  }

  /// A program that records and replays, with one import.
  @Test func recordedSessionReplaysWithoutDifferences() async throws {
    let path = "/tmp/halo-opening-\(getpid()).btsnoop"
    defer { unlink(path) }
    let specification = try AdapterSpecification("virtual:battery=73,fast")
    let recorded = try await battery(try await specification.open(recordingTo: path))
    #expect(recorded.contains("73"))
    let opened = try await AdapterSpecification("replay:\(path)").open()
    #expect(try await battery(opened) == recorded)
    #expect(opened.replay?.report.differences == 0)
  }

  /// The recording of an hour ago is not lost because a program is run again.
  @Test func aRecordingIsReplacedOnlyIfThatIsAskedFor() async throws {
    let path = "/tmp/halo-replacing-\(getpid()).btsnoop"
    defer { unlink(path) }
    let specification = try AdapterSpecification("virtual:fast")
    _ = try await battery(try await specification.open(recordingTo: path))
    await #expect(throws: CaptureError(.hasData, path: path)) {
      try await specification.open(recordingTo: path)
    }
    let opened = try await specification.open(recordingTo: path, replacing: true)
    #expect(try await opened.end() == 0)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_size == 16)
  }

  @Test func theEndOfARecordingThatIsCancelledIsComplete() async throws {
    let path = "/tmp/halo-cancelled-\(getpid()).btsnoop"
    defer { unlink(path) }
    let opened = try await AdapterSpecification("virtual:fast").open(recordingTo: path)
    let central = Central(opened.adapter)
    try await central.start()
    let task = spawn {
      await central.stop()
      return try await opened.end()
    }
    task.cancel()
    #expect(try await task.value == 0)
    // Once more is harmless.
    #expect(try await opened.end() == 0)
    var packets = 0
    var reader = try CaptureReader(path: path)
    while try reader.next() != nil { packets += 1 }
    #expect(packets > 10)
  }

  /// A disk that fails, and one that takes nothing: a pipe whose reader is gone, and one whose reader does not read.
  @Test func reportsIncompleteRecording() async throws {
    let path = "/tmp/halo-pipe-\(getpid())"
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    // F_SETPIPE_SZ of fcntl(2).
    let setPipeSize: Int32 = 1031
    for isGone in [true, false] {
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      #expect(reader >= 0 && fcntl(reader, setPipeSize, 4096) == 4096)
      let opened = try await AdapterSpecification("virtual:fast").open(recordingTo: path)
      if isGone { close(reader) }
      let central = Central(opened.adapter)
      try await central.start()
      for _ in 0..<20 { _ = try await central.devices(within: .seconds(10)) }
      await central.stop()
      await #expect(throws: CaptureError.self) { try await opened.end(within: .milliseconds(50)) }
      if !isGone { close(reader) }
    }
  }

  @Test func privilegesAreDroppedBeforeTheTapIsMade() async throws {
    var steps: [String] = []
    var opening = AdapterOpenOptions()
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

  @Test func reportsWhyAnAdapterCannotBeOpened() async throws {
    await #expect(throws: CaptureError.self) {
      try await AdapterSpecification("replay:/nonexistent/file").open()
    }
    await #expect(throws: StackError.self) {
      try await AdapterSpecification("unix:/nonexistent/socket").open()
    }
  }
}
