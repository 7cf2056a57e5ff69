import HaloBluetoothCore

/// One measurement, from its start until the stop command has been sent (ring reference, 4.9). It does no I/O: frames
/// pass through the dispatcher, and the timers supply the time.
///
/// It always ends within a deadline, and the stop command is sent unless the link is gone.
package final class MeasurementSession {
  /// The commands that control it.
  package enum Method: Hashable, Sendable {
    /// Once: ends with one value after about half a minute.
    case spot
    /// Until it is stopped. Only for heart rate.
    case continuous
    /// The same by the command of older rings, 0x1E.
    case live
  }

  package var kind: MeasurementKind { procedure.kind }
  /// Called for each update during the measurement.
  package var onEvent: ((MeasurementEvent, Instant) -> Void)?
  /// Called once, after the stop command. Nil if the measurement was stopped by the caller.
  package var onEnd: ((Result<MeasurementReading?, RingError>) -> Void)?

  private var procedure: MeasurementProcedure
  private let dispatcher: RingDispatcher
  private let timers: Timers
  private var timer: Timers.Token?

  /// - Parameters:
  ///   - kind: used only by the spot method; the others measure heart rate
  ///   - method: the command that makes the ring measure
  ///   - dispatcher: passes the ring's frames on
  ///   - timers: the clock of the deadlines
  package init(_ kind: MeasurementKind, method: Method = .spot, dispatcher: RingDispatcher, timers: Timers) {
    procedure = MeasurementProcedure(kind, method: method)
    self.dispatcher = dispatcher
    self.timers = timers
  }

  /// Sends the start command.
  package func start() {
    dispatcher.listen(to: procedure.command) { [weak self] frame, time in
      if let self { run(procedure.receive(frame, at: time, now: timers.now)) }
    }
    dispatcher.whenClosed { [weak self] error in
      if let self { run(procedure.fail(error)) }
    }
    if !procedure.isOver { run(procedure.start(at: timers.now)) }
  }

  /// Ends it.
  ///
  /// - Parameter error: the error for the waiting caller; nil if this is not a failure
  package func stop(because error: RingError? = nil) {
    run(procedure.stop(because: error))
  }

  private func run(_ actions: [MeasurementProcedure.Action]) {
    timers.cancel(timer)
    timer = procedure.nextDeadline.map { deadline in
      timers.schedule(at: deadline) { [weak self] in
        if let self { run(procedure.advance(to: timers.now)) }
      }
    }
    for action in actions {
      switch action {
      case .send(let frame):
        do throws(RingError) {
          try dispatcher.post(frame)
        } catch {
          run(procedure.fail(error))
        }
      case .report(let event, let time): onEvent?(event, time)
      case .finish(let result, let stop): finish(result, stop)
      }
    }
  }

  private func finish(_ result: Result<MeasurementReading?, RingError>, _ stop: RingFrame?) {
    dispatcher.listen(to: procedure.command, nil)
    onEvent = nil
    let done = onEnd.take()
    if let stop, procedure.method == .spot {
      dispatcher.start(RingExchange(.frame(stop), accept: { _ in .done }) { _ in done?(result) })
    } else {
      if let stop { try? dispatcher.post(stop) }
      done?(result)
    }
  }
}
