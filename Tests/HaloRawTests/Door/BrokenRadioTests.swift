import GAP
import HCI
import HaloBluetoothCore
import HaloDevices
import HaloRaw
import TestLoop
import Testing
import HaloSimulation

/// A line that opens, and closes again after a moment, as one behind ser2net whose device is missing (cminyard/ser2net 35).
@BluetoothActor
private final class BreakingTransport: HCITransportLayer {
  let transport: any HCITransport
  /// How long it breaks, from its first opening on.
  private let time: Duration
  private var first: Instant?
  private(set) var openings = 0
  var onClose: ((String) -> Void)?

  init(_ medium: RadioMedium, for time: Duration) {
    transport = SimulatedTransport(medium)
    self.time = time
  }

  var canReopen: Bool { true }

  func start() {
    openings += 1
    transport.start()
    let begin = first ?? timers.now
    first = begin
    let opening = openings
    timers.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self, openings == opening, timers.now - begin < time else { return }
      transport.close()
      onClose?("the other side has closed it")
    }
  }

}

/// A radio that fails as soon as it was recovered, by each door of a program.
@BluetoothActor
@Suite(.onTheLoop) struct BrokenRadioTests {
  /// In a minute, the failures of such a line are recovered after 0, 0.25, 0.5, 1, 2, 4, 8, 10 ... seconds.
  private static let most = 13

  @Test func anAdapterThatIsKeptIsOpenedSeldomAndThenUsed() async throws {
    let transport = BreakingTransport(RadioMedium(timers: testTimers), for: .seconds(60))
    let kept = ManagedAdapter.kept(HCIAdapter(transport))
    await testTimers.sleep(for: .seconds(60))
    #expect(transport.openings > 5 && transport.openings <= Self.most)
    await testTimers.sleep(for: .seconds(12))
    let openings = transport.openings
    #expect(kept.state == .poweredOn)
    await testTimers.sleep(for: .seconds(60))
    #expect(transport.openings == openings)
    await kept.close()
  }

  @Test func aConnectionIsThereWhenTheRadioIs() async throws {
    let strap = try await Strap()
    let transport = BreakingTransport(strap.medium, for: .seconds(60))
    let radio = try await Radio.start(OpenedAdapter(HCIAdapter(transport)))
    let begin = testTimers.now
    let connection = try await radio.connect(
      to: .service(0x180D), within: .seconds(100), reconnect: .forever)
    #expect(testTimers.now - begin < .seconds(90))
    #expect(transport.openings <= Self.most)
    #expect(strap.isConnected)
    await connection.disconnect()
    try await radio.close()
  }
}
