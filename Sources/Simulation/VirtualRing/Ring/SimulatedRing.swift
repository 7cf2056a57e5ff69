import HaloBluetoothCore
import RingLink

/// The ring's protocol: frames in, frames out (ring reference, 2 to 5). Independent of Bluetooth.
package final class SimulatedRing {
  /// The messages of the host.
  package struct Counters: Hashable, Sendable {
    /// Frames with a right checksum.
    package var frames = 0
    /// Writes that were no frame, and are not answered.
    package var badFrames = 0
    /// Sets of samples sent since the ring was switched on.
    package var sets = 0
    /// The raw stream requests of the host, in order: the first 256.
    package var rawControls: [RawControl] = []
  }

  package var options: VirtualRingOptions
  /// Counts of the frames that the ring has received and sent.
  package private(set) var counters = Counters()
  package private(set) var isStreaming = false

  /// The stored state of the ring: its clock, settings and histories.
  package var memory: RingMemory
  /// Receives the values to be notified on the command characteristic.
  var notify: (RingFrame) -> Void = { _ in }
  /// Receives values for the command characteristic that are not valid frames: they have a wrong checksum.
  var notifyDamaged: ([UInt8]) -> Void = { _ in }
  /// Receives the values to be notified on the bulk characteristic.
  var notifyBulk: ([UInt8]) -> Void = { _ in }
  /// The ring is out of reach all of a sudden.
  var vanish: () -> Void = {}
  /// The ring answers nothing any more on this link.
  var fallSilent: () -> Void = {}
  /// The ring ends the link.
  var leave: () -> Void = {}
  /// The ring ends the link and does not advertise any more.
  var switchOff: () -> Void = {}
  /// The bytes that fit into a notification now.
  var payloadLength: () -> Int = { 20 }

  let measurement: SimulatedMeasurement
  let sport: SimulatedSport
  let events: SimulatedEvents

  package var isLit: Bool { light.isOn || measurement.isRunning || counted != nil && isStreaming }

  private let timers: Timers
  private var light: SimulatedLight
  var logFaults = LogFaults()
  private var waveform: PulseWaveform
  private var index = 0
  private var framesOfStream = 0
  private var start = Instant.zero
  private var timer: Timers.Token?
  /// The counted stream that runs, or ran last; nil if it was the raw one.
  private var counted: SimulatedCountedStream?

  package init(options: VirtualRingOptions, timers: Timers) {
    self.options = options
    self.timers = timers
    memory = RingMemory(
      clock: RingClock(options.clock ?? Self.firstTime, timers: timers), profile: options.model?.profile)
    let waveform = PulseWaveform(seed: options.seed, rate: options.rate, family: options.family)
    self.waveform = waveform
    light = SimulatedLight(family: options.family)
    measurement = SimulatedMeasurement(timers: timers)
    sport = SimulatedSport(timers: timers)
    events = SimulatedEvents(timers: timers, interval: options.eventInterval)
    measurement.warmUp = options.warmUp
    measurement.seed = options.seed
    measurement.heartRate = waveform.heartRate
    measurement.isWorn = { [weak self] in
      guard let options = self?.options else { return false }
      return options.isWorn && !options.isCharging
    }
    measurement.send = { [weak self] in self?.notify($0) }
    sport.heartRate = waveform.heartRate
    sport.send = { [weak self] in self?.notify($0) }
    sport.now = { [weak self] in self?.memory.clock.now ?? Self.firstTime }
    sport.store = { [weak self] in self?.memory.add($0) }
    events.battery = { [weak self] in
      RingBattery(percent: self?.options.battery ?? 0, isCharging: self?.options.isCharging ?? false)
    }
    events.send = { [weak self] in self?.notify($0) }
  }

  /// The time of a ring whose clock was never set.
  private static let firstTime = RingDay(number: 10957).midnight

  /// Handles a value written to the command characteristic.
  package func receive(_ bytes: RawSpan) {
    guard let frame = try? RingFrame(parsing: bytes) else {
      counters.badFrames += 1
      return
    }
    counters.frames += 1
    if frame.command == .rawStream, let request = try? RawControl(parsing: frame) { return control(request) }
    if let answer = answerOfOneSource(to: frame) { return answer.forEach { notify($0) } }
    let meaning = CommandTable.meaning(of: frame, isFromRing: false)
    if let answer = RingAnswer.answer(to: meaning, family: options.family) {
      var frames = answer.frames(self, frame)
      if answer.entry.shape == .multiFrame { frames = logFaults.apply(options.faults, to: frames) }
      for frame in frames { notify(frame) }
    } else if let refusal = RingFrame.refusal(of: frame.command) {
      notify(refusal)
    }
  }

  /// Handles a value written to the bulk characteristic. Requests for which the ring has no data are answered with one
  /// byte, 0; a wrong CRC with 2.
  package func receiveBulk(_ bytes: RawSpan) {
    guard bytes.byte(at: 0) == BulkFrame.magic, let id = bytes.byte(at: 1) else { return }
    var assembler = BulkAssembler()
    if case .frame(let request) = assembler.receive(bytes, at: .zero) {
      if let payload = bulkAnswerOfOneSource(to: request.id, request.payload) {
        sendBulk(request.id, payload)
      } else if let answer = RingBulkAnswer.answer(to: request.id, of: self) {
        for (id, payload) in answer.frames(self, request.payload) { sendBulk(id, payload) }
      } else if CommandTable.entries(for: .bulk(request.id)).isEmpty {
        sendBulk(request.id, [0])
      }
    } else if assembler.errors.badCRC > 0 {
      sendBulk(BulkID(rawValue: id), [2])
    }
  }

  /// Sends a bulk frame, in pieces that fit into a notification.
  private func sendBulk(_ id: BulkID, _ payload: [UInt8]) {
    var writer = ByteWriter(capacity: BulkFrame.headerLength + payload.count)
    guard (try? BulkFrame.write(id, payload: payload, into: &writer)) != nil else { return }
    var bytes = writer.bytes
    if options.faults.badBulkCRCs > 0 {
      options.faults.badBulkCRCs -= 1
      bytes[4] ^= 0x55
    }
    let length = max(min(payloadLength(), 182), 20)
    for start in stride(from: 0, to: bytes.count, by: length) {
      notifyBulk(Array(bytes[start..<min(start + length, bytes.count)]))
    }
  }

  /// Puts the ring on its charger or takes it off: it sends an event, and a stream ends without notice.
  package func setCharging(_ isCharging: Bool) {
    options.isCharging = isCharging
    if isCharging {
      stop()
      light.turnOff()
    }
    let battery = RingBattery(percent: options.battery, isCharging: isCharging)
    notify(CommandTable.batteryEvent.frame(battery))
  }

  /// The capabilities that a ring of this family reports.
  var capabilities: RingCapabilities {
    var capabilities = RingCapabilities.usual
    // Rings without a display claim these two.
    capabilities.watchFaces = true
    capabilities.weather = true
    capabilities.companionFeatures = 0x30
    capabilities.bloodOxygen = true
    capabilities.newSleepProtocol = true
    capabilities.manualHeartRate = true
    capabilities.stress = true
    capabilities.variability = options.family != .rf03
    capabilities.temperature = options.family == .rt11cr
    capabilities.realtek = options.family == .rt || options.family == .rt11cr
    return capabilities
  }

  /// The answer observed from the newest ring; the others do not offer a bond.
  var deviceSupport: DeviceSupport {
    var support = DeviceSupport.usual
    if options.family == .rt11cr {
      support.wantsBond = true
      // The captured ring did not; so the newer temperatures have a ring that keeps them, too.
      support.hasIntervalTemperature = true
      support.bytes = [0x00, 0x8C, 0x27, 0x00, 0x28, 0x80, 0, 0, 0, 0, 0, 0, 0, 0]
    }
    for name in options.support { support.set(name) }
    return support
  }

  /// A factory reset.
  func forgetEverything() {
    memory = RingMemory(clock: memory.clock, profile: options.model?.profile)
  }

  /// Ends the stream for another user of the sensor.
  func takeSensor() {
    stop()
    light.turnOff()
  }

  /// The link is gone: output for the host ends. A measurement continues until its time is over.
  package func disconnected() {
    takeSensor()
    sport.stop()
    events.leaveCamera()
  }

  /// Ends the stream; the light is another matter.
  package func stop() {
    timers.cancel(timer.take())
    isStreaming = false
  }

  // MARK: The raw stream

  private func control(_ control: RawControl) {
    // A host that runs for weeks must not fill the memory.
    if counters.rawControls.count < 256 { counters.rawControls.append(control) }
    switch control {
    case .stop, .release:
      light.end(control)
      // The command that switches off the light of newer rings has no effect on the oldest.
      if control == .stop || options.family != .rf03 { stop() }
    case _ where options.isCharging || options.faults.refusesRawStream: notify(RawSample.refused.frame)
    case .once: sendSet()
    case .stream, RawControl(rawValue: 1), RawControl(rawValue: 6), RawControl(rawValue: 7):
      measurement.stop()
      light.take(control)
      startStream()
    case RawControl(rawValue: 8):
      stop()
      notify(RawSample.wearCalibrationEnd(first: 0, second: 0).frame)
    default: notify(RawSample.refused.frame)
    }
  }

  private func startStream() {
    guard !options.faults.silentRawStream else { return stop() }
    counted = nil
    beginSets()
  }

  /// Starts the counted stream, or lets it go on. Without a finger and on the charger, there is an error in place of samples.
  func startCountedStream(_ light: SimulatedCountedStream.Light, seconds: UInt8) {
    guard options.isWorn, !options.isCharging else {
      return notify(Self.frame(0x69, [light.rawValue, 1]))
    }
    let end = timers.now + .seconds(Int(seconds))
    if isStreaming, counted?.light == light {
      counted?.end = end
      return
    }
    takeSensor()
    measurement.stop()
    counted = SimulatedCountedStream(light, until: end, options.faults)
    beginSets()
  }

  /// - Parameter kind: no other stream is stopped
  func stopCountedStream(_ kind: MeasurementKind) {
    if let counted, counted.light.rawValue == kind.rawValue { stop() }
  }

  private func beginSets() {
    stop()
    isStreaming = true
    index = 0
    framesOfStream = 0
    ending = nextEnding
    start = timers.now
    tick()
  }

  /// How a stream ends unasked.
  enum End {
    /// The ring is out of reach.
    case gone
    case mute
    /// The stream ends without a message.
    case stopped
    case refused
    case charging
  }

  /// After how many sets it does on this link; nil if the options decide, or it does not.
  var endOfStream: (count: Int, end: End)?

  /// The end of the current stream.
  private var ending: (count: Int, end: End) = (.max, .gone)

  private var nextEnding: (count: Int, end: End) {
    if let endOfStream { return endOfStream }
    let faults = options.faults
    let ends: [(count: Int?, end: End)] = [
      (faults.dropsAfter, .gone), (faults.mutesAfter, .mute), (faults.stopsAfter, .stopped),
      (faults.refusesAfter, .refused), (faults.chargesAfter, .charging),
    ]
    return ends.map { ($0.count ?? .max, $0.end) }.min { $0.0 < $1.0 } ?? (.max, .gone)
  }

  /// Sends a set and waits for the next one. Times are counted from the start, so that they do not drift.
  private func tick() {
    if index >= ending.count {
      stop()
      switch ending.end {
      case .gone: vanish()
      case .mute: fallSilent()
      // The next stream on such a link ends otherwise.
      case .stopped: endOfStream?.end = .gone
      case .refused: notify(RingFrame(.rawStream, 0xEE))
      case .charging: options.isCharging = true
      }
      return
    }
    if let end = counted?.end, timers.now >= end { return stop() }
    sendSet()
    guard isStreaming else { return }
    let next = start + .nanoseconds(Int64(Double(index) / waveform.rate * 1e9))
    timer = timers.schedule(at: next) { [weak self] in self?.tick() }
  }

  /// Sends all three sensors, back to back; or the packets of the counted stream in their place.
  private func sendSet() {
    let acceleration = waveform.acceleration(at: index)
    let frames: [RingFrame]
    if counted != nil {
      let ppg = waveform.ppg(at: index)
      let red = waveform.spo2(at: index)
      frames =
        counted?.frames(
          index, ppg, red, acceleration, heartRate: waveform.heartRate(at: Double(index) / waveform.rate))
        ?? []
    } else {
      let samples: [RawSample] = [
        .spo2(waveform.spo2(at: index)), .ppg(waveform.ppg(at: index)),
        .accelerometer(AccelerometerSample(acceleration, encoding: options.encoding)),
      ]
      frames = samples.map(\.frame)
    }
    index += 1
    counters.sets += 1
    for frame in frames {
      framesOfStream += 1
      if let every = options.faults.badChecksumEvery, every > 0, framesOfStream.isMultiple(of: every) {
        var bytes = frame.bytes
        bytes[15] ^= 0x55
        notifyDamaged(bytes)
      } else {
        notify(frame)
      }
    }
  }
}
