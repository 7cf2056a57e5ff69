import HaloSystem
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

  @Test func readsMeasuresAndStreamsFromRing() async throws {
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

  /// The clock of a ring is set to that of this machine, in its zone.
  @Test func currentTimeUsesLocalTimeZone() async throws {
    let ring = try await ring()
    let now = RingTime.now
    try await ring.setClock(to: now)
    #expect(now.day.civil.year >= 2025)
    // The zones of the world are 26 hours apart.
    let hours = (now.seconds - Int(SystemClock.wallMicroseconds / 1_000_000)) / 3600
    #expect((-12...14).contains(hours))
    #expect(try await ring.history(.heartRate, days: now.day...now.day, now: .now).kind == .heartRate)
  }

  @Test func settingsAreReadAndChanged() async throws {
    let ring = try await ring()
    #expect(Ring.settingNames.contains("heart-rate"))
    #expect(try await ring.setting("heart-rate")["interval"] == "5")
    let changed = try await ring.change("heart-rate", ["enabled": "off", "interval": "10"])
    #expect(changed["enabled"] == "off" && changed["interval"] == "10" && changed["start"] == "5")
    #expect(try await ring.setting("heart-rate") == changed)
    for (name, fields) in [
      ("moon", [:]), ("heart-rate", ["phase": "1"]), ("heart-rate", ["interval": "often"]),
    ] as [(String, [String: String])] {
      #expect(await failure { try await ring.change(name, fields) }?.code == .invalidValue)
    }
    #expect(await failure { try await ring.setting("moon") }?.code == .invalidValue)
    #expect(await failure { try await ring.setting("blood-pressure") }?.code == .refused)
  }

  /// A ring that confirms a change and does not make it is no success.
  @Test func aSettingThatIsNotTakenIsRefused() async throws {
    let ring = try await ring(",ignore-settings")
    #expect(await failure { try await ring.change("heart-rate", ["interval": "10"]) }?.code == .refused)
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

  @Test func rejectsDeviceThatIsNotARing() async throws {
    let strap = try await Strap()
    let error = await failure { try await Ring(strap.connection()) }
    #expect(error?.code == .notSupported)
  }
}
