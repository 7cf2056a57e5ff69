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
  private var detector: AccelerometerEncodingDetector
  private var panels: [(kind: SampleKinds, panel: PlotPanel)] = []
  private let vitals: StreamVitals
  /// The lines of the last picture, and the terminal's size then.
  private var drawnLines = 0
  private var drawnSize = (columns: 0, rows: 0)
  private var drawTimer: Timers.Token?
  private var keys: KeyInput?

  private static let drawPause = Duration.milliseconds(200)
  /// The time shown of a fast signal, and of one with fewer samples a second than this.
  private static let fastWindow = Duration.seconds(10)
  private static let slowWindow = Duration.seconds(60)
  private static let smallestPanel = 4

  /// - Throws: if there is nothing to draw on
  nonisolated static func checkTerminal() throws(Failure) {
    guard Terminal.canDraw(on: STDOUT_FILENO) else {
      throw .usage("--plot needs a terminal that can be drawn on: not a pipe, and TERM not empty or dumb")
    }
  }

  init(_ session: Session, of ring: RingClient, _ kinds: SampleKinds, _ vitals: StreamVitals) {
    (self.session, self.vitals) = (session, vitals)
    characters = Terminal.showsBraille ? .braille : .ascii
    detector = AccelerometerEncodingDetector(known: ring.firmware.accelerometerEncoding)
    if kinds.contains(.ppg) { panels.append((.ppg, PlotPanel("green light, counts"))) }
    if kinds.contains(.accelerometer) {
      panels.append((.accelerometer, PlotPanel("acceleration x, y, z, g", places: 2, curves: 3)))
    }
    if kinds.contains(.spo2) { panels.append((.spo2, PlotPanel("red and infrared light, counts"))) }
  }

  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {
    keys = KeyInput { [session] key in
      if key == UInt8(ascii: "q") { session.interruption.request() }
    }
    scheduleDrawing()
  }

  func end() async {
    session.timers.cancel(drawTimer)
    keys?.stop()
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
    if let g = sample.acceleration(detector.encoding) { add(g, at: time) }
    if sample.raw > 0 { add([Double(sample.raw)], sample.light == .green ? .ppg : .spo2, at: time) }
  }

  private func add(_ g: Acceleration, at time: Instant) {
    add([g.x, g.y, g.z], .accelerometer, at: time)
  }

  private func add(_ values: [Double], _ kind: SampleKinds, at time: Instant) {
    guard let index = panels.firstIndex(where: { $0.kind == kind }) else { return }
    panels[index].panel.add(values, at: time)
  }

  /// Why a slow ring shows no wave, and where its heart rate is from.
  private var explanation: String? {
    guard vitals.isSlow, panels.first?.kind == .ppg, let rate = vitals.rate else { return nil }
    let source =
      vitals.hasOwnRate
      ? "the heart rate is what the ring itself measures" : "--measure heart-rate adds the ring's own rate"
    return "\(decimal(rate, 1)) a second: a trend, no wave; \(source)"
  }

  private var heartRate: String {
    if let seconds = vitals.measuringTime { return "measuring, \(seconds) s, keep still" }
    if let rate = vitals.heartRate { return "\(rate.beatsPerMinute) bpm" }
    guard let fault = vitals.fault, fault != .rateTooLow else { return "- bpm" }
    return "- bpm: \(fault.rawValue)"
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    switch mark {
    case .gap, .pause: break
    default: return
    }
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
    let window = vitals.isSlow ? Self.slowWindow : Self.fastWindow
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
    let connection = vitals.ring?().connection
    let parts: [(text: String?, rank: Int)] = [
      ((session.ringName ?? connection?.peer.description)?.printable, 0),
      (panels.first?.kind == .ppg ? heartRate : nil, 1),
      (vitals.rate.map { "\(decimal($0, 1))/s" }, 4),
      (connection?.parameters.map { "interval \($0.interval)" }, 7),
      (vitals.battery.map { "battery \($0)" }, 5),
      (Console.counted(vitals.gaps, "gap"), 3), (vitals.lost.map { "\($0) lost" }, 2),
      (keys == nil ? nil : "q quits", 6),
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
