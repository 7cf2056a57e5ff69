import HaloRaw
import Testing

/// Limits in the time of the radio.
@Suite struct TimeoutTests {
  @Test func aBodyThatEndsInTimeReturns() async throws {
    try await withRadio("virtual:fast") { radio in
      let ring = try await radio.connect(to: .anyRing)
      // The body may change what its caller has.
      var count = 0
      let level = try await radio.withTimeout(.seconds(5)) {
        count += 1
        return try await ring.read(.firmwareRevision)
      }
      #expect(!level.isEmpty && count == 1)
    }
  }

  @Test func aBodyThatTakesTooLongIsCancelled() async throws {
    try await withRadio("virtual:fast") { radio in
      let begin = radio.clock.now
      var wasCancelled = false
      do {
        try await radio.withTimeout(.seconds(60)) {
          do {
            try await radio.clock.sleep(for: .seconds(3600))
          } catch {
            wasCancelled = Task.isCancelled
            throw error
          }
        }
        Issue.record("it has returned")
      } catch BluetoothError.Code.timedOut {
      }
      #expect(wasCancelled && radio.clock.now - begin == .seconds(60))
    }
  }

  /// Virtual time waits for a task that a program has begun, and for its values.
  @Test func aTaskOfAProgramIsInTheTimeOfTheRadio() async throws {
    try await withRadio("virtual:fast") { radio in
      let begin = radio.clock.now
      let work = Task { @BluetoothActor in
        for _ in 0..<10 { try await radio.clock.sleep(for: .seconds(1)) }
        return radio.clock.now
      }
      let end = try await work.value
      #expect(end - begin == .seconds(10))
    }
  }

  @Test func errorsOfTheBodyAreThrown() async throws {
    struct Oops: Error {}
    try await withRadio("virtual:fast") { radio -> Void in
      _ = await #expect(throws: Oops.self) { try await radio.withTimeout(.seconds(5)) { throw Oops() } }
    }
  }

  /// Its time is real: virtual time does not wait for the main actor.
  @Test @MainActor func aProgramOfTheMainActorStaysThere() async throws {
    let radio = try await Radio.open("virtual")
    var steps: [String] = []
    try await radio.withTimeout(.seconds(600)) {
      MainActor.assertIsolated()
      steps.append("body")
      try await radio.clock.sleep(for: .milliseconds(1))
      MainActor.assertIsolated()
    }
    #expect(steps == ["body"])
    try await radio.close()
  }

  @Test func aCancelledProgramIsCancelled() async throws {
    try await withRadio("virtual") { radio in
      let task = Task {
        try await radio.withTimeout(.seconds(3600)) { try await radio.clock.sleep(for: .seconds(3000)) }
      }
      task.cancel()
      do {
        try await task.value
        Issue.record("it has returned")
      } catch BluetoothError.Code.cancelled {
      }
    }
  }
}
