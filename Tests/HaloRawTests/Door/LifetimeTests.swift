import GAP
import HCI
import HaloGATT
import HaloDevices
import HaloRaw
import TestLink
import TestLoop
import Testing
import HaloSimulation

/// Who keeps what, and what ends: a program that has only an iterator, that is cancelled, that forgets to close.
@BluetoothActor
@Suite(.onTheLoop) struct LifetimeTests {
  /// Nothing but the iterator that it returns is kept.
  private func iterator(_ strap: Strap) async throws -> Values<Received<HeartRateMeasurement>>.Iterator {
    try await strap.connection().values(of: Strap.measurement).makeAsyncIterator()
  }

  private func next(_ strap: Strap) -> Task<HeartRateMeasurement?, any Error> {
    spawn {
      var iterator = try await iterator(strap)
      return try await iterator.next()?.value
    }
  }

  /// A listener that is not told of the end of its link waits for ever: BasedHardware/omi 13315.
  @Test func theIteratorAloneKeepsTheConnectionAndLearnsOfItsEnd() async throws {
    let strap = try await Strap()
    let beat = next(strap)
    await strap.untilConfigured()
    strap.notify([0, 60])
    #expect(try await beat.value?.beatsPerMinute == 60)
    await testTimers.sleep(for: .seconds(2))
    // The iterator is gone, and with it the link.
    #expect(!strap.isConnected)
    let lost = next(strap)
    await testTimers.sleep(for: .seconds(2))
    await strap.leave()
    let error = await failure { try await lost.value }
    #expect(error?.code == .linkLost)
  }

