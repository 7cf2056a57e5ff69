import BluetoothCore
import RingLink

/// The ring's clock: it runs from the time that was set, without a time zone.
struct RingClock {
  private let timers: Timers
  private var time: RingTime
  private var setAt: Instant

  init(_ time: RingTime, timers: Timers) {
    self.timers = timers
    self.time = time
    setAt = timers.now
  }

  var now: RingTime {
    RingTime(seconds: time.seconds + Int((timers.now - setAt).components.seconds))
  }

  mutating func set(to time: RingTime) {
    self.time = time
    setAt = timers.now
  }
}
