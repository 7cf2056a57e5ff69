import HaloBluetoothCore
import RingLink
import TestSupport

/// A measurement, and a ring that says what the test wants. Time passes only when it says so.
final class MeasurementDialogue {
  let timers = Timers()
  let dispatcher: RingDispatcher
  let session: MeasurementSession
  private(set) var events: [MeasurementEvent] = []
  private(set) var result: Result<MeasurementReading?, RingError>?
  private let outbox: Outbox

  private final class Outbox {
    var frames: [RingFrame] = []
  }

  init(_ kind: MeasurementKind, method: MeasurementSession.Method = .spot) {
    let outbox = Outbox()
    self.outbox = outbox
    dispatcher = RingDispatcher(timers: timers) { message in
      if case .frame(let frame) = message { outbox.frames.append(frame) }
    }
    session = MeasurementSession(kind, method: method, dispatcher: dispatcher, timers: timers)
    session.onEvent = { [unowned self] event, _ in events.append(event) }
    session.onEnd = { [unowned self] in result = $0 }
    session.start()
  }

  /// What was sent so far, without the padding.
  var sent: [String] {
    outbox.frames.map { frame in
      var bytes = frame.bytes.dropLast()
      while bytes.count > 1, bytes.last == 0 { bytes.removeLast() }
      return Hex.string(bytes, separator: " ")
    }
  }

  var reading: MeasurementReading? { (try? result?.get()).flatMap { $0 } }

  var error: RingError? {
    if case .failure(let error) = result { error } else { nil }
  }

  var failure: MeasurementFailure? {
    if case .measurement(_, let failure) = error { failure } else { nil }
  }

  /// Passes time, and then the ring sends a frame.
  func ring(_ frame: [UInt8], after time: Duration = .milliseconds(500)) {
    timers.advance(by: time)
    dispatcher.receive(frame.span.bytes, at: timers.now)
  }

  func ring(_ frame: RingFrame, after time: Duration = .milliseconds(500)) { ring(frame.bytes, after: time) }

  /// A tick of a measurement.
  func tick(
    _ kind: MeasurementKind, status: UInt8 = 0, _ value: UInt8 = 0, second: UInt8 = 0, interval: UInt16 = 0,
    times: Int = 1, every time: Duration = .milliseconds(500)
  ) {
    var update = MeasurementUpdate(kind)
    update.status = status
    update.value = value
    update.second = second
    update.beatInterval = interval
    for _ in 0..<times { ring(CommandTable.measurementStart.frame(of: update), after: time) }
  }

  /// The ring acknowledges the stop.
  func acknowledge(_ kind: MeasurementKind) {
    ring(CommandTable.measurementStop.frame(of: MeasurementStop(kind)), after: .milliseconds(10))
  }
}