  /// The descriptor of a stream that was cancelled still had the value 1: dotintent/FlutterBleLib 570.
  @Test func aCancelledIterationEndsItsSubscription() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let task = spawn { try await connection.values(of: Strap.measurement).first(2) }
    await strap.untilConfigured()
    #expect(strap.configurations == [.notify])
    strap.notify([0, 60])
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    #expect(try await task.value.count == 1)
    await testTimers.sleep(for: .seconds(1))
    #expect(strap.configurations == [.notify, []])
    #expect(strap.isConnected)
    await connection.disconnect()
  }

  /// It is cancelled while the request for the subscription is under way.
  @Test func aSubscriptionThatIsCancelledHalfWayIsEnded() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    for time in [20, 40, 60, 80, 100] {
      let task = spawn { try await connection.values(of: Strap.measurement).first(1) }
      await testTimers.sleep(for: .milliseconds(time))
      task.cancel()
      #expect(try await task.value.isEmpty)
      await testTimers.sleep(for: .seconds(1))
      #expect(strap.configurations.last ?? [] == [])
    }
    await connection.disconnect()
  }

  /// A stream that had ended with its first link gave nothing on the second one: Th0rgal/open_oura 5.
  @Test func eachIterationSubscribesAgain() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let values = connection.values(of: Strap.measurement)
    for rate: UInt8 in [60, 61] {
      let first = spawn { try await values.first(1) }
      await testTimers.sleep(for: .seconds(1))
      strap.notify([0, rate])
      #expect(try await first.value.map(\.value.beatsPerMinute) == [UInt16(rate)])
      await testTimers.sleep(for: .seconds(1))
    }
    #expect(strap.configurations == [.notify, [], .notify, []])
    await connection.disconnect()
  }

  /// Clearing the descriptor is the business of the last one who listens: Bluetooth-Devices/bleak-esphome 410.
  @Test func theSubscriptionIsSharedUntilTheLastOneLeaves() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    var tasks: [Task<[Received<HeartRateMeasurement>], any Error>] = []
    for count in [1, 2] {
      tasks.append(spawn { try await connection.values(of: Strap.measurement).first(count) })
      await testTimers.sleep(for: .seconds(1))
    }
    strap.notify([0, 60])
    await testTimers.sleep(for: .seconds(1))
    #expect(strap.configurations == [.notify])
    strap.notify([0, 61])
    await testTimers.sleep(for: .seconds(1))
    #expect(strap.configurations == [.notify, []])
    #expect(try await tasks[1].value.map(\.value.beatsPerMinute) == [60, 61])
  }

  /// A write that was sent may have been carried out; one that waited for its turn was not.
  @Test func cancelledWriteReportsWhetherItMayHaveTakenEffect() async throws {
    let strap = try await Strap()
    strap.answerTime = .seconds(10)
    let connection = try await strap.connection()
    let writes = [1, 2].map { number in
      spawn { try await connection.write([number], to: Strap.controlPoint) }
    }
    await testTimers.sleep(for: .seconds(2))
    for write in writes { write.cancel() }
    for (write, isSent) in zip(writes, [true, false]) {
      let error = await failure { try await write.value }
      #expect(error?.code == .cancelled)
      #expect(error?.mayHaveTakenEffect == isSent)
    }
    let last = spawn { try await connection.write([3], to: Strap.controlPoint) }
    await testTimers.sleep(for: .seconds(12))
    await strap.leave()
    let error = await failure { try await last.value }
    #expect(error?.code == .linkLost && error?.mayHaveTakenEffect == true)
    #expect(strap.writes == [[1], [3]])
  }

  @Test func throwsClosedAfterDisconnectOrClose() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    let connection = try await radio.connect(to: .name("strap"))
    await connection.disconnect()
    await connection.disconnect()
    let read = await failure { try await connection.read(.batteryLevel) }
    #expect(read?.code == .closed)
    try await radio.close()
    try await radio.close()
    let scan = await failure { try await radio.advertisements().first(1) }
    #expect(scan?.code == .closed)
    let connect = await failure { try await radio.connect(to: .any) }
    #expect(connect?.code == .closed)
  }

  // MARK: The radio

  @Test func releasesUnusedRadio() async throws {
    let adapter = FakeAdapter()
    var radio: Radio? = try await Radio.start(OpenedAdapter(adapter))
    weak let remains = radio
    radio = nil
    await testTimers.sleep(for: .seconds(1))
    #expect(remains == nil)
    #expect(adapter.isClosed)
  }

  @Test func releasesUnreferencedAdapter() async throws {
    let adapter = FakeAdapter()
    var kept: ManagedAdapter? = ManagedAdapter.kept(adapter)
    await testTimers.sleep(for: .seconds(1))
    #expect(kept?.state == .poweredOn)
    weak let remains = kept
    kept = nil
    await testTimers.sleep(for: .seconds(1))
    #expect(remains == nil)
    #expect(adapter.isClosed)
  }

  @Test func theScanLastsAsLongAsTheIteration() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let found = spawn { try await radio.advertisements(of: .address(BluetoothAddress(2, .random))).first(2) }
    await testTimers.sleep(for: .seconds(1))
    for number: UInt64 in [1, 2, 3, 2] { adapter.report(number) }
    #expect(try await found.value.map(\.address.value) == [2, 2])
    let cancelled = spawn { try await radio.advertisements().first(1) }
    await testTimers.sleep(for: .seconds(1))
    cancelled.cancel()
    #expect(try await cancelled.value.isEmpty)
    await testTimers.sleep(for: .seconds(1))
    #expect(adapter.scans.map { $0 == nil } == [false, true, false, true])
  }

  @Test func aRadioThatFailsEndsTheIterationAndIsRecovered() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let scan = spawn { try await radio.advertisements().first(1) }
    await testTimers.sleep(for: .seconds(1))
    adapter.onFailure?(.hardwareError(3))
    let error = await failure { try await scan.value }
    #expect(error?.code == .radioUnavailable)
    let again = spawn { try await radio.advertisements().first(1) }
    await testTimers.sleep(for: .seconds(1))
    adapter.report(1)
    #expect(try await again.value.count == 1)
  }

  @Test func connectingEndsInTimeOrWhenItIsCancelled() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    let absent = DeviceSelector.address(BluetoothAddress(5, .random))
    let error = await failure {
      try await radio.connect(to: absent, within: .seconds(2))
    }
    #expect(error?.code == .notFound)
    let unnamed = await failure {
      try await radio.connect(to: .name("Other"), within: .seconds(2))
    }
    #expect(unnamed?.code == .notFound)
    let task = spawn { try await radio.connect(to: absent) }
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    let cancelled = await failure { try await task.value }
    #expect(cancelled?.code == .cancelled)
    try await radio.close()
  }

  @Test func rejectsConnectionToOwnAddress() async throws {
    let radio = try await Radio.start(OpenedAdapter(FakeAdapter()))
    let error = await failure {
      try await radio.connect(to: .address(BluetoothAddress(1, .public)))
    }
    #expect(error?.code == .notSupported)
  }
}
