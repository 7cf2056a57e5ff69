import HaloBluetoothCore
import RingLink

/// The ring's unsolicited events: at intervals, and gestures in camera mode.
final class SimulatedEvents {
  var send: (RingFrame) -> Void = { _ in }
  var battery: () -> RingBattery = { RingBattery.usual }

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
      send(CommandTable.camera.frame(RingEvent.Camera.shake.rawValue))
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
    switch count % 11 {
    case 0:
      var totals = LiveTotals()
      totals.steps = 3055 + count
      totals.calories = 139_785 + 45 * count
      totals.meters = 1999 + count * 2 / 3
      return CommandTable.liveTotals.frame(totals)
    case 1: return RingFrame(.notification, 0x01)
    // A skin temperature of 36.6 °C, as an R10 sent it.
    case 10: return SimulatedRing.frame(0x73, [0x27, 0xA6])
    case 2: return CommandTable.batteryEvent.frame(battery())
    case 3: return CommandTable.variabilityEvent.frame(31)
    case 4: return CommandTable.stressEvent.frame(45)
    // By one source each: the key for the next title, the phone is looked for, a tap, a heart rate that is too high.
    case 5: return SimulatedRing.frame(0x1D, [3])
    case 6: return SimulatedRing.frame(0x22, [1])
    case 7: return SimulatedRing.frame(0x73, [0x2D, 3])
    case 8: return SimulatedRing.frame(0x73, [0x3A, 2, 131])
    default: return CommandTable.counterEvent.frame(count)
    }
  }
}
