import Glibc
import HaloBluetoothCore
import HaloSystem
import Testing

@testable import HaloCommandLine

/// Signals as GNU coreutils' timeout (timeout.c, `cleanup`), sudo, shells and systemd (`SendSIGHUP=`) send them.
@Suite struct TerminationRequestsTests {
  private var requests = TerminationRequests()

  private static func instant(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: 7_000_000_000 + milliseconds * 1_000_000)
  }

  private mutating func take(
    _ signal: Int32, _ milliseconds: Int64, isFromKernel: Bool = false
  ) -> TerminationRequests.Meaning {
    requests.take(Signals.Arrival(signal, isFromKernel: isFromKernel), at: Self.instant(milliseconds))
  }

  @Test mutating func signalsOfProcessesWithinHalfASecondAreOneRequest() {
    #expect(take(SIGTERM, 0) == .first)
    #expect(take(SIGTERM, 0) == .repeated)
    #expect(take(SIGTERM, 499) == .repeated)
  }

  @Test mutating func anotherSignalOfTheSameEndIsARepetition() {
    #expect(take(SIGTERM, 0) == .first)
    #expect(take(SIGHUP, 1) == .repeated)
    #expect(take(SIGHUP, 2, isFromKernel: true) == .repeated)
  }

  @Test mutating func aSignalAfterHalfASecondIsASecondRequest() {
    #expect(take(SIGTERM, 0) == .first)
    #expect(take(SIGTERM, 400) == .repeated)
    #expect(take(SIGTERM, 500) == .second)
  }

  @Test mutating func aKeyOfATerminalIsASecondRequestUnlessItBounces() {
    #expect(take(SIGINT, 0, isFromKernel: true) == .first)
    #expect(take(SIGINT, 30, isFromKernel: true) == .repeated)
    // sudo and timeout pass on what their terminal has sent.
    #expect(take(SIGINT, 1) == .repeated)
    #expect(take(SIGINT, 150, isFromKernel: true) == .second)
  }

  @Test mutating func quitOfATerminalIsOneToo() {
    #expect(take(SIGTERM, 0) == .first)
    #expect(take(SIGQUIT, 110, isFromKernel: true) == .second)
  }
}
