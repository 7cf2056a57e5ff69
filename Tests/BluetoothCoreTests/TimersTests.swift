import HaloBluetoothCore
import Testing

@Suite struct TimersTests {
  @Test func timersRunInOrderAtTheirDeadline() {
    let timers = Timers()
    var log: [String] = []
    timers.schedule(after: .milliseconds(20)) { log.append("c \(timers.now.nanoseconds / 1_000_000)") }
    timers.schedule(after: .milliseconds(10)) {
      log.append("a \(timers.now.nanoseconds / 1_000_000)")
      timers.schedule(after: .milliseconds(5)) { log.append("b \(timers.now.nanoseconds / 1_000_000)") }
    }
    timers.schedule(after: .milliseconds(20)) { log.append("d") }
    let cancelled = timers.schedule(after: .milliseconds(12)) { log.append("never") }
    timers.cancel(cancelled)
    timers.cancel(cancelled)
    timers.advance(by: .milliseconds(9))
    #expect(log.isEmpty)
    timers.advance(by: .milliseconds(100))
    #expect(log == ["a 10", "b 15", "c 20", "d"])
    #expect(timers.now == Instant(nanoseconds: 109_000_000))
    #expect(timers.nextDeadline == nil)
  }

  /// A program computes for 8 s on the loop, and waits for 3 s then.
  @Test func aDelayCountsFromTheCall() {
    var clock = Instant.zero
    let timers = Timers { clock }
    clock = clock + .seconds(8)
    var isDue = false
    timers.schedule(after: .seconds(3)) { isDue = true }
    timers.advance(to: clock)
    #expect(!isDue)
    timers.advance(by: .seconds(3))
    #expect(isDue)
    // While a packet is handled, the time is that of its arrival.
    clock = timers.now + .milliseconds(1)
    timers.schedule(after: .seconds(1)) {}
    #expect(timers.nextDeadline == timers.now + .seconds(1))
  }

  @Test func timeNeverGoesBack() {
    let timers = Timers(now: Instant(nanoseconds: 50))
    timers.advance(to: Instant(nanoseconds: 10))
    #expect(timers.now == Instant(nanoseconds: 50))
  }

  @Test func skippedTimersRunWithTheNextAdvance() {
    let timers = Timers()
    var log: [String] = []
    timers.schedule(after: .milliseconds(10)) { log.append("due") }
    timers.skip(to: Instant(nanoseconds: 50_000_000))
    #expect(log.isEmpty)
    timers.schedule(after: .milliseconds(10)) { log.append("later") }
    timers.advance(to: timers.now)
    #expect(log == ["due"])
    timers.advance(by: .milliseconds(10))
    #expect(log == ["due", "later"])
  }

  @Test func absurdDelaysDoNotOverflow() {
    let timers = Timers(now: Instant(nanoseconds: 50))
    timers.schedule(after: .seconds(Int64.max)) {}
    #expect(timers.nextDeadline == Instant(nanoseconds: .max))
  }
}
