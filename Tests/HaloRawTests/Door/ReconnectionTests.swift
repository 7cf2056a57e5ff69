import HaloRaw
import TestLoop
import Testing

/// A connection whose link is lost and made again.
@BluetoothActor
@Suite(.onTheLoop) struct ReconnectionTests {
  private let battery = CharacteristicID<Percent>.batteryLevel

  private func sleep(_ time: Duration) async { await testTimers.sleep(for: time) }

  @Test func valuesResumeAfterReconnectWithGap() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .forever)
    let beats = spawn { try await connection.values(of: Strap.measurement).first(3) }
    await strap.untilConfigured()
    strap.notify([0, 60])
    await sleep(.seconds(1))
    strap.isPresent = false
    await strap.leave()
    await sleep(.seconds(20))
    strap.isPresent = true
    await sleep(.seconds(40))
    #expect(strap.isConnected)
    for rate: UInt8 in [61, 62] { strap.notify([0, rate]) }
    let all = try await beats.value
    #expect(all.map(\.value.beatsPerMinute) == [60, 61, 62])
    #expect(all[0].gap == nil && all[2].gap == nil)
    let gap = try #require(all[1].gap)
    #expect(gap > .seconds(20) && gap < .seconds(60))
    #expect(strap.configurations.filter { $0 == .notify }.count == 2)
  }

  /// What was not sent waits for the next link; what was sent and not answered is not sent again.
  @Test func requestsWaitForTheNextLink() async throws {
    let strap = try await Strap()
    strap.answerTime = .seconds(10)
    let connection = try await strap.connection(reconnect: .forever)
    let sent = spawn { try await connection.write([1], to: Strap.controlPoint) }
    await sleep(.seconds(1))
    let behind = spawn { try await connection.write([2], to: Strap.controlPoint) }
    let read = spawn { try await connection.read(battery) }
    await sleep(.seconds(1))
    await strap.leave()
    let later = spawn { try await connection.read(battery.instance(1)) }
    let error = await failure { try await sent.value }
    #expect(error?.code == .linkLost)
    #expect(error?.mayHaveTakenEffect == true)
    strap.answerTime = .zero
    try await behind.value
    #expect(try await read.value == 81)
    #expect(try await later.value == 45)
    #expect(strap.writes == [[1], [2]])
  }

  @Test func reportsLossAndReconnection() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .forever)
    let events = spawn {
      var kinds: [ConnectionEvent.Kind] = []
      for try await event in connection.events where event.kind != .linkChanged { kinds.append(event.kind) }
      return kinds
    }
    await sleep(.seconds(5))
    await strap.leave()
    await sleep(.seconds(20))
    #expect(connection.status().isConnected)
    await connection.disconnect()
    #expect(try await events.value == [.lost, .restored, .lost])
    #expect(await failure { try await connection.read(battery) }?.code == .closed)
  }

  @Test func aDeviceThatStaysAwayEndsTheConnection() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .within(.seconds(30)))
    let beats = spawn { try await connection.values(of: Strap.measurement).first(1) }
    await strap.untilConfigured()
    await sleep(.seconds(20))
    strap.isPresent = false
    await strap.leave()
    let read = spawn { try await connection.read(battery) }
    let start = testTimers.now
    #expect(await failure { try await beats.value } != nil)
    #expect(testTimers.now - start < .seconds(40))
    #expect(await failure { try await read.value } != nil)
    #expect(await failure { try await connection.values(of: Strap.measurement).first(1) } != nil)
  }

  @Test func disconnectOrReleaseEndsReconnection() async throws {
    for closes in [true, false] {
      let strap = try await Strap()
      var connection: Connection? = try await strap.connection(reconnect: .forever)
      weak let remains = connection
      strap.isPresent = false
      await strap.leave()
      await sleep(.seconds(5))
      if closes { await connection?.disconnect() }
      connection = nil
      await sleep(.seconds(5))
      #expect(remains == nil)
      strap.isPresent = true
      await sleep(.seconds(60))
      #expect(!strap.isConnected)
    }
  }

  @Test func aWaitThatIsCancelledEnds() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .forever)
    strap.isPresent = false
    await strap.leave()
    let read = spawn { try await connection.read(battery) }
    await sleep(.seconds(5))
    read.cancel()
    #expect(await failure { try await read.value }?.code == .cancelled)
    let beats = spawn { try await connection.values(of: Strap.measurement).first(1) }
    await sleep(.seconds(5))
    beats.cancel()
    #expect(try await beats.value.isEmpty)
  }

  /// The ring is opened again, and its stream begun again. With `deaf`, it answers nothing on its second link, which is given
  /// up after a time.
  @Test(arguments: ["early=1", "deaf"]) func aRingStreamsOverTheLoss(_ fault: String) async throws {
    let radio = try await Radio.open(RadioSelector("virtual:fast,drop-after=30,\(fault)"))
    let ring = try await Ring(radio.connect(to: .anyRing, reconnect: .forever))
    let events = spawn { try await ring.events.first(1000) }
    let samples = try await ring.samples.first(200)
    #expect(samples.count == 200)
    #expect(samples.contains { $0.gap != nil })
    #expect(try await ring.battery().percent > 0)
    await ring.connection.disconnect()
    #expect(await failure { try await events.value } != nil)
  }
}
