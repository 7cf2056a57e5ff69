import HaloBluetoothCore
import Testing

@testable import RingLink

/// One exchange is open at a time, and each ends once (ring reference, 1.6).
@Suite struct RingDispatcherTests {
  private static let battery: RingCommand = 0x03
  private static let clock: RingCommand = 0x01

  /// A dispatcher whose messages are kept, and a time that passes when a test says so.
  private final class Bench {
    let timers = Timers()
    private(set) lazy var dispatcher = RingDispatcher(timers: timers) { [unowned self] in sent.append($0) }
    private(set) var sent: [RingMessage] = []
    /// How each exchange has ended, in order; `done` for success.
    private(set) var ends: [String] = []

    /// Starts an exchange that takes `count` frames.
    @discardableResult
    func start(_ command: RingCommand, _ name: String, frames count: Int = 1) -> UInt64 {
      var rest = count
      return dispatcher.start(
        RingExchange(.frame(RingFrame(command))) { _ in
          rest -= 1
          return rest == 0 ? .done : .more
        } completion: { [unowned self] error in
          ends.append("\(name): \(error.map { "\($0)" } ?? "done")")
        })
    }

    func receive(_ frame: RingFrame) { dispatcher.receive(frame.bytes.span.bytes, at: timers.now) }

    var sentCommands: [RingCommand?] { sent.map(\.command) }
  }

  @Test func theNextIsSentWhenTheOneBeforeIsAnswered() {
    let bench = Bench()
    bench.start(Self.battery, "first")
    bench.start(Self.clock, "second")
    #expect(bench.sentCommands == [Self.battery])
    // The answer to another command is not its answer.
    bench.receive(RingFrame(Self.clock))
    #expect(bench.sentCommands == [Self.battery] && bench.ends == [])
    bench.receive(RingFrame(Self.battery, 64))
    #expect(bench.sentCommands == [Self.battery, Self.clock])
    #expect(bench.ends == ["first: done"])
    bench.receive(RingFrame(Self.clock))
    #expect(bench.ends == ["first: done", "second: done"])
  }

  @Test func timeoutStartsNextCommand() {
    let bench = Bench()
    bench.start(Self.battery, "first")
    bench.start(Self.clock, "second")
    bench.timers.advance(by: .milliseconds(1999))
    #expect(bench.ends == [])
    bench.timers.advance(by: .milliseconds(1))
    #expect(bench.ends.count == 1 && bench.ends[0] != "first: done")
    #expect(bench.sentCommands == [Self.battery, Self.clock])
    // Its own silence begins with its own request.
    bench.timers.advance(by: .milliseconds(1999))
    #expect(bench.ends.count == 1)
    bench.receive(RingFrame(Self.clock))
    #expect(bench.ends.last == "second: done")
    bench.timers.advance(by: .seconds(10))
    #expect(bench.ends.count == 2)
  }

  @Test func eachFrameOfAnAnswerHasItsTime() {
    let bench = Bench()
    bench.start(Self.battery, "first", frames: 3)
    for _ in 0..<2 {
      bench.timers.advance(by: .milliseconds(1500))
      bench.receive(RingFrame(Self.battery))
    }
    #expect(bench.ends == [])
    bench.timers.advance(by: .milliseconds(1500))
    bench.receive(RingFrame(Self.battery))
    #expect(bench.ends == ["first: done"])
  }

