import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloViews
import RingLink

/// The samples of a stream as waveforms on a terminal. Each picture is drawn over the one before. `q` ends the stream.
@BluetoothActor
final class StreamPlot: SampleObserver {
  private let session: Session
  private let characters: DotCanvas.Characters
  private var screen = Console.output(.drop)
  private var ring: (@BluetoothActor () -> RingClient)?
  private var detector: AccelerometerEncodingDetector
  private var panels: [(kind: SampleKinds, panel: PlotPanel)] = []
  /// Finds the beats in the same samples.
  private let beats: BeatFinder?
  /// Measures the heart rate of a ring that is too slow for a wave; nil if nothing may interrupt the stream.
  private let plan: RingPlan?
  /// The heart rate that the ring has measured, and when.
  private var measured: (rate: Int, time: Instant)?
  private var hasAsked = false
  private var pauseStart: Instant?
  private var battery: RingBattery?
  private var gaps = 0
  /// The packets of the counted stream that are lost; nil for another stream.
  private var lost: Int?
  /// The samples of the first kind since ``rateStart``.
  private var count = 0
  private var rateStart: Instant?
  private var rate: Double?
  /// The lines of the last picture, and the terminal's size then.
  private var drawnLines = 0
  private var drawnSize = (columns: 0, rows: 0)
  private var drawTimer: Timers.Token?
  private var reading: PeriodicReading?
  private var keys: KeyInput?

  private static let drawPause = Duration.milliseconds(200)
  private static let batteryPause = Duration.seconds(300)
  /// The time shown of a fast signal, and of one with fewer samples a second than this.
  private static let fastWindow = Duration.seconds(10)
  private static let slowWindow = Duration.seconds(60)
  private static let slowRate = 5.0
  private static let measurePause = Duration.seconds(60)
  /// How long a measured heart rate is shown.
  private static let measuredTime = Duration.seconds(150)
  private static let smallestPanel = 4

  /// - Throws: if there is nothing to draw on
  nonisolated static func checkTerminal() throws(Failure) {
    guard Terminal.canDraw(on: STDOUT_FILENO) else {
      throw .usage("--plot needs a terminal that can be drawn on: not a pipe, and TERM not empty or dumb")
    }
  }

  /// - Parameters:
  ///   - plan: measures the heart rate in pauses of the stream
  ///   - beats: finds the beats in the light
  init(_ session: Session, of ring: RingClient, _ kinds: SampleKinds, _ plan: RingPlan?, _ beats: BeatFinder?)
  {
    self.plan = plan
    self.beats = beats
    self.session = session
    characters = Terminal.showsBraille ? .braille : .ascii
    detector = AccelerometerEncodingDetector(known: ring.firmware.accelerometerEncoding)
    if kinds.contains(.ppg) { panels.append((.ppg, PlotPanel("green light, counts"))) }
    if kinds.contains(.accelerometer) {
      panels.append((.accelerometer, PlotPanel("acceleration x, y, z, g", places: 2, curves: 3)))
    }
    if kinds.contains(.spo2) { panels.append((.spo2, PlotPanel("red and infrared light, counts"))) }
  }

  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {
    self.ring = ring
    keys = KeyInput { [session] key in
      if key == UInt8(ascii: "q") { session.interruption.request() }
    }
    scheduleDrawing()
    let reading = PeriodicReading(session.timers, every: Self.batteryPause) { [self] in
      // Without an answer, it is shown as unknown.
      battery = try? await ring().battery()
    }
    reading.begin(after: identification)
    self.reading = reading
  }

  func end() async {
    session.timers.cancel(drawTimer)
    keys?.stop()
    await reading?.end()
    reading = nil
    draw()
  }

  // MARK: Samples

  func take(_ sample: RawSample, at time: Instant) {
    switch sample {
    case .ppg(let optical):
      // Isolated zeros are gaps of the sensor (ring reference, 5.3).
      guard optical.raw > 0 else { return }
      add([Double(optical.raw)], .ppg, at: time)
    case .spo2(let optical):
      guard optical.raw > 0 else { return }
      add([Double(optical.raw)], .spo2, at: time)
    case .accelerometer(let acceleration):
      detector.observe(acceleration)
      guard let encoding = detector.encoding else { return }
      add(acceleration.acceleration(encoding), at: time)
    default: break
    }
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    if lost == nil { lost = 0 }
    if sample.light == .green, sample.vital > 0 { measured = (Int(sample.vital), time) }
    if let g = sample.acceleration(detector.encoding) { add(g, at: time) }
    if sample.raw > 0 { add([Double(sample.raw)], sample.light == .green ? .ppg : .spo2, at: time) }
  }

  private func add(_ g: Acceleration, at time: Instant) {
    add([g.x, g.y, g.z], .accelerometer, at: time)
  }

