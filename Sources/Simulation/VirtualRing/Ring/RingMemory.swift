import HaloBluetoothCore
import RingLink

/// The state that a simulated ring keeps between connections.
package struct RingMemory {
  var clock: RingClock
  /// The values written to each setting, as reported when it is read.
  var settings = RingMemory.usualSettings
  var notificationMask: UInt16 = 0
  /// The sessions of sport that were run on it, the oldest first.
  private(set) var sports: [SimulatedSession] = []

  /// As many as a ring keeps.
  static let maximumSports = 10

  mutating func add(_ session: SimulatedSession) {
    sports = (sports + [session]).suffix(Self.maximumSports)
  }

  init(clock: RingClock, profile: RingFrame?) {
    self.clock = clock
    settings[CommandTable.profile.entry.name] = profile
  }

  /// The factory state: all automatic measurements are on, and there is no profile.
  private static var usualSettings: [String: RingFrame] {
    let on = ["enabled": 1]
    let goals = ["steps": 5000, "calories": 300_000, "distance": 3000]
    return [
      CommandTable.heartRateSchedule.entry.name: CommandTable.heartRateSchedule.reply([
        "enabled": 1, "start": 5,
      ]),
      CommandTable.oxygenSchedule.entry.name: CommandTable.oxygenSchedule.reply(on),
      CommandTable.stressSchedule.entry.name: CommandTable.stressSchedule.reply(on),
      CommandTable.variabilitySchedule.entry.name: CommandTable.variabilitySchedule.reply(on),
      CommandTable.temperatureSchedule.entry.name: SimulatedRing.frame(
        0x3A, [3, 1, 1, 30, 5, 10, 0, 0]),
      CommandTable.goals.entry.name: CommandTable.goals.reply(goals),
      CommandTable.temperatureUnit.entry.name: CommandTable.temperatureUnit.reply(),
      CommandTable.touch.entry.name: CommandTable.touch.reply(),
      CommandTable.gesture.entry.name: CommandTable.gesture.reply(),
      CommandTable.touchSleep.entry.name: SimulatedRing.frame(0x3B, [1, 2]),
    ]
  }
}

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
