import BluetoothCore
import Capture
import EventLoop
import TestSupport
import Testing

@testable import HCI

private let reset = "01030c00"
private let version = "01011000"
private let address = "01091000"

/// One at a time: a replay decides what the loop does when it is idle.
@BluetoothActor
@Suite(.onTheLoop, .serialized) struct ReplayTests {
  let file = TemporaryFile()

  /// Records what a stack sends, and what it gets for it.
  private func record(_ commands: [String], notification: String? = nil) async throws {
    let transport = FakeTransport()
    let recording = RecordingTransport(transport, writer: try CaptureWriter(path: file.path))
    var received = 0
    recording.onPacket = { _, _ in received += 1 }
    recording.start()
    for command in commands {
      recording.send(hex(command).span.bytes)
      await EventLoop.shared.sleep(for: .milliseconds(5))
    }
    if let notification {
      await EventLoop.shared.sleep(for: .seconds(10))
      transport.receive(notification)
    }
    recording.close()
    #expect(transport.isStarted && transport.isClosed)
    #expect(received == commands.count + (notification == nil ? 0 : 1))
  }

  private final class Outcome {
    var packets: [String] = []
    var times: [Instant] = []
    var reasons: [String] = []
    var interruptions = 0
    var report = ReplayTransport.Report()
  }

  /// Sends the commands one by one, each when the one before is answered.
  private func replay(
    _ commands: [String], strictness: ReplayTransport.Strictness = .strict, waiting: Duration = .seconds(30)
  ) async throws -> Outcome {
    await ExclusiveUse.idleLoop.acquire()
    defer { ExclusiveUse.idleLoop.release() }
    let outcome = Outcome()
    let transport = try ReplayTransport(path: file.path, strictness: strictness)
    var rest = commands[...]
    func sendNext() {
      guard let command = rest.popFirst() else { return }
      transport.send(hex(command).span.bytes)
    }
    transport.onPacket = { packet, time in
      outcome.packets.append(Hex.string(Array(packet)))
      outcome.times.append(time)
      EventLoop.shared.timers.schedule(after: .zero) { sendNext() }
    }
    transport.onClose = { outcome.reasons.append($0) }
    transport.onInterrupt = { outcome.interruptions += 1 }
    transport.start()
    sendNext()
    await EventLoop.shared.sleep(for: waiting)
    transport.close()
    outcome.report = transport.report
    return outcome
  }

  private func answer(_ opcode: String) -> String { "040e0401" + opcode + "00" }