  private func add(_ values: [Double], _ kind: SampleKinds, at time: Instant) {
    guard let index = panels.firstIndex(where: { $0.kind == kind }) else { return }
    panels[index].panel.add(values, at: time)
    guard index == 0 else { return }
    guard let start = rateStart else { return rateStart = time }
    count += 1
    let elapsed = Double(time.nanoseconds - start.nanoseconds) / 1e9
    guard elapsed >= 2 else { return }
    (rate, count, rateStart) = (Double(count) / elapsed, 0, time)
    guard isSlow, !hasAsked, kind == .ppg else { return }
    hasAsked = true
    if plan?.isOnDemand == true { plan?.measure(every: Self.measurePause) }
  }

  private var isSlow: Bool { rate.map { $0 < Self.slowRate } ?? false }

  /// Why a slow ring shows no wave, and where its heart rate is from.
  private var explanation: String? {
    guard isSlow, panels.first?.kind == .ppg, let rate else { return nil }
    let source =
      plan == nil && lost == nil
      ? "--measure heart-rate adds the ring's own rate" : "the heart rate is what the ring itself measures"
    return "\(decimal(rate, 1)) a second: a trend, no wave; \(source)"
  }

  private var heartRate: String {
    if plan?.isPerforming == true {
      let seconds = pauseStart.map { max(0, Int((session.timers.current - $0).inSeconds)) } ?? 0
      return "measuring, \(seconds) s, keep still"
    }
    if let rate = beatsPerMinute { return "\(rate) bpm" }
    guard let fault = beats?.fault, fault != .rateTooLow else { return "- bpm" }
    return "- bpm: \(fault.rawValue)"
  }

  /// Counted in the wave, or as the ring has measured it.
  private var beatsPerMinute: Int? {
    if let rate = beats?.beatsPerMinute { return Int(rate.rounded()) }
    guard let measured, session.timers.current - measured.time < Self.measuredTime else { return nil }
    return measured.rate
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    if case .packets(let step) = mark { lost = (lost ?? 0) + step.loss }
    if case .measured("heart_rate_bpm", let rate) = mark { measured = (rate, time) }
    switch mark {
    case .gap: gaps += 1
    case .pause: pauseStart = time
    default: return
    }
    (count, rateStart) = (0, nil)
    for index in panels.indices { panels[index].panel.interrupt(at: time) }
  }

  // MARK: Drawing

  private func scheduleDrawing() {
    drawTimer = session.timers.schedule(after: Self.drawPause) { [self] in
      draw()
      scheduleDrawing()
    }
  }

  /// Draws a picture, unless the terminal has not shown the last one yet.
  private func draw() {
    guard !screen.isDelayed else { return }
    let size = Terminal.size(of: STDOUT_FILENO)
    if size != drawnSize, drawnLines > 0 {
      // The drawn picture has moved.
      screen.write("\u{1b}[H\u{1b}[2J")
      drawnLines = 0
    }
    if drawnLines > 0 { screen.write("\u{1b}[\(drawnLines)A") }
    let lines = picture(size.columns - 1, size.rows - 1)
    for line in lines { screen.write("\u{1b}[2K" + line.cut(to: size.columns - 1) + "\n") }
    (drawnLines, drawnSize) = (lines.count, size)
    screen.flush()
  }

  private func picture(_ width: Int, _ height: Int) -> [String] {
    let window = isSlow ? Self.slowWindow : Self.fastWindow
    let now = session.timers.now
    var lines = [header(width)] + (explanation.map { [$0.cut(to: width)] } ?? [])
    let shown = min(panels.count, max(1, (height - 1 - lines.count) / Self.smallestPanel))
    for index in 0..<shown {
      let rest = height - 1 - lines.count
      lines += panels[index].panel.lines(
        characters, width: width, height: rest / (shown - index), end: now, duration: window)
    }
    return lines + [PlotPanel.timeScale(width, Int(window.inSeconds))]
  }

  /// `R02_BEEF  72 bpm  25.0/s  interval 15 ms  battery 87 %  0 gaps  3 lost  q quits`; where the terminal is narrow, the least
  /// important parts are left out: the facts of the link before those of the signal.
  private func header(_ width: Int) -> String {
    let connection = ring?().connection
    let parts: [(text: String?, rank: Int)] = [
      ((session.ringName ?? connection?.peer.description)?.printable, 0),
      (panels.first?.kind == .ppg ? heartRate : nil, 1),
      (rate.map { "\(decimal($0, 1))/s" }, 4),
      (connection?.parameters.map { "interval \($0.interval)" }, 7),
      (battery.map { "battery \($0)" }, 5),
      (Console.counted(gaps, "gap"), 3), (lost.map { "\($0) lost" }, 2), (keys == nil ? nil : "q quits", 6),
    ]
    var shown = parts.compactMap { part in part.text.map { (text: $0, rank: part.rank) } }
    func line() -> String { shown.map(\.text).joined(separator: "  ") }
    while line().count > width, let least = shown.indices.max(by: { shown[$0].rank < shown[$1].rank }),
      shown.count > 1
    {
      shown.remove(at: least)
    }
    return line()
  }
}

/// Takes records that are shown as a picture.
final class DiscardedRecords: RecordSink {
  func take(_ records: RawSpan, ends: Span<Int>) {}
}
