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
private let version = "01011000"
private let resetDone = "040e0401030c00"
/// On link 0x0040: Exchange MTU Request of our client, Find By Type Value Request of the peer's, our server's answer.
private let mtuRequest = "024000070003000400" + "02f700"
private let peerRequest = "0240200b0007000400" + "06" + "0100ffff0028"
private let answer = "024000090005000400" + "01060100" + "0a"
/// The answer in three fragments.
private let answerStart = "024000060005000400" + "0106"
private let answerMiddle = "0240100200" + "0100"
private let answerEnd = "0240100100" + "0a"

/// The order of what the stack has sent, where nothing puts it in order: a machine that was busy has recorded another one.
@BluetoothActor
@Suite(.onTheLoop, .serialized) struct ReplayOrderTests {
  let file = TemporaryFile()

  /// A recording, a millisecond between two packets: "<" is received, ">" is sent.
  private func write(_ packets: [(Character, String)]) throws {
    // The writer of the recording before may not have closed its file yet, and another one would be refused.
    unlink(file.path)
    let writer = try CaptureWriter(path: file.path)
    for (index, (direction, packet)) in packets.enumerated() {
      writer.write(
        hex(packet).span.bytes, direction: direction == "<" ? .controllerToHost : .hostToController,
        microseconds: 1_763_733_600_000_000 + Int64(index) * 1000)
    }
    writer.waitUntilWritten()
  }

  /// What a replay says when the stack sends `first`, and then what `answers` has for a received packet.
  private func replay(
    _ first: [String], _ answers: [String: [String]], _ strictness: ReplayTransport.Strictness = .strict
  ) async throws -> ReplayTransport.Report {
    let transport = try ReplayTransport(path: file.path, .init(strictness: strictness), time: testTime)
    transport.onPacket = { packet, _ in
      for answer in answers[Hex.string(Array(packet))] ?? [] { transport.send(hex(answer).span.bytes) }
    }
    transport.onInterrupt = {}
    transport.start()
    for packet in first { transport.send(hex(packet).span.bytes) }
    await testTimers.sleep(for: .seconds(60))
    transport.close()
    #expect(transport.isOver || transport.report.differences > 0)
    return transport.report
  }

  /// The stack asked for the MTU when the Reset was done, the recorded one only after it had answered the peer's request.
  @Test(arguments: [[answer], [answerStart, answerMiddle, answerEnd]])
  func anAnswerToThePeerMayComeBeforeOrAfterOurRequest(answer: [String]) async throws {
    let sent = answer.map { (">" as Character, $0) }
    let orders: [[(Character, String)]] = [
      [("<", peerRequest)] + sent + [(">", mtuRequest)],
      [(">", mtuRequest), ("<", peerRequest)] + sent,
      [("<", peerRequest), (">", mtuRequest)] + sent,
    ]
    for order in orders {
      try write([(">", reset), ("<", resetDone)] + order + [("<", "1b")])
      let report = try await replay([reset], [resetDone: [mtuRequest], peerRequest: answer])
      #expect(report.differences == 0 && report.matched == 2 + answer.count, "\(report)")
    }
  }

  /// Commands are carried out one after the other, and so are the fragments of a frame.
  @Test func theOrderWithinALaneMatters() async throws {
    try write([(">", reset), (">", version), ("<", "1b")])
    let commands = try await replay([version, reset], [:])
    #expect(commands.firstDifference == .init(number: 1, recorded: hex(reset), sent: hex(version)))
    let recorded = [answerStart, answerMiddle, answerEnd].map { (">" as Character, $0) }
    try write([(">", reset), ("<", peerRequest)] + recorded + [("<", "1b")])
    let fragments = try await replay([reset], [peerRequest: [answerStart, answerEnd, answerMiddle]])
    #expect(
      fragments.firstDifference == .init(number: 4, recorded: hex(answerMiddle), sent: hex(answerEnd)))
  }

  /// What was sent in another lane is not taken for the packet that was not sent.
  @Test func aPacketThatIsMissingIsNamed() async throws {
    try write([(">", reset), ("<", peerRequest), (">", answer), (">", mtuRequest), ("<", "1b")])
    let report = try await replay([reset, mtuRequest], [:], .lenient)
    #expect(report.matched == 2 && report.differences == 1)
    #expect(report.firstDifference == .init(number: 3, recorded: hex(answer), sent: nil))
  }

  /// A strict replay names what was sent, also in another lane. It does not call the interruption.
  @Test func strictReplayReportsUnexpectedPacket() async throws {
    try write([(">", peerRequest), ("<", "1b")])
    let report = try await replay([reset], [:])
    #expect(report.firstDifference == .init(number: 1, recorded: hex(peerRequest), sent: hex(reset)))
  }

  /// A packet that the recording does not have is a difference at its end.
  @Test func aPacketTooManyIsNamed() async throws {
    try write([(">", reset), ("<", peerRequest), (">", answer)])
    let report = try await replay([reset, mtuRequest], [peerRequest: [answer]])
    #expect(report.matched == 2)
    #expect(report.firstDifference == .init(number: nil, recorded: nil, sent: hex(mtuRequest)))
  }
}
