import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import Testing
import HaloSimulation

/// Settings over the whole stack, against a simulated ring.
@BluetoothActor
@Suite(.onTheLoop) struct RingSettingsTests {
  private func withRing(
    _ adapt: (inout VirtualRingOptions) -> Void = { _ in },
    _ body: (RingClient, SimulatedRing) async throws -> Void
  ) async throws {
    var options = VirtualRingOptions()
    adapt(&options)
    let transport = VirtualTransport(options, timers: testTimers)
    let central = Central(HCIAdapter(transport))
    try await central.start()
    let ring = try await RingClient.open(try await central.connect(ConnectionRequest(peer: options.address)))
    try await body(ring, try #require(transport.radio).peripheral.ring)
    await central.stop()
  }

  @Test func aPartOfASettingIsChanged() async throws {
    try await withRing { ring, _ in
      let before = try await ring.numbers(of: CommandTable.heartRateSchedule)
      #expect(before["enabled"] == 1 && before["interval"] == 5 && before["start"] == 5)
      let after = try await ring.change(CommandTable.heartRateSchedule, ["interval": 10])
      #expect(after["interval"] == 10 && after["enabled"] == 1 && after["start"] == 5)
      #expect(try await ring.numbers(of: CommandTable.heartRateSchedule) == after)
      #expect(try await ring.change(CommandTable.goals, ["steps": 70000])["distance"] == 3000)
    }
  }

  @Test func reportsFieldsNotApplied() async throws {
    try await withRing({ $0.faults.ignoresSettings = true }) { ring, _ in
      await #expect(throws: RingError.notTaken(.frame(0x21), ["goals steps, sleep"])) {
        try await ring.change(CommandTable.goals, ["steps": 1, "distance": 3000, "sleep": 480])
      }
    }
  }

  @Test func aWriteThatIsRefusedInAdvanceNeverLeaves() async throws {
    try await withRing { ring, simulated in
      let frames = simulated.counters.frames
      await #expect(throws: RingError.self) {
        try await ring.write(CommandTable.profile.defaults, to: CommandTable.profile)
      }
      #expect(simulated.counters.frames == frames)
      await #expect(throws: RingError.self) { try await ring.change(CommandTable.profile, ["age": 30]) }
      #expect(simulated.counters.frames == frames + 1, "it was read, and not written")
      // Not given back, and so not compared.
      try await ring.change(CommandTable.profile, ["age": 30, "height": 180, "weight": 75])
      #expect(simulated.counters.frames == frames + 4)
    }
  }

  /// A COLMI R10 takes the last three fields and never tells them (thebabush/junk): that they read as zero afterwards is no
  /// refusal.
  @Test func writesFieldsTheRingDoesNotReport() async throws {
    let r10 = try VirtualRingOptions(parsing: "model=r10")
    try await withRing({ $0 = r10 }) { ring, _ in
      await #expect(throws: RingError.self) { try await ring.change(CommandTable.profile, ["weight": 71]) }
      let changes = ["weight": 71, "systolic": 120, "diastolic": 80, "heart-rate-warning": 150]
      let found = try await ring.change(CommandTable.profile, changes)
      #expect(found["weight"] == 71 && found["age"] == 30 && found["systolic"] == 0)
    }
  }

  @Test func twoSettingsOfOneCommandAreTwo() async throws {
    try await withRing { ring, _ in
      try await ring.change(CommandTable.gesture, ["mode": 3])
      #expect(try await ring.numbers(of: CommandTable.touch)["mode"] == 0)
      #expect(try await ring.numbers(of: CommandTable.gesture)["mode"] == 3)
    }
  }

  @Test func measurementsArePausedAndRestored() async throws {
    try await withRing { ring, _ in
      try await ring.change(CommandTable.stressSchedule, ["enabled": 0])
      let saved = try await ring.automaticMeasurements()
      #expect(saved.description == "heart-rate, spo2, hrv, temperature")
      try await ring.pause(saved)
      let paused = try await ring.automaticMeasurements()
      #expect(paused.isEmpty)
      // Somebody else comes by, and wants it otherwise.
      try await ring.change(CommandTable.heartRateSchedule, ["enabled": 1, "interval": 60])
      try await ring.restore(saved)
      let restored = try await ring.automaticMeasurements()
      #expect(restored.settings["heart-rate"]?["interval"] == 60)
      #expect(restored.settings["temperature"] == saved.settings["temperature"])
      #expect(restored.description == saved.description)
    }
  }

  @Test func reportsMeasurementsThatCannotBePaused() async throws {
    try await withRing({ $0.faults.ignoresSettings = true }) { ring, _ in
      let saved = try await ring.automaticMeasurements()
      await #expect(throws: RingError.notTaken(.frame(0x16), ["heart-rate enabled"])) {
        try await ring.pause(saved)
      }
    }
  }

  @Test func returnsNilForUnsupportedSetting() async throws {
    try await withRing({ $0.firmware = "R02_3.00.06_240523" }) { ring, _ in
      let variability = try await ring.numbersIfSupported(CommandTable.variabilitySchedule)
      let oxygen = try await ring.numbersIfSupported(CommandTable.oxygenSchedule)
      #expect(variability == nil && oxygen == ["enabled": 1, "interval": 0])
      await #expect(throws: RingError.refused(.frame(0x38), .notSupported)) {
        try await ring.change(CommandTable.variabilitySchedule, ["enabled": 0])
      }
    }
  }
}
