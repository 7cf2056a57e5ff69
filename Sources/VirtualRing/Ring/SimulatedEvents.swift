import HaloBluetoothCore
import RingLink

/// The ring's unsolicited events: at intervals, and gestures in camera mode.
final class SimulatedEvents {
  var send: (RingFrame) -> Void = { _ in }
  var battery: () -> RingBattery = { RingBattery() }

  private let timers: Timers
  private let interval: Duration?
  private var count: UInt32 = 0
  private var timer: Timers.Token?
  private var shake: Timers.Token?

  /// A hand that is shaken every so often.
  private static let shakeInterval = Duration.seconds(2)

  /// - Parameter interval: the time between two events; nil for no events
  init(timers: Timers, interval: Duration?) {
    self.timers = timers
    self.interval = interval
    schedule()
  }

  func enterCamera() {
    timers.cancel(shake)
    shake = timers.schedule(after: Self.shakeInterval) { [weak self] in
      guard let self else { return }
      send(CommandTable.camera.frame(SingleByte(RingEvent.Camera.shake.rawValue)))
      enterCamera()
    }
  }

  func leaveCamera() {
    timers.cancel(shake.take())
  }

  private func schedule() {
    guard let interval else { return }
    timer = timers.schedule(after: interval) { [weak self] in
      guard let self else { return }
      send(next)
      count &+= 1
      schedule()
    }
  }

  private var next: RingFrame {
    switch count % 10 {
    case 0:
      var totals = LiveTotals()
      totals.steps = 3055 + count
      totals.calories = 139_785 + 45 * count
      totals.meters = 1999 + count * 2 / 3
      return CommandTable.liveTotals.frame(totals)
    case 1: return RingFrame(.notification, 0x01)
    case 2: return CommandTable.batteryEvent.frame(BatteryEvent(battery()))
    case 3: return CommandTable.variabilityEvent.frame(EventValue(31))
    case 4: return CommandTable.stressEvent.frame(EventValue(45))
    case 5: return CommandTable.mediaKey.frame(SingleByte(RingEvent.MediaKey.next.rawValue))
    case 6: return CommandTable.findPhone.frame(SingleByte(1))
    case 7: return CommandTable.buttonEvent.frame(ButtonEvent(.tap))
    case 8: return CommandTable.heartRateAlarm.frame(HeartRateAlarm(limit: 2, beatsPerMinute: 131))
    default: return CommandTable.counterEvent.frame(CounterEvent(count))
    }
  }
}
