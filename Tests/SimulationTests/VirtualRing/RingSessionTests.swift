import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import Testing
import HaloSimulation

/// ``RingClient`` against the virtual ring, through the whole stack, in virtual time.
@Suite(.onTheLoop, .serialized) @BluetoothActor struct RingSessionTests {
  @BluetoothActor private struct Session {
    let central: Central
    let ring: RingClient
    let virtual: VirtualTransport

    var simulated: SimulatedRing? { virtual.radio?.peripheral.ring }
  }

  private func open(_ text: String = "virtual") async throws -> Session {
    let transport = VirtualTransport(try VirtualRingOptions(parsing: text), timers: testTimers)
    let central = Central(HCIAdapter(transport))
    _ = try await central.start()
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(5))
    let connection = try await central.connect(ConnectionRequest(peer: device.address))
    return Session(central: central, ring: try await RingClient.open(connection), virtual: transport)
  }

  @Test func aSpotMeasurement() async throws {
    let session = try await open()
    var beats: [Int] = []
    let reading = try await session.ring.measure(.heartRate) { event, _ in
      if case .beatInterval(let interval) = event { beats.append(interval) }
    }
    #expect((60...80).contains(reading.value.number ?? 0))
    #expect(reading.estimate == nil)
    #expect(beats.count > 5 && zip(beats, beats.dropFirst()).allSatisfy { $0 != $1 })
    #expect(try await session.ring.battery().percent == 87)
    #expect(session.simulated?.isLit == false)
    await session.central.stop()
  }

  @Test func measuresWithLegacyHeartRateCommand() async throws {
    let session = try await open("virtual:refuse-measurements,firmware=R02_3.00.06_240523")
    let reading = try await session.ring.measure(.heartRate)
    #expect(reading.kind == .heartRate && (60...80).contains(reading.value.number ?? 0))
    await #expect(throws: RingError.refused(.frame(0x69), .notSupported)) {
      try await session.ring.measure(.oxygen)
    }
    var values = 0
    let rates = session.ring.heartRates()
    for try await (event, _) in rates {
      if case .reading = event { values += 1 }
      if values == 3 { rates.stop() }
    }
    #expect(values >= 3)
    #expect(session.simulated?.isLit == false)
    await session.central.stop()
  }

  @Test func anOldRingThatIsNotWorn() async throws {
    let session = try await open("virtual:refuse-measurements,worn=false,firmware=R02_3.00.06_240523")
    await #expect(throws: RingError.measurement(.continuousHeartRate, .noValue(seconds: 60))) {
      try await session.ring.measure(.heartRate)
    }
    #expect(session.simulated?.isLit == false)
    #expect(try await session.ring.battery().percent == 87)
    await session.central.stop()
  }

  @Test func aCancelledMeasurementIsStopped() async throws {
    let session = try await open()
    let ring = session.ring
    let task = spawn { try await ring.measure(.heartRate) }
    await testTimers.sleep(for: .seconds(5))
    #expect(session.simulated?.isLit == true)
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
    #expect(session.simulated?.isLit == false)
    #expect(try await ring.measure(.oxygen).value.unit == .percent)
    await session.central.stop()
  }

  @Test func releasedHeartRateSequenceStops() async throws {
    let session = try await open("virtual:warm-up=1")
    do {
      for try await (event, _) in session.ring.heartRates() {
        if case .reading = event { break }
      }
    }
    await testTimers.sleep(for: .seconds(1))
    #expect(session.simulated?.isLit == false)
    await session.central.stop()
  }

  @Test func aSequenceGoesOnForMinutes() async throws {
    let session = try await open()
    var values = 0
    let rates = session.ring.heartRates()
    for try await (event, _) in rates {
      if case .reading = event { values += 1 }
      if values == 200 { rates.stop() }
    }
    #expect(values >= 200)
    await session.central.stop()
  }

  @Test func secondMeasurementTakesOverFirst() async throws {
    let session = try await open()
    let ring = session.ring
    let first = spawn { try await ring.measure(.heartRate) }
    await testTimers.sleep(for: .seconds(3))
    let second = try await ring.measure(.oxygen)
    #expect(second.kind == .oxygen)
    await #expect(throws: RingError.measurement(.heartRate, .takenOver(by: .oxygen))) {
      try await first.value
    }
    await session.central.stop()
  }

  @Test func theRawStreamTakesTheSensor() async throws {
    let session = try await open("virtual:rate=1")
    let ring = session.ring
    let task = spawn { try await ring.measure(.heartRate) }
    await testTimers.sleep(for: .seconds(3))
    try await ring.startRawStream { _, _ in }
    await #expect(throws: RingError.measurement(.heartRate, .fellSilent(seconds: 5))) { try await task.value }
    await ring.stopRawStream()
    #expect(session.simulated?.isLit == false)
    await session.central.stop()
  }

  @Test func aLinkThatIsLostEndsIt() async throws {
    let session = try await open()
    let ring = session.ring
    let task = spawn { try await ring.measure(.heartRate) }
    await testTimers.sleep(for: .seconds(3))
    session.virtual.radio?.disconnect(reason: .connectionTimeout)
    do {
      _ = try await task.value
      Issue.record("there was a value")
    } catch RingError.disconnected {
    }
    await session.central.stop()
  }

  // MARK: Actions

  @Test func rebootAndPowerOff() async throws {
    for (text, isOff) in [("virtual", false), ("virtual", true)] {
      let session = try await open(text)
      if isOff { try await session.ring.powerOff() } else { try await session.ring.reboot() }
      #expect(!session.ring.connection.isConnected)
      await session.central.stop()
    }
    let session = try await open("virtual:charging")
    let error = await #expect(throws: RingError.self) { try await session.ring.powerOff() }
    guard case .stillConnected(_, _, let battery) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(battery?.isCharging == true)
    #expect(try await session.ring.battery().isCharging)
    await session.central.stop()
  }

  @Test func aSportSessionIsEnded() async throws {
    let session = try await open()
    let ring = session.ring
    var seconds: [Int] = []
    let task = spawn { try await ring.exercise(.hike) { update, _ in seconds.append(Int(update.seconds)) } }
    await testTimers.sleep(for: .milliseconds(4500))
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
    #expect(seconds == [0, 1, 2, 3, 4])
    await testTimers.sleep(for: .seconds(3))
    #expect(seconds.count == 5)
    await session.central.stop()
    let old = try await open("virtual:firmware=R02_3.00.06_240523")
    await #expect(throws: RingError.refused(.frame(0x77), .notSupported)) {
      try await old.ring.exercise(.walk) { _, _ in }
    }
    await old.central.stop()
  }

  @Test func theCameraModeIsLeft() async throws {
    let session = try await open()
    let ring = session.ring
    var events: [RingEvent] = []
    let task = spawn {
      try await ring.listen(camera: .seconds(10)) { event, _ in events.append(event) }
    }
    await testTimers.sleep(for: .milliseconds(4500))
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
    #expect(events == [.camera(.entered), .camera(.shake), .camera(.shake), .camera(.finished)])
    await session.central.stop()
  }

  // MARK: What is never sent

  /// Not by the ring's own ways, and not by its client's either.
  @Test func blocksDangerousWritesOnEveryPath() async throws {
    let session = try await open()
    let ring = session.ring
    let frames = session.simulated?.counters.frames
    let harmful = try RingFrame(0xC6, payload: [0x6C])
    await #expect(throws: RingError.self) { try await ring.send(.frame(harmful)) }
    await #expect(throws: RingError.self) { try await ring.send(.bulk(1, payload: [])) }
    let handle: AttributeHandle = 0x0010
    let bulk: AttributeHandle = 0x0016
    let update: [UInt8] = [0xBC, 0x01, 0, 0, 0xFF, 0xFF]
    let connection = ring.connection
    await #expect(throws: StackError.self) { try await connection.gatt.write(harmful.bytes, to: handle) }
    #expect(throws: StackError.self) { try connection.gatt.writeWithoutResponse(harmful.bytes, to: handle) }
    #expect(throws: StackError.self) { try connection.gatt.writeWithoutResponse(update, to: bulk) }
    await #expect(throws: StackError.self) {
      try await connection.gatt.run { WriteValue(handle, harmful.bytes) }
    }
    var failure: StackError?
    connection.gatt.post(harmful.bytes, to: handle) { failure = $0 }
    await testTimers.sleep(for: .milliseconds(200))
    #expect(failure?.code == .forbidden)
    #expect(session.simulated?.counters.frames == frames)
    // Everything else works as before.
    try await connection.gatt.write(CommandTable.battery.request().bytes, to: handle)
    #expect(try await ring.battery().percent == 87)
    #expect(session.simulated?.counters.frames == frames.map { $0 + 2 })
    await session.central.stop()
  }

  @Test func readsDeviceSupportOfNewerRings() async throws {
    let newest = try await open("virtual:firmware=RT11CR_1.00.08_250514")
    #expect(try await newest.ring.deviceSupport()?.wantsBond == true)
    await newest.central.stop()
    let oldest = try await open("virtual:firmware=R02_3.00.06_240523")
    #expect(try await oldest.ring.deviceSupport() == nil)
    await oldest.central.stop()
  }

  @Test func rejectsLookAlike() async throws {
    let error = await #expect(throws: RingError.self) { _ = try await open("virtual:look-alike") }
    guard case .notARing(let services) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(services.contains(RingGATT.deviceInformationService))
    #expect(RingError.notARing(services).description.hasPrefix("not a QRing ring"))
  }
}
