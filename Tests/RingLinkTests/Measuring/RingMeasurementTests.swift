import HaloGATT
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Measurements of a ring as its users see them: a value, a sequence, and what is asked of the ring (ring reference, 4.9).
@BluetoothActor
@Suite(.onTheLoop) struct RingMeasurementTests {
  private let device = ScriptedRing()

  private func update(_ kind: MeasurementKind, _ value: UInt8 = 0, status: UInt8 = 0) -> RingFrame {
    var update = MeasurementUpdate(kind)
    (update.value, update.status) = (value, status)
    return CommandTable.measurementStart.frame(of: update)
  }

  private func refuse(_ command: RingCommand) {
    device.answer = { frame in
      guard frame.command == command else {
        return frame.digits == "1e01" ? [RingFrame(0x1E, 0), RingFrame(0x1E, 72), RingFrame(0x1E, 73)] : []
      }
      return RingFrame.refusal(of: command).map { [$0] } ?? []
    }
  }

  /// The value counts after 1.5 s of silence, and the ring is asked to keep it.
  @Test func aValueIsMeasured() async throws {
    let ring = try await device.open()
    device.answer = { [update] in
      $0.command == 0x69 ? [update(.heartRate, 0, 0), update(.heartRate, 72, 0)] : [$0]
    }
    var events: [MeasurementEvent] = []
    var reading: MeasurementReading?
    let (error, time) = await failure { () throws(RingError) in
      reading = try await ring.measure(.heartRate) { event, _ in events.append(event) }
    }
    #expect(error == nil && reading == MeasurementReading(kind: .heartRate, value: .heartRate(72)))
    #expect(events == [.warmingUp] && device.takeAsked() == ["690101", "6a0148"])
    #expect(time >= .milliseconds(1500) && time < .milliseconds(1520))
  }

  /// An older ring refuses the command: the first value of its own one counts.
  @Test(arguments: [true, false]) func anOlderRingHasItsOwnCommand(_ isLive: Bool) async throws {
    let ring = try await device.open()
    refuse(0x69)
    var events: [MeasurementEvent] = []
    let reading = try await ring.measure(.heartRate, isLive: isLive) { event, _ in events.append(event) }
    #expect(reading == MeasurementReading(kind: .heartRate, value: .heartRate(72)) && events == [.warmingUp])
    #expect(device.takeAsked() == (isLive ? [] : ["690101"]) + ["1e01", "1e02"])
  }

  @Test func otherQuantitiesAreRefused() async throws {
    let ring = try await device.open()
    refuse(0x69)
    let (error, _) = await failure { () throws(RingError) in _ = try await ring.measure(.oxygen, isLive: true)
    }
    #expect(error == .refused(.frame(0x69), .notSupported) && device.takeAsked() == ["690301"])
  }

  /// The ring is asked to stop, also by a task that is cancelled.
  @Test func cancellingStopsTheRing() async throws {
    let ring = try await device.open()
    let task = spawn { try await ring.measure(.oxygen) }
    await settle()
    task.cancel()
    await #expect(throws: RingError.cancelled) { _ = try await task.value }
    #expect(device.takeAsked() == ["690301", "6a03"])
    let live = spawn { try await ring.measure(.heartRate, isLive: true) }
    await settle()
    live.cancel()
    await #expect(throws: RingError.cancelled) { _ = try await live.value }
    #expect(device.takeAsked() == ["1e01", "1e02"])
  }

  /// One quantity at a time: the one before ends with a reason.
  @Test func theNextMeasurementTakesTheSensor() async throws {
    let ring = try await device.open()
    device.answer = { $0.command == 0x6A ? [$0] : [] }
    let first = spawn { try await ring.measure(.oxygen) }
    await settle()
    let second = spawn { try await ring.measure(.stress) }
    await #expect(throws: RingError.measurement(.oxygen, .takenOver(by: .stress))) {
      _ = try await first.value
    }
    #expect(device.takeAsked() == ["690301", "6a03", "690801"])
    second.cancel()
    _ = await second.result
  }

  @BluetoothActor private final class Heard {
    var items: [String] = []
    var error: RingError?
    var isOver = false
  }

  private func listen(_ sequence: MeasurementSequence) async -> (Heard, Task<Void, any Error>) {
    let heard = Heard()
    let task = spawn {
      do throws(RingError) {
        for try await (event, _) in sequence { heard.items.append("\(event)") }
      } catch {
        heard.error = error
      }
      heard.isOver = true
    }
    await settle()
    return (heard, task)
  }

  private func reading(_ value: Int) -> String {
    "\(MeasurementEvent.reading(MeasurementReading(kind: .continuousHeartRate, value: .heartRate(value))))"
  }

  @Test func heartRatesAreASequence() async throws {
    let ring = try await device.open()
    device.answer = { [update] in $0.digits == "690601" ? [update(.continuousHeartRate, 70, 0)] : [] }
    let sequence = ring.heartRates()
    let (heard, _) = await listen(sequence)
    device.send(update(.continuousHeartRate, 71))
    await testTimers.sleep(for: .milliseconds(5))
    #expect(heard.items == [reading(70), reading(71)] && !heard.isOver)
    sequence.stop()
    sequence.stop()
    await testTimers.sleep(for: .milliseconds(5))
    #expect(heard.isOver && heard.error == nil && device.takeAsked() == ["690601", "690604"])
  }

  @Test func aSequenceEndsWithTheReason() async throws {
    let ring = try await device.open()
    device.answer = { [update] in $0.digits == "690601" ? [update(.continuousHeartRate, 0, 2)] : [] }
    let (heard, _) = await listen(ring.heartRates())
    await testTimers.sleep(for: .milliseconds(5))
    #expect(heard.error == .measurement(.continuousHeartRate, .notWorn) && heard.items == [])
    #expect(device.takeAsked() == ["690601", "690604"])
  }

  @Test(arguments: [true, false]) func olderRingsHaveASequenceToo(_ isLive: Bool) async throws {
    let ring = try await device.open()
    refuse(0x69)
    let sequence = ring.heartRates(isLive: isLive)
    let (heard, task) = await listen(sequence)
    await testTimers.sleep(for: .milliseconds(10))
    #expect(heard.items == ["\(MeasurementEvent.warmingUp)", reading(72), reading(73)])
    // Who does not listen any more wants no more.
    task.cancel()
    await testTimers.sleep(for: .milliseconds(10))
    #expect(device.takeAsked() == (isLive ? [] : ["690601"]) + ["1e01", "1e02"])
  }

  /// A slow reader loses the oldest.
  @Test func aSequenceHoldsABoundedNumber() async throws {
    let ring = try await device.open()
    let sequence = ring.heartRates(capacity: 2)
    for value: UInt8 in 70..<75 { device.send(update(.continuousHeartRate, value)) }
    await testTimers.sleep(for: .milliseconds(5))
    let (heard, task) = await listen(sequence)
    #expect(heard.items == [reading(73), reading(74)])
    task.cancel()
    _ = await task.result
  }
}