  @Test func aRefusalEndsTheCommandThatItRefuses() throws {
    let bench = Bench()
    bench.start(Self.battery, "first")
    bench.receive(try #require(RingFrame.refusal(of: Self.clock)))
    #expect(bench.ends == [])
    bench.receive(try #require(RingFrame.refusal(of: Self.battery)))
    #expect(bench.ends == ["first: \(RingError.refused(.frame(Self.battery), .notSupported))"])
  }

  @Test func cancelledQueuedCommandIsNotSent() {
    let bench = Bench()
    bench.start(Self.battery, "first")
    let second = bench.start(Self.clock, "second")
    bench.dispatcher.cancel(second)
    bench.dispatcher.cancel(second)
    #expect(bench.ends == ["second: \(RingError.cancelled)"])
    bench.receive(RingFrame(Self.battery))
    #expect(bench.sentCommands == [Self.battery])
    #expect(bench.ends.last == "first: done")
  }

  /// Its answer comes late: it is not the answer to the same question asked again.
  @Test func theAnswerToACancelledQuestionIsWaitedFor() {
    let bench = Bench()
    let first = bench.start(Self.battery, "first")
    bench.start(Self.battery, "second")
    bench.dispatcher.cancel(first)
    #expect(bench.ends == ["first: \(RingError.cancelled)"])
    #expect(bench.sent.count == 1)
    bench.receive(RingFrame(Self.battery))
    #expect(bench.ends.count == 1 && bench.sent.count == 2)
    bench.receive(RingFrame(Self.battery))
    #expect(bench.ends.last == "second: done" && bench.ends.count == 2)
  }

  @Test func unansweredCancelledCommandDelaysNextByOneTimeout() {
    let bench = Bench()
    let first = bench.start(Self.battery, "first", frames: 100)
    bench.start(Self.clock, "second")
    bench.timers.advance(by: .seconds(1))
    bench.dispatcher.cancel(first)
    // Frames of a long answer do not prolong it.
    for _ in 0..<3 {
      bench.timers.advance(by: .milliseconds(500))
      bench.receive(RingFrame(Self.battery))
    }
    #expect(bench.sent.count == 1)
    bench.timers.advance(by: .milliseconds(500))
    #expect(bench.sentCommands == [Self.battery, Self.clock])
    #expect(bench.ends.count == 1)
  }

  @Test func theEndOfTheLinkEndsAllOnce() {
    let bench = Bench()
    let first = bench.start(Self.battery, "first")
    bench.start(Self.clock, "second")
    bench.dispatcher.cancel(first)
    var reasons: [RingError] = []
    bench.dispatcher.whenClosed { reasons.append($0) }
    bench.dispatcher.close(.disconnected("gone"))
    bench.dispatcher.close(.disconnected("again"))
    bench.dispatcher.whenClosed { reasons.append($0) }
    let reason = RingError.disconnected("gone")
    #expect(bench.ends == ["first: \(RingError.cancelled)", "second: \(reason)"])
    #expect(reasons == [reason, reason])
    bench.start(Self.battery, "third")
    #expect(bench.ends.last == "third: \(reason)")
    bench.timers.advance(by: .seconds(10))
    #expect(bench.ends.count == 3 && bench.sent.count == 1)
  }

  @Test func dispatchesUnsolicitedFramesAsEventsOrUnknown() {
    let bench = Bench()
    var frames: [RingFrame] = []
    var unknown: [RingReply] = []
    var rejected = 0
    bench.dispatcher.onFrame = { frames.append($0) }
    bench.dispatcher.onUnknown = { unknown.append($0) }
    bench.dispatcher.onRejected = { _, _, _ in rejected += 1 }
    let frame = RingFrame(Self.battery, 1)
    bench.receive(frame)
    var damaged = frame.bytes
    damaged[15] &+= 1
    bench.dispatcher.receive(damaged.span.bytes, at: .zero)
    bench.dispatcher.receive(Array(frame.bytes.dropLast()).span.bytes, at: .zero)
    #expect(frames == [frame] && unknown == [.frame(frame)] && rejected == 2)
    #expect(bench.dispatcher.counters.rejectedFrames == 2 && bench.dispatcher.counters.unknownFrames == 1)
  }

  @Test func listenerReceivesFramesNotTakenByAnExchange() throws {
    let bench = Bench()
    var heard: [RingFrame] = []
    bench.dispatcher.listen(to: Self.battery) { frame, _ in heard.append(frame) }
    bench.receive(RingFrame(Self.battery, 1))
    bench.start(Self.battery, "first")
    bench.receive(RingFrame(Self.battery, 2))
    let refusal = try #require(RingFrame.refusal(of: Self.battery))
    bench.receive(refusal)
    #expect(heard == [RingFrame(Self.battery, 1), refusal] && bench.ends == ["first: done"])
    bench.dispatcher.listen(to: Self.battery, nil)
    bench.receive(RingFrame(Self.battery, 3))
    #expect(heard.count == 2 && bench.dispatcher.counters.unknownFrames == 1)
  }
}
