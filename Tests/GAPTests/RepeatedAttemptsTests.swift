import HaloBluetoothCore
import Testing

@testable import GAP

/// The waits of Core Specification Vol 3, Part H, 2.3.6.
@Suite struct RepeatedAttemptsTests {
  private let peer = BluetoothAddress(0xC0_11_22_33_44_55, .random)

  private func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  @Test func waitDoublesToItsLimit() {
    var attempts = RepeatedAttempts()
    var now = 0
    var waits: [Int] = []
    for _ in 0..<8 {
      attempts.failed(peer, at: time(now))
      let wait = Int((attempts.wait(of: peer, at: time(now)) ?? .zero).inSeconds)
      waits.append(wait)
      #expect(attempts.wait(of: peer, at: time(now + wait)) == nil)
      now += wait
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64])
  }

  @Test func longestWaitWithoutFailureForgivesAll() {
    var attempts = RepeatedAttempts()
    for _ in 0..<4 { attempts.failed(peer, at: time(0)) }
    attempts.failed(peer, at: time(1000))
    #expect(attempts.wait(of: peer, at: time(1000)) == .seconds(1))
  }

  @Test func othersDoNotWait() {
    var attempts = RepeatedAttempts()
    attempts.failed(peer, at: time(0))
    #expect(attempts.wait(of: BluetoothAddress(peer.value, .public), at: time(0)) == nil)
    attempts.succeeded(peer)
    #expect(attempts.wait(of: peer, at: time(0)) == nil)
  }

  /// Who changes the address at each attempt fills no memory.
  @Test func numberOfPeersIsBounded() {
    var attempts = RepeatedAttempts()
    for number in 0..<1000 { attempts.failed(BluetoothAddress(UInt64(number), .random), at: time(0)) }
    #expect(attempts.wait(of: BluetoothAddress(999, .random), at: time(0)) == .seconds(1))
    #expect(attempts.wait(of: BluetoothAddress(0, .random), at: time(0)) == nil)
  }
}
