import Glibc
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// The zone is the process's: one at a time.
@Suite(.serialized) struct HostClockTests {
  private func inZone<Value>(_ name: String, _ body: () throws -> Value) rethrows -> Value {
    let old = getenv("TZ").map { String(cString: $0) }
    setenv("TZ", name, 1)
    tzset()
    defer {
      if let old { setenv("TZ", old, 1) } else { unsetenv("TZ") }
      tzset()
    }
    return try body()
  }

  /// An hour is told twice in autumn, and one is missing in spring. The ring would have the same.
  @Test func daylightSavingTime() {
    inZone("CET-1CEST,M3.5.0,M10.5.0/3") {
      let clock = HostClock()
      // 2025-10-26 01:00:00 UTC ends it.
      #expect(clock.time(ofUnix: 1_761_440_399).description == "2025-10-26T02:59:59")
      #expect(clock.time(ofUnix: 1_761_440_400).description == "2025-10-26T02:00:00")
      #expect(clock.offset(atUnix: 1_761_440_399) == 7200 && clock.offset(atUnix: 1_761_440_400) == 3600)
      // 2026-03-29 01:00:00 UTC begins it.
      #expect(clock.time(ofUnix: 1_774_745_999).description == "2026-03-29T01:59:59")
      #expect(clock.time(ofUnix: 1_774_746_000).description == "2026-03-29T03:00:00")
      #expect(HostClock(.utc).time(ofUnix: 1_774_746_000).description == "2026-03-29T01:00:00")
    }
  }

  @Test(arguments: [
    ("UTC0", "2025-11-21T14:00:00"), ("EST5", "2025-11-21T09:00:00"), ("IST-5:30", "2025-11-21T19:30:00"),
    ("LINT-14", "2025-11-22T04:00:00"), ("SST11", "2025-11-21T03:00:00"),
  ])
  func travel(zone: String, time: String) {
    inZone(zone) {
      #expect(HostClock().time(ofUnix: 1_763_733_600).description == time)
      #expect(HostClock(.utc).time(ofUnix: 1_763_733_600).description == "2025-11-21T14:00:00")
    }
  }

  /// A replay has the recording's zone, wherever it runs.
  @Test func aSessionKeepsItsZone() {
    inZone("EST5") {
      var clock = HostClock(Timers(), wallOffset: 0, utcOffset: 3600)
      #expect(clock.time(ofUnix: 1_763_733_600).description == "2025-11-21T15:00:00")
      clock.policy = .utc
      #expect(clock.time(ofUnix: 1_763_733_600).description == "2025-11-21T14:00:00")
    }
  }
}
