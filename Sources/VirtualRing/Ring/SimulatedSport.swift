import BluetoothCore
import RingLink

/// A sport session: a second of brisk walking after the other (ring reference, 4.14).
final class SimulatedSport {
  var send: (RingFrame) -> Void = { _ in }
  var heartRate: (Double) -> Double = { _ in 69 }

  private let timers: Timers
  private var update = SportUpdate()
  private var timer: Timers.Token?

  init(timers: Timers) {
    self.timers = timers
  }

  func control(_ request: SportControl) {
    timers.cancel(timer)
    timer = nil
    switch request.action {
    case 1:
      update = SportUpdate()
      update.sport = request.sport
      schedule()
    case 3: schedule()
    default: break
    }
  }

  func stop() {
    timers.cancel(timer)
    timer = nil
  }

  private func schedule() {
    timer = timers.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      update.seconds &+= 1
      let seconds = UInt32(update.seconds)
      // The heart needs a minute to get used to it.
      update.beatsPerMinute = UInt8(
        clamping: Int(heartRate(Double(seconds)).rounded()) + Int(min(40, seconds * 2 / 3)))
      update.steps = seconds * 2
      update.meters = seconds * 3 / 2
      update.calories = seconds * 90
      send(CommandTable.sportUpdate.frame(update))
      schedule()
    }
  }
}