  @Test func aRecordingIsReplayedAsItWas() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, version, address])
    #expect(outcome.packets == [answer("030c"), answer("0110"), answer("0910")])
    #expect(outcome.report.matched == 3)
    #expect(outcome.report.differences == 0)
    #expect(outcome.report.firstDifference == nil)
    #expect(outcome.report.truncatedBytes == 0)
  }

  @Test func whatIsSentDifferentlyEndsAStrictReplayWithItsFrame() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, address, address])
    #expect(outcome.reasons.count == 1)
    #expect(outcome.reasons.first?.contains("frame 3") == true)
    #expect(outcome.reasons.first?.contains("01 01 10 00") == true)
    #expect(outcome.reasons.first?.contains("01 09 10 00") == true)
    #expect(outcome.report.matched == 1)
    #expect(outcome.packets == [answer("030c")])
  }

  @Test func aLenientReplayCountsAndGoesOn() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, reset, address], strictness: .lenient)
    #expect(outcome.packets == [answer("030c"), answer("0110"), answer("0910")])
    #expect(outcome.report.matched == 2)
    #expect(outcome.report.differences == 1)
    #expect(outcome.report.firstDifference?.contains("frame 3") == true)
  }

  @Test func moreThanWasRecordedIsADifference() async throws {
    try await record([reset])
    let outcome = try await replay([reset, version])
    #expect(outcome.reasons.first?.contains("after the end of the recording") == true)
    #expect(outcome.report.differences == 1)
  }

  /// The packets come with the spaces that they had.
  @Test func timeIsThatOfTheRecording() async throws {
    try await record([reset], notification: "1b")
    let outcome = try await replay([reset])
    #expect(outcome.packets.last == "1b")
    let gap = try #require(outcome.times.last) - (try #require(outcome.times.first))
    #expect(gap > .seconds(9) && gap < .seconds(11))
  }

  /// The recording has a command that nothing in the stack leads to: a person did.
  @Test func whoWaitedForAPersonIsInterrupted() async throws {
    try await record([reset, version])
    let outcome = try await replay([reset, version])
    #expect(outcome.interruptions >= 1)
    let waited = try await replay([reset])
    #expect(waited.interruptions >= 1)
    #expect(waited.report.matched == 1)
  }

  @Test func aTruncatedTailIsTold() async throws {
    try await record([reset, version])
    file.shorten(by: 3)
    let outcome = try await replay([reset, version])
    #expect(outcome.packets == [answer("030c")])
    #expect(outcome.report.matched == 2)
    #expect(outcome.report.truncatedBytes == 28)
  }

  @Test func theRandomAddressOfTheRecordingIsKnown() async throws {
    try await record([reset, "01052006" + "01efbeaddee0"])
    let transport = try ReplayTransport(path: file.path)
    #expect(transport.randomAddress == BluetoothAddress(0xE0DE_ADBE_EF01, .random))
    try await record([reset])
    #expect(try ReplayTransport(path: file.path).randomAddress == nil)
  }

  @Test func aRecordingMadeBesideTheKernelIsKnown() async throws {
    try await record([reset, version, "010d2000"])
    #expect(try ReplayTransport(path: file.path).kernelCommands == nil)
    // What we ask and how we scan, then the kernel's accept list and connection; each is told once.
    let ours = [version, "01021000", "010b200701800010000000", "010c20020100"]
    let theirs = ["01102000", "01112007" + "01b2a1332211c0", "010d2000", "01102000"]
    try await record(ours + theirs)
    let commands = try ReplayTransport(path: file.path).kernelCommands
    #expect(commands?.map(\.rawValue) == [0x2010, 0x2011, 0x200D])
    try await record([version])
    #expect(try ReplayTransport(path: file.path).kernelCommands == [])
  }

  /// A recording tells what no packet does. The stack never sees it.
  @Test func notesAreTakenOut() async throws {
    let transport = FakeTransport()
    let recording = RecordingTransport(transport, writer: try CaptureWriter(path: file.path))
    recording.onPacket = { _, _ in }
    recording.start()
    recording.note("zone utc-offset=3600")
    recording.send(hex(reset).span.bytes)
    await EventLoop.shared.sleep(for: .milliseconds(5))
    recording.note("clock set=1 policy=utc utc-offset=0")
    recording.send(hex(version).span.bytes)
    await EventLoop.shared.sleep(for: .milliseconds(5))
    recording.note("the end")
    recording.close()
    let outcome = try await replay([reset, version])
    #expect(outcome.packets == [answer("030c"), answer("0110")])
    #expect(outcome.report.matched == 2 && outcome.report.differences == 0)
    let replay = try ReplayTransport(path: file.path)
    #expect(replay.notes == ["zone utc-offset=3600", "clock set=1 policy=utc utc-offset=0", "the end"])
  }

  /// What happens at a time of the loop happens at the time of day of the recording.
  @Test func theTimeOfDayIsTheRecordings() async throws {
    await ExclusiveUse.idleLoop.acquire()
    defer { ExclusiveUse.idleLoop.release() }
    let writer = try CaptureWriter(path: file.path)
    writer.write(CaptureNote.packet("x").span.bytes, direction: .controllerToHost, microseconds: 1_000_000)
    writer.write(hex(reset).span.bytes, direction: .hostToController, microseconds: 1_763_733_600_000_000)
    writer.write(hex("1b").span.bytes, direction: .controllerToHost, microseconds: 1_763_733_605_000_000)
    let transport = try ReplayTransport(path: file.path)
    var received: Int64?
    transport.onPacket = { _, time in received = time.nanoseconds / 1000 + transport.wallOffset }
    transport.start()
    transport.send(hex(reset).span.bytes)
    await EventLoop.shared.sleep(for: .seconds(6))
    transport.close()
    #expect(received == 1_763_733_605_000_000)
  }

  @Test func filesThatCannotBeReplayedSayWhy() throws {
    #expect(throws: CaptureError.self) { try ReplayTransport(path: "/nonexistent/file") }
    #expect(throws: CaptureError(.empty, path: file.path)) { try ReplayTransport(path: file.path) }
    _ = try CaptureWriter(path: file.path, datalink: .linuxMonitor)
    #expect(throws: CaptureError(.notReplayable(.btsnoop(.linuxMonitor)), path: file.path)) {
      try ReplayTransport(path: file.path)
    }
  }
}
