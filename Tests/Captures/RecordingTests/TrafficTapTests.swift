import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloRecording

private let reset = "01030c00"

@BluetoothActor
@Suite(.onTheLoop) struct TrafficTapTests {
  let file = TemporaryFile()

  private func records() throws -> [CaptureRecord] {
    var reader = try CaptureReader(path: file.path)
    var records: [CaptureRecord] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }

  /// Who watches gets what the recording has: numbers, times, directions, bytes.
  @Test func watchingAndRecordingSeeTheSame() async throws {
    let tap = TrafficTap(writer: try CaptureWriter(path: file.path), timers: testTimers)
    var seen: [CaptureRecord] = []
    tap.onPacket = { seen.append(CaptureRecord(info: $1, bytes: Array($0))) }
    let fake = FakeTransport()
    let transport = TappedTransport(fake, tap)
    var received = 0
    transport.onPacket = { _, _ in received += 1 }
    transport.start()
    tap.note("a remark")
    transport.send(hex(reset).span.bytes)
    await testTimers.sleep(for: .milliseconds(5))
    fake.receive("1b")
    transport.close()
    #expect(fake.sent == [reset] && received == 2)
    tap.writer?.waitUntilWritten()
    var recorded = try records()
    for index in recorded.indices { recorded[index].info.fileOffset = 0 }
    #expect(seen == recorded)
    #expect(seen.map(\.info.number) == [1, 2, 3, 4] && tap.count == 4)
    #expect(seen.map { CaptureNote.text(of: $0.bytes) } == ["a remark", nil, nil, nil])
  }

  /// Stamps that go back are put right; the stack gets what the recording has.
  @Test func timeGoesForwardOnly() {
    let tap = TrafficTap(timers: testTimers, wallOffset: 1_000_000)
    var times: [Int64?] = []
    tap.onPacket = { times.append($1.microseconds) }
    let packet = hex(reset)
    for time in [5_000, 3_000, 7_000] {
      tap.take(packet.span.bytes, .hci(.hostToController), at: Instant(nanoseconds: Int64(time)))
    }
    #expect(times == [1_000_005, 1_000_005, 1_000_007])
  }

  /// The wall clock counts once, at the start: whatever it is set to later, and however long the machine sleeps, the
  /// times of a recording go forward, and the distances are those of the loop.
  @Test(arguments: [-3600, 3600, 315_576_000] as [Int64])
  func aClockThatIsSetDoesNotShowInARecording(_ step: Int64) async throws {
    let tap = TrafficTap(
      writer: try CaptureWriter(path: file.path), timers: testTimers, wallOffset: 1_700_000_000_000_000)
    let packet = hex(reset)
    let start = testTimers.now
    // A packet of before the sleep is read after it: its stamp is a step away from the others'.
    let stamps: [Duration] = [
      .zero, .seconds(1), .seconds(step < 0 ? step : -step), .seconds(2), .milliseconds(2001),
    ]
    for stamp in stamps { tap.take(packet.span.bytes, .hci(.controllerToHost), at: start + stamp) }
    tap.writer?.waitUntilWritten()
    let times = try records().compactMap(\.info.microseconds)
    #expect(times.count == stamps.count && times == times.sorted())
    #expect(times.last.map { $0 - times[0] } == 2_001_000)
  }

  /// A recording that fails is told once; whoever watches goes on seeing.
  @Test func watchingOutlivesTheRecording() async throws {
    // A pipe whose reader goes.
    signal(SIGPIPE, SIG_IGN)
    let path = file.path + ".pipe"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let writer = try CaptureWriter(path: path)
    close(reader)
    let tap = TrafficTap(writer: writer, timers: testTimers)
    var seen = 0
    var failures: [CaptureError] = []
    tap.onPacket = { _, _ in seen += 1 }
    tap.onFailure = { failures.append($0) }
    let packet = hex(reset)
    for _ in 0..<3 { tap.take(packet.span.bytes, .hci(.hostToController), at: .zero) }
    await testTimers.sleep(for: .milliseconds(1))
    #expect(seen == 3)
    #expect(failures == [try #require(writer.failure)])
  }
}
