import TestLoop
import Testing

@testable import HaloRaw

/// A sensor that several listen to, each of which may come or go at any time.
@BluetoothActor
@Suite(.onTheLoop) struct SharedSourceTests {
  /// A sensor that takes a second to start, and a second to stop.
  @BluetoothActor
  private final class Sensor {
    var log: [String] = []
    var failure: BluetoothError?
    var deliver: (Int) -> Void = { _ in }
    var end: (BluetoothError?) -> Void = { _ in }

    func source() -> SharedSource<Int> {
      let timers = testTimers
      return SharedSource { gap, deliver, end throws(BluetoothError) in
        self.log.append(gap.map { "start after \($0)" } ?? "start")
        await timers.sleep(for: .seconds(1))
        if Task.isCancelled { throw .cancelled }
        if let failure = self.failure { throw failure }
        (self.deliver, self.end) = (deliver, end)
        self.log.append("runs")
      } stop: {
        self.log.append("stop")
        await timers.sleep(for: .seconds(1))
        self.forget()
        self.log.append("stopped")
      }
    }

    /// These hold the source, which holds this object.
    func forget() { (deliver, end) = ({ _ in }, { _ in }) }
  }

  private func values(_ source: SharedSource<Int>) -> Values<Int> {
    Values(keepingNewest: 8) { feed throws(BluetoothError) in try await source.listen(feed) }
  }

  private func sleep(_ time: Duration) async { await testTimers.sleep(for: time) }

  @Test func runsFromFirstToLastListener() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    let first = spawn { try await values(source).first(1) }
    await sleep(.milliseconds(500))
    let second = spawn { try await values(source).first(2) }
    await sleep(.seconds(2))
    sensor.deliver(1)
    await sleep(.milliseconds(10))
    sensor.deliver(2)
    #expect(try await first.value == [1])
    #expect(try await second.value == [1, 2])
    await sleep(.seconds(2))
    #expect(sensor.log == ["start", "runs", "stop", "stopped"])
  }

  @Test func restartsWhenListenerJoinsDuringStop() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    let first = spawn { try await values(source).first(1) }
    await sleep(.seconds(2))
    sensor.deliver(1)
    _ = try await first.value
    await sleep(.milliseconds(500))
    let second = spawn { try await values(source).first(1) }
    await sleep(.seconds(3))
    sensor.deliver(2)
    #expect(try await second.value == [2])
    await sleep(.seconds(2))
    #expect(sensor.log == ["start", "runs", "stop", "stopped", "start", "runs", "stop", "stopped"])
  }

  @Test func cancelsStartWhenListenerLeaves() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    let first = spawn { try await values(source).first(1) }
    await sleep(.milliseconds(500))
    first.cancel()
    #expect(try await first.value == [])
    // The start has not ended yet.
    let second = spawn { try await values(source).first(1) }
    await sleep(.seconds(3))
    sensor.deliver(7)
    #expect(try await second.value == [7])
    await sleep(.seconds(2))
    #expect(sensor.log == ["start", "start", "runs", "stop", "stopped"])
  }

  @Test func aFailureReachesAllAndTheNextOneTriesAgain() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    sensor.failure = BluetoothError(.refused, "on its charger")
    let tasks = [1, 2].map { _ in spawn { try await values(source).first(1) } }
    for task in tasks { #expect(await failure { try await task.value }?.code == .refused) }
    sensor.failure = nil
    let next = spawn { try await values(source).first(1) }
    await sleep(.seconds(2))
    sensor.end(BluetoothError(.linkLost, "gone"))
    #expect(await failure { try await next.value }?.code == .linkLost)
    #expect(sensor.log == ["start", "start", "runs"])
    sensor.forget()
  }

  @Test func anInterruptionIsWaitedForAndCounted() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    let first = spawn { try await values(source).first(2) }
    await sleep(.seconds(2))
    sensor.deliver(1)
    source.interrupt(at: testTimers.now)
    let second = spawn { try await values(source).first(1) }
    await sleep(.seconds(5))
    source.resume(at: testTimers.now)
    await sleep(.seconds(2))
    sensor.deliver(2)
    #expect(try await first.value == [1, 2])
    #expect(try await second.value == [2])
    await sleep(.seconds(2))
    #expect(sensor.log == ["start", "runs", "start after 5.0 seconds", "runs", "stop", "stopped"])
  }

  @Test func anInterruptionWithoutListenersIsOver() async throws {
    let sensor = Sensor()
    let source = sensor.source()
    source.interrupt(at: testTimers.now)
    await sleep(.seconds(5))
    source.resume(at: testTimers.now)
    let next = spawn { try await values(source).first(1) }
    await sleep(.seconds(2))
    try #require(sensor.log == ["start", "runs"])
    sensor.deliver(3)
    #expect(try await next.value == [3])
    await sleep(.seconds(2))
  }
}
