import HaloRaw
import TestLoop
import Testing

/// A ring as a program uses it.
@BluetoothActor
@Suite(.onTheLoop) struct RingTests {
  private func ring(_ options: String = "") async throws -> Ring {
    let radio = try await Radio.open(RadioSelector("virtual:fast,battery=64" + options))
    return try await Ring(radio.connect(to: .anyRing))
  }

  @Test func itAnswersAndMeasures() async throws {
    let ring = try await ring(",clock=2026-11-21T13:45:00,warm-up=1")
    #expect(try await ring.battery().percent == 64)
    #expect(ring.firmwareRevision?.isEmpty == false)
    let now = try #require(RingTime("2026-11-21T13:45:00"))
    try await ring.setClock(to: now)
    #expect(try await ring.today().steps > 0)
    #expect(try await ring.history(.heartRate, days: now.day...now.day, now: now).count > 0)
    #expect(try await ring.measure(.heartRate).value.number ?? 0 > 30)
    let beats = try await ring.heartRates.first(5)
    #expect(beats.count == 5)
  }

  /// Its light is on for as long as somebody listens.
  @Test func listenersShareTheStream() async throws {
    let ring = try await ring()
    let tasks = [5, 50].map { count in spawn { try await ring.samples.first(count) } }
    let (short, long) = (try await tasks[0].value, try await tasks[1].value)
    #expect(short.count == 5 && long.count == 50)
    #expect(long.prefix(5).map(\.value) == short.map(\.value))
    #expect(long.allSatisfy { $0.dropped == 0 })
    #expect(try await ring.samples.first(5).count == 5)
    #expect(try await ring.battery().percent == 64)
  }

  @Test func aRingOnItsChargerRefuses() async throws {
    let ring = try await ring(",charging")
    let error = await failure { try await ring.samples.first(1) }
    #expect(error?.code == .refused)
  }

  @Test func theIteratorKeepsTheRingAndLearnsOfItsEnd() async throws {
    let iteration = spawn {
      var iterator = try await ring(",drop-after=3").samples.makeAsyncIterator()
      while try await iterator.next() != nil {}
    }
    let error = await failure { try await iteration.value }
    #expect(error?.code == .linkLost)
    let second = try await ring()
    let events = spawn { try await second.events.first(100) }
    await testTimers.sleep(for: .seconds(1))
    await second.connection.disconnect()
    #expect(await failure { try await events.value }?.code == .linkLost)
  }

  @Test func anotherDeviceIsNoRing() async throws {
    let strap = try await Strap()
    let error = await failure { try await Ring(strap.connection()) }
    #expect(error?.code == .notSupported)
  }
}
