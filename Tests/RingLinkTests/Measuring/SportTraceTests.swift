import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// A run of 75 seconds, as a COLMI R10 (RT03CR_1.00.02_260319) sent it on 2026-09-06: published as `fixtures/colmi-r10` of
/// thebabush/junk. Byte 2 of 0x78 is 1 while the seconds advance, and 2 while they stand still.
@BluetoothActor
@Suite(.onTheLoop) struct SportTraceTests {
  private let device = ScriptedRing()

  private func update(_ status: Int, _ seconds: Int, _ rate: Int) throws -> RingFrame {
    try RingFrame(0x78, payload: [7, UInt8(status), 0, UInt8(seconds), UInt8(rate)])
  }

  /// The first report comes before the answer, and a full ten seconds twice.
  @Test func aRunHasOneLineASecond() async throws {
    let ring = try await device.open()
    var reports = [try update(1, 0, 0)]
    for second in 1...20 {
      let report = try update(1, second, second < 11 ? 0 : second < 14 ? 0x39 : 0x38)
      reports += Array(repeating: report, count: second.isMultiple(of: 10) ? 2 : 1)
    }
    let start = try RingFrame(0x77, payload: [0x01, 0x00, 0x66, 0x5C, 0x9C, 0x6A])
    let over = try RingFrame(0x77, payload: [0x00])
    device.answer = { [device] frame in
      if frame.byte(at: 1) == SportControl.endAction { return [over] }
      device.send(reports[0], after: .microseconds(500))
      for (index, report) in reports.enumerated().dropFirst() {
        device.send(report, after: .milliseconds(2 + index))
      }
      return [start]
    }
    var lines: [String] = []
    var began: RingTime?
    let task = spawn {
      try await ring.exercise(.run, began: { began = $0.start }) { update, _ in
        lines.append("\(RingEvent.sport(update))")
      }
    }
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    _ = await task.result
    #expect(began == RingTime("2026-09-05T18:16:06"))
    #expect(lines.count == 21 && lines.first == "run: 0 s, 0 bpm, 0 steps, 0 m")
    #expect(lines.last == "run: 20 s, 56 bpm, 0 steps, 0 m")
    #expect(device.takeAsked() == ["770107", "770407"])
  }

  /// The answers to a pause and to the end have no time.
  @Test func marksPausedUpdates() async throws {
    let ring = try await device.open()
    let paused = [try update(2, 5, 70), try update(2, 5, 70), try update(1, 6, 71)]
    let replies = [
      try RingFrame(0x77, payload: [0x01, 0x00, 0x66, 0x5C, 0x9C, 0x6A]), try RingFrame(0x77, payload: [0]),
    ]
    device.answer = { $0.byte(at: 1) == SportControl.startAction ? [replies[0]] : [replies[1]] }
    var lines: [String] = []
    var session: SportSession?
    let task = spawn {
      try await ring.exercise(.run, began: { session = $0 }) { update, _ in
        lines.append("\(RingEvent.sport(update))")
      }
    }
    await testTimers.sleep(for: .milliseconds(100))
    try await session?.pause()
    for (index, frame) in paused.enumerated() { device.send(frame, after: .milliseconds(1 + index)) }
    await testTimers.sleep(for: .milliseconds(100))
    task.cancel()
    _ = await task.result
    #expect(
      lines == ["run: 5 s, 70 bpm, 0 steps, 0 m, paused", "run: 6 s, 71 bpm, 0 steps, 0 m"])
  }
}
