import HaloBluetoothCore
import RingLink

/// A measurement on request, one at a time (ring reference, 4.9): zeros during warm-up, then beat-to-beat intervals,
/// then values, with the timing of a real ring.
final class SimulatedMeasurement {
  /// Receives the frames to be notified.
  var send: (RingFrame) -> Void = { _ in }
  /// The time to the first value of a spot measurement; the other times follow from it.
  var warmUp = Duration.milliseconds(25_500)
  var isWorn: () -> Bool = { true }
  /// Beats a minute at a time of the simulation, in seconds.
  var heartRate: (Double) -> Double = { _ in 69 }
  var seed: UInt64 = 0

  private enum Mode {
    case spot(MeasurementKind)
    case continuous
    case live
  }

  private let timers: Timers
  private var mode: Mode?
  private var ticks = 0
  private var started = Instant.zero
  /// When it was last requested.
  private var asked = Instant.zero
  private var hasWarmedUp = false
  private var timer: Timers.Token?
  private var last: UInt8 = 0

  init(timers: Timers) { self.timers = timers }

  /// The light is on as long as it measures.
  var isRunning: Bool { mode != nil }

  func start(_ request: MeasurementStart) {
    guard request.kind == .continuousHeartRate else { return begin(.spot(request.kind)) }
    switch request.action {
    case 2, MeasurementStart.stopAction: if case .continuous = mode { stop() }
    case MeasurementStart.keepAliveAction:
      if case .continuous = mode { asked = timers.now } else { begin(.continuous) }
    default: begin(.continuous)
    }
  }

  /// - Parameter kind: no other measurement is stopped
  func stop(_ kind: MeasurementKind) {
    switch mode {
    case .spot(kind): stop()
    case .continuous where kind == .continuousHeartRate: stop()
    default: break
    }
  }

  /// The older live heart rate.
  ///
  /// - Parameter action: 1 start, 2 stop, 3 go on
  func controlLive(action: UInt8) {
    switch action {
    case 2: if case .live = mode { stop() }
    case 1: begin(.live)
    default: if case .live = mode { asked = timers.now } else { begin(.live) }
    }
  }

  func stop() {
    timers.cancel(timer.take())
    mode = nil
  }

  private func begin(_ mode: Mode) {
    stop()
    self.mode = mode
    ticks = 0
    last = 0
    hasWarmedUp = false
    started = timers.now
    asked = started
    schedule()
  }

  // MARK: Ticks

  private var tick: Duration {
    if case .spot = mode { .milliseconds(500) } else { .seconds(1) }
  }

  private func schedule() {
    timer = timers.schedule(at: started + tick * (ticks + 1)) { [weak self] in
      guard let self, let mode else { return }
      ticks += 1
      switch mode {
      case .spot(let kind): spotTick(kind)
      case .continuous: continuousTick()
      case .live: liveTick()
      }
      if self.mode != nil { schedule() }
    }
  }

  private var time: Double { (timers.now - started).inSeconds }
  private var beats: UInt8 { UInt8(clamping: Int(heartRate(time).rounded())) }
  private var interval: UInt16 { UInt16(clamping: Int((60_000 / max(1, heartRate(time))).rounded())) }

  private func spotTick(_ kind: MeasurementKind) {
    var update = MeasurementUpdate(kind)
    guard isWorn() else {
      if ticks >= 7 {
        update.status = 1
        stop()
      }
      return send(CommandTable.measurementStart.frame(of: update))
    }
    let first = max(1, Int(warmUp.inSeconds * 2))
    let hasInterval = kind == .heartRate || kind == .stress || kind == .variability || kind == .combined
    if hasInterval, ticks > first * 31 / 51 { update.beatInterval = interval }
    let isLast = ticks >= first + 9
    if ticks >= first { fill(&update, isLast: isLast) }
    if isLast { stop() }
    send(
      kind == .combined && ticks >= first
        ? combined(update) : CommandTable.measurementStart.frame(of: update))
  }

  private func combined(_ update: MeasurementUpdate) -> RingFrame {
    var values = CombinedMeasurement()
    values.beatsPerMinute = update.value
    values.variability = update.second
    values.stress = update.third
    values.beatInterval = update.beatInterval
    values.systolic = 118
    values.diastolic = 76
    return values.frame
  }

  private func fill(_ update: inout MeasurementUpdate, isLast: Bool) {
    let dice = Int(SplitMix.mix(seed &+ UInt64(update.kind.rawValue)) % 20)
    switch update.kind {
    case .heartRate: update.value = beats
    case .oxygen:
      update.value = UInt8(96 + dice % 4)
      update.second = isLast ? 1 : 0
    case .bloodPressure:
      update.value = beats
      update.second = UInt8(112 + dice)
      update.third = UInt8(70 + dice / 2)
    case .combined:
      update.value = beats
      update.second = UInt8(30 + dice)
      update.third = UInt8(30 + dice)
    case .bodyTemperature:
      // 36.5 degrees in tenths, little-endian: one of the layouts that a ring may have.
      update.value = 0x6D
      update.second = 0x01
    default: update.value = UInt8(30 + dice)
    }
  }

  private func continuousTick() {
    guard timers.now - asked < .seconds(40) else { return stop() }
    var update = MeasurementUpdate(.continuousHeartRate)
    if !isWorn() {
      if hasWarmedUp {
        update.status = 1
        update.value = last
      } else if ticks >= 3 {
        update.status = 2
        stop()
      }
      return send(CommandTable.measurementStart.frame(of: update))
    }
    if time >= warmUp.inSeconds * 32 / 51 {
      hasWarmedUp = true
      last = beats
      update.value = last
    }
    send(CommandTable.measurementStart.frame(of: update))
  }

  private func liveTick() {
    guard timers.now - asked < .seconds(60) else { return stop() }
    let isReady = isWorn() && time >= warmUp.inSeconds * 32 / 51
    send(SimulatedRing.frame(0x1E, [isReady ? beats : 0]))
  }
}

/// The requests that keep the light of the sensor on during the raw stream (ring reference, 5.1). It is independent of the
/// stream: on newer rings the light stays on after the stream has ended.
struct SimulatedLight {
  /// Bits that hold the light, by the request that took them.
  private var holders: Set<UInt8> = []
  private let needsRelease: Bool

  init(family: RingFamily) {
    // The behaviour of the RY rings is unknown; they are treated as newer ones, whose light is harder to switch off.
    needsRelease = family != .rf03
  }

  var isOn: Bool { !holders.isEmpty }

  mutating func take(_ control: RawControl) {
    holders = [needsRelease && control == .stream ? RawControl.release.rawValue : RawControl.stop.rawValue]
  }

  mutating func end(_ control: RawControl) { holders.remove(control.rawValue) }

  /// The link is gone, or another measurement has taken the sensor.
  mutating func turnOff() { holders = [] }
}
