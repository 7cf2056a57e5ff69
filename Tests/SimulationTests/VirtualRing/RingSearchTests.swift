import GAP
import HCI
import HaloBluetoothCore
import RingLink
import TestLoop
import Testing
import HaloSimulation

/// Which ring is found if none is named, and after what time.
@Suite(.onTheLoop, .serialized) @BluetoothActor struct RingSearchTests {
  /// Searches among virtual rings.
  private func search(
    _ text: String, known: [UInt64] = []
  ) async throws -> (result: Result<String?, RingError>, time: Duration, waits: Int) {
    let central = Central(
      HCIAdapter(VirtualTransport(try VirtualRingOptions(parsing: text), timers: testTimers)))
    try await central.start()
    var options = RingFinder.Options()
    options.known = Set(known.map { PeerIdentity(BluetoothAddress($0, .public)) })
    var waits = 0
    options.onWait = { _ in waits += 1 }
    let start = testTimers.current
    var result: Result<String?, RingError>
    do throws(RingError) {
      let ring = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(5), options: options)
      result = .success("\(ring.address)")
    } catch {
      result = .failure(error)
    }
    let time = testTimers.current - start
    await central.stop()
    return (result, time, waits)
  }

  private let first = "30:35:38:41:BE:EF"
  private let second = "30:35:38:41:BE:F0"

  /// The ring advertises every 100 ms, and others are awaited for four of its intervals; not for a second.
  @Test(arguments: [(50, 400), (100, 600), (200, 1200)])
  func theWaitFollowsTheAdvertisingInterval(interval: Int, limit: Int) async throws {
    let found = try await search("advertising=\(interval)")
    #expect(found.result == .success(first))
    #expect(found.time < .milliseconds(limit) && found.time >= .milliseconds(200), "\(found.time)")
    #expect(found.waits == 1)
  }

  @Test func aSlowAdvertiserCostsASecond() async throws {
    let found = try await search("advertising=900")
    #expect(found.result == .success(first))
    #expect(found.time >= .seconds(1) && found.time < .seconds(2))
  }

  @Test func theOnlyKnownRingIsTakenAtOnce() async throws {
    let found = try await search("rings=2,ring=2,rssi=-30", known: [0x3035_3841_BEEF])
    #expect(found.result == .success(first))
    #expect(found.time < .milliseconds(120))
  }

  @Test func selectsNearbyRingAmongKnownRings() async throws {
    let found = try await search("rings=2,ring=2,rssi=-30", known: [0x3035_3841_BEEF, 1])
    #expect(found.result == .success(first))
    #expect(found.waits == 1)
  }

  @Test(arguments: ["rings=2", "rings=2,ring=2,rssi=-74", "rings=2,ring=2,advertising=300"])
  func ringsThatAreAboutAsNearAreNotChosenAmong(options: String) async throws {
    let found = try await search(options)
    #expect(found.result == .failure(.severalFound(["R02_BEEF \(first)", "R02_BEF0 \(second)"])))
  }

  @Test func aRingThatIsMuchNearerIsTaken() async throws {
    let found = try await search("rings=2,ring=2,rssi=-36")
    #expect(found.result == .success(second))
  }
}
