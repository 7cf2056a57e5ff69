import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloRecording

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
    let writer = try CaptureWriter(path: file.path)
    let tap = TrafficTap(writer: writer, timers: testTimers)
    let recording = TappedTransport(transport, tap)
    var received = 0
    recording.onPacket = { _, _ in received += 1 }
    recording.start()
    for command in commands {
      recording.send(hex(command).span.bytes)
      await testTimers.sleep(for: .milliseconds(5))
    }
    if let notification {
      await testTimers.sleep(for: .seconds(10))
      transport.receive(notification)
    }
    recording.close()
    // Only then another recording may have the file.
    await withCheckedContinuation { closed in writer.close { closed.resume() } }
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
    _ commands: [String], _ options: ReplayTransport.Options = .init(), waiting: Duration = .seconds(30)
  ) async throws -> Outcome {
    let outcome = Outcome()
    let transport = try ReplayTransport(path: file.path, options, time: testTime)
    var rest = commands[...]
    func sendNext() {
      guard let command = rest.popFirst() else { return }
      transport.send(hex(command).span.bytes)
    }
    transport.onPacket = { packet, arrival in
      outcome.packets.append(Hex.string(Array(packet)))
      outcome.times.append(arrival.time)
      transport.timers.schedule(after: .zero) { sendNext() }
    }
    transport.onClose = { outcome.reasons.append($0) }
    transport.onInterrupt = { outcome.interruptions += 1 }
    transport.start()
    sendNext()
    await testTimers.sleep(for: waiting)
    transport.close()
    outcome.report = transport.report
    return outcome
  }

  private func answer(_ opcode: String) -> String { "040e0401" + opcode + "00" }

  @Test func replaysRecordingUnchanged() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, version, address])
    #expect(outcome.packets == [answer("030c"), answer("0110"), answer("0910")])
    #expect(outcome.report.matched == 3)
    #expect(outcome.report.differences == 0)
    #expect(outcome.report.firstDifference == nil)
    #expect(outcome.report.truncatedBytes == 0)
  }

  @Test func strictReplayEndsAtFirstDifferingPacket() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, address, address])
    #expect(outcome.reasons.count == 1)
    #expect(outcome.reasons.first?.contains("packet 3: the recording has 01 01 10 00") == true)
    #expect(outcome.reasons.first?.contains("the stack sent 01 09 10 00") == true)
    #expect(
      outcome.report.firstDifference
        == .init(number: 3, recorded: hex(version), sent: hex(address)))
    #expect(outcome.report.matched == 1)
    #expect(outcome.packets == [answer("030c")])
  }

  @Test func aLenientReplayCountsAndGoesOn() async throws {
    try await record([reset, version, address])
    let outcome = try await replay([reset, reset, address], .init(strictness: .lenient))
    #expect(outcome.packets == [answer("030c"), answer("0110"), answer("0910")])
    #expect(outcome.report.matched == 2)
    #expect(outcome.report.differences == 1)
    #expect(outcome.report.firstDifference?.number == 3)
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
  @Test func interruptsProgramAtRecordedUserAction() async throws {
    try await record([reset, version])
    let outcome = try await replay([reset, version])
    #expect(outcome.interruptions >= 1)
    let waited = try await replay([reset])
    #expect(waited.interruptions >= 1)
    #expect(waited.report.matched == 1)
  }

  @Test func reportsTruncatedTail() async throws {
    try await record([reset, version])
    file.shorten(by: 3)
    let outcome = try await replay([reset, version])
    #expect(outcome.packets == [answer("030c")])
    #expect(outcome.report.matched == 2)
    #expect(outcome.report.truncatedBytes == 28)
  }

  @Test func theRandomAddressOfTheRecordingIsKnown() async throws {
    try await record([reset, "01052006" + "01efbeaddee0"])
    let transport = try ReplayTransport(path: file.path, time: testTime)
    #expect(transport.host.randomAddress == BluetoothAddress(0xE0DE_ADBE_EF01, .random))
    try await record([reset])
    #expect(try ReplayTransport(path: file.path, time: testTime).host.randomAddress == nil)
  }

  /// What tells, when a replay fails, why it had to.
  @Test func aHostThatFoundTheControllerInUseIsKnown() async throws {
    try await record([reset, version, "010d2000"])
    #expect(try ReplayTransport(path: file.path, time: testTime).host.beginsWithReset == true)
    // What we ask and how we scan, then the kernel's accept list and connection; each is told once.
    let ours = [version, "01021000", "010b200701800010000000", "010c20020100"]
    let theirs = ["01102000", "01112007" + "01b2a1332211c0", "010d2000", "01102000"]
    try await record(ours + theirs + [reset])
    let host = try ReplayTransport(path: file.path, time: testTime).host
    #expect(host.beginsWithReset == false)
    #expect(host.foreignCommands.map(\.rawValue) == [0x2010, 0x2011, 0x200D])
    #expect(host.resets == [17] && host.unknownHandlePackets == nil && !host.isOurs)
  }

  @Test func aCaptureThatBeginsWithinAConnectionIsKnown() throws {
    let packets: [(String, CaptureDirection)] = [
      ("043e1301004000000000b2a1332211c0180000006400", .controllerToHost),
      ("0240000700030004000a0100", .hostToController), ("0241200600020004000b01", .controllerToHost),
    ]
    let writer = try CaptureWriter(path: file.path)
    for (packet, direction) in packets {
      writer.write(hex(packet).span.bytes, direction: direction, microseconds: 1)
    }
    writer.waitUntilWritten()
    let host = try ReplayTransport(path: file.path, time: testTime).host
    #expect(host.beginsWithReset == nil)
    #expect(host.unknownHandlePackets == 3)
  }

  /// A capture of the monitor channel, with two adapters whose packets alternate, and what is no packet.
  @Test func oneAdapterOfSeveralIsPlayed() async throws {
    let writer = try CaptureWriter(path: file.path, format: .btsnoop(.linuxMonitor))
    var time: Int64 = 1_763_733_600_000_000
    func write(_ packet: String, _ content: CaptureContent, adapter: UInt16?) {
      time += 1000
      let bytes = hex(packet)
      writer.write(
        bytes.span.bytes,
        CaptureRecordInfo(
          microseconds: time, adapter: adapter, content: content, originalLength: bytes.count))
    }
    write("4c696e757800", .monitor(.systemNote), adapter: nil)
    write("", .monitor(.openIndex), adapter: 3)
    for (command, opcode) in [(reset, "030c"), (version, "0110"), (address, "0910")] {
      write(command, .hci(.hostToController), adapter: 1)
      if command != version { write(command, .hci(.hostToController), adapter: 0) }
      write(answer(opcode), .hci(.controllerToHost), adapter: 1)
      if command != version { write(answer(opcode), .hci(.controllerToHost), adapter: 0) }
    }
    writer.waitUntilWritten()
    let first = try await replay([reset, version, address])
    #expect(first.report.matched == 3 && first.report.differences == 0)
    let second = try await replay([reset, address], .init(adapter: 0))
    #expect(second.report.matched == 2 && second.report.differences == 0)
    #expect(second.packets == [answer("030c"), answer("0910")])
    let wrong = try await replay([reset, version], .init(adapter: 0))
    #expect(wrong.report.firstDifference == .init(number: 10, recorded: hex(address), sent: hex(version)))
    let later = try await replay([version, address], .init(first: 7))
    #expect(later.report.matched == 2 && later.report.differences == 0)
    #expect(throws: CaptureError(.noPackets(of: 3, others: [0, 1]), path: file.path)) {
      try ReplayTransport(path: file.path, .init(adapter: 3), time: testTime)
    }
  }

  /// A recording tells what no packet does. The stack never sees it.
  @Test func notesAreTakenOut() async throws {
    let transport = FakeTransport()
    let writer = try CaptureWriter(path: file.path)
    let tap = TrafficTap(writer: writer, timers: testTimers)
    let recording = TappedTransport(transport, tap)
    recording.onPacket = { _, _ in }
    recording.start()
    tap.note("zone utc-offset=3600")
    recording.send(hex(reset).span.bytes)
    await testTimers.sleep(for: .milliseconds(5))
    tap.note("clock set=1 policy=utc utc-offset=0")
    recording.send(hex(version).span.bytes)
    await testTimers.sleep(for: .milliseconds(5))
    tap.note("the end")
    recording.close()
    tap.writer?.waitUntilWritten()
    let outcome = try await replay([reset, version])
    #expect(outcome.packets == [answer("030c"), answer("0110")])
    #expect(outcome.report.matched == 2 && outcome.report.differences == 0)
    let replay = try ReplayTransport(path: file.path, time: testTime)
    #expect(replay.host.notes == ["zone utc-offset=3600", "clock set=1 policy=utc utc-offset=0", "the end"])
  }

  /// What happens at a time of the loop happens at the time of day of the recording.
  @Test func theTimeOfDayIsTheRecordings() async throws {
    let writer = try CaptureWriter(path: file.path)
    writer.write(CaptureNote.packet("x").span.bytes, direction: .controllerToHost, microseconds: 1_000_000)
    writer.write(hex(reset).span.bytes, direction: .hostToController, microseconds: 1_763_733_600_000_000)
    writer.write(hex("1b").span.bytes, direction: .controllerToHost, microseconds: 1_763_733_605_000_000)
    writer.waitUntilWritten()
    let transport = try ReplayTransport(path: file.path, time: testTime)
    var received: Int64?
    transport.onPacket = { _, arrival in received = arrival.time.nanoseconds / 1000 + transport.wallOffset }
    transport.start()
    transport.send(hex(reset).span.bytes)
    await testTimers.sleep(for: .seconds(6))
    transport.close()
    #expect(received == 1_763_733_605_000_000)
  }

  @Test func reportsWhyAFileCannotBeReplayed() throws {
    #expect(throws: CaptureError.self) { try ReplayTransport(path: "/nonexistent/file", time: testTime) }
    #expect(throws: CaptureError(.empty, path: file.path)) {
      try ReplayTransport(path: file.path, time: testTime)
    }
    _ = try CaptureWriter(path: file.path, format: .btsnoop(.linuxMonitor))
    #expect(throws: CaptureError(.noPackets(of: nil, others: []), path: file.path)) {
      try ReplayTransport(path: file.path, time: testTime)
    }
  }
}
