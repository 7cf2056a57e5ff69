import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// The raw stream of a ring, from its first sample to the dark light (ring reference, 5.1), and everything else that passes.
@BluetoothActor
@Suite(.onTheLoop) struct RawStreamTests {
  private static let first = RawSample.ppg(OpticalSample(raw: 7, max: 9, min: 5, diff: 4, isValid: true))
  private static let second = RawSample.accelerometer(AccelerometerSample(x: 1, y: 2, z: 3))

  @Test func startsOnFirstSample() async throws {
    let device = ScriptedRing()
    device.answer = { $0.digits == "a104" ? [Self.first.frame, Self.second.frame] : [] }
    let ring = try await device.open()
    var samples: [RawSample] = []
    var times: [Instant] = []
    try await ring.startRawStream { sample, time in
      samples.append(sample)
      times.append(time)
    }
    await settle()
    #expect(device.takeAsked() == ["a104"] && samples == [Self.first, Self.second])
    #expect(times.allSatisfy { $0 == testTimers.now.wholeMicroseconds || $0 <= testTimers.now })
    // The deadline of the first sample is no limit of the stream.
    await testTimers.sleep(for: .seconds(10))
    device.send(Self.first.frame)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(samples.count == 3)
    let start = testTimers.now
    await ring.stopRawStream()
    #expect(testTimers.now - start < .milliseconds(500))
    #expect(device.takeAsked() == ["a105", "a102"])
    device.send(Self.first.frame)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(samples.count == 3)
  }

  /// A ring that confirms no writes gets half a second.
  @Test func stopWaitsHalfASecondWithoutConfirmation() async throws {
    let device = ScriptedRing(confirms: false)
    let ring = try await device.open()
    let start = testTimers.now
    await ring.stopRawStream()
    #expect(testTimers.now - start == .milliseconds(500))
    #expect(device.takeAsked() == ["a105", "a102"])
    // A link that is gone needs no end.
    device.link.lose(.remote(.connectionTimeout))
    await ring.stopRawStream()
    #expect(device.takeAsked() == [] && testTimers.now - start == .milliseconds(500))
  }

  @Test func reportsRefusalWithBatteryLevel() async throws {
    let device = ScriptedRing()
    device.answer = {
      $0.command == .rawStream ? [RawSample.refused.frame, Self.first.frame] : [RingFrame(0x03, 40, 1)]
    }
    let ring = try await device.open()
    var samples: [RawSample] = []
    let (error, _) = await failure { () throws(RingError) in
      try await ring.startRawStream { sample, _ in samples.append(sample) }
    }
    #expect(error == .streamRefused(battery: RingBattery(percent: 40, isCharging: true)))
    await testTimers.sleep(for: .seconds(1))
    // Neither the refusal nor what follows it is a sample.
    #expect(samples == [] && device.takeAsked() == ["a104", "03"])
  }

  /// The battery is asked for, and its silence of two seconds is no other error.
  @Test(arguments: [true, false]) func throwsNoDataOnSilence(_ hasBattery: Bool) async throws {
    let device = ScriptedRing()
    device.answer = { $0.command == 0x03 && hasBattery ? [RingFrame(0x03, 12)] : [] }
    let ring = try await device.open()
    var samples = 0
    let (error, time) = await failure { () throws(RingError) in
      try await ring.startRawStream { _, _ in samples += 1 }
    }
    #expect(
      error == .noData(seconds: 3, battery: hasBattery ? RingBattery(percent: 12, isCharging: false) : nil))
    #expect(time >= .seconds(hasBattery ? 3 : 5) && time < .seconds(hasBattery ? 4 : 6))
    device.send(Self.first.frame)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(samples == 0)
  }

  @Test func theEndOfTheLinkAndOfTheTaskEndTheStart() async throws {
    let device = ScriptedRing()
    let ring = try await device.open()
    let cancelled = spawn { try await ring.startRawStream { _, _ in } }
    await settle()
    cancelled.cancel()
    await #expect(throws: RingError.cancelled) { try await cancelled.value }
    let lost = spawn { try await ring.startRawStream { _, _ in } }
    await settle()
    device.link.lose(.remote(.connectionTimeout))
    await #expect(throws: RingError.disconnected(LinkLoss.remote(.connectionTimeout).description)) {
      try await lost.value
    }
  }

  // MARK: Exploration

  @Test func everythingThatComesIsWatched() async throws {
    let device = ScriptedRing()
    let ring = try await device.open()
    var traffic: [RingTraffic] = []
    try await ring.watch { item, _ in traffic.append(item) }
    device.send(Self.first.frame)
    device.sendValue([1, 2, 3])
    device.sendBulk(Self.second.frame.bytes)
    let bulk = bulkFrame(0x2A, [1, 2, 3])
    device.sendBulk(Array(bulk[..<7]))
    device.sendBulk(Array(bulk[7...]))
    device.sendBulk([9, 9])
    await testTimers.sleep(for: .milliseconds(5))
    #expect(
      traffic == [
        .frame(Self.first.frame), .unreadable([1, 2, 3]), .frame(Self.second.frame),
        .bulk(BulkFrame(received: 0x2A, payload: [1, 2, 3])), .unreadable([9, 9]),
      ])
  }

  /// A ring without the second service has no more to watch.
  @Test func oldRingsAreWatchedToo() async throws {
    let device = ScriptedRing(hasBulk: false)
    let ring = try await device.open()
    var traffic: [RingTraffic] = []
    try await ring.watch { item, _ in traffic.append(item) }
    device.send(RingFrame(0x03, 64))
    await testTimers.sleep(for: .milliseconds(5))
    #expect(traffic == [.frame(RingFrame(0x03, 64))])
    let (error, _) = await failure { () throws(RingError) in try await ring.send(.bulk(0x27, payload: [])) }
    #expect(error == .noBulkService)
  }

  @Test(arguments: [true, false]) func messagesAreSentWithoutAnAnswer(_ confirms: Bool) async throws {
    let device = ScriptedRing(confirms: confirms)
    let ring = try await device.open()
    try await ring.send(.frame(RingFrame(0x03)))
    try await ring.send(.bulk(0x27, payload: [0, 1]))
    #expect(device.takeAsked() == ["03", "bc270200c0700001"])
    for (message, reason) in [
      (RingMessage.frame(RingFrame(0xC6, 1)), "erases the ring's memory"),
      (.bulk(3, payload: []), "overwrites the ring's firmware, and can leave it dead"),
    ] {
      let (error, _) = await failure { () throws(RingError) in try await ring.send(message) }
      #expect(error == .dangerous(reason))
    }
    #expect(device.takeAsked() == [])
  }
}
