import HaloBluetoothCore
import RingLink

/// A sport session: a second of brisk walking after the other (ring reference, 4.14).
final class SimulatedSport {
  var send: (RingFrame) -> Void = { _ in }
  var heartRate: (Double) -> Double = { _ in 69 }

  /// The ring's time.
  var now: () -> RingTime = { RingTime(seconds: 0) }
  /// Receives a session that is over.
  var store: (SimulatedSession) -> Void = { _ in }

  private let timers: Timers
  private var sport = Sport.other
  private var isPaused = false
  private var timer: Timers.Token?
  private var session: SimulatedSession?

  init(timers: Timers) { self.timers = timers }

  /// - Returns: the bytes behind the command in the answer, as an R10 has it: 1, 0 and the start, LE32; 0 when the session is
  ///   paused or over
  func control(_ request: SportControl) -> [UInt8] {
    timers.cancel(timer.take())
    switch request.action {
    case SportControl.startAction:
      stop()
      sport = request.sport
      isPaused = false
      session = SimulatedSession(sport: sport, start: now())
      report()
    case SportControl.pauseAction, SportControl.resumeAction:
      isPaused = request.action == SportControl.pauseAction
      if session != nil { schedule() }
    default: stop()
    }
    guard let session, !isPaused else { return [0] }
    return [1, 0] + SimulatedRing.big(session.start.seconds, 4).reversed()
  }

  /// Ends a session, which is stored.
  func stop() {
    timers.cancel(timer.take())
    if let session { store(session) }
    session = nil
  }

  private func schedule() {
    timer = timers.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      if !isPaused { session?.addSecond(heartRate: heartRate) }
      report()
    }
  }

  /// Sends its counts, as an R10 does: a full ten seconds twice.
  private func report() {
    guard let session else { return }
    let frame = frame(of: session)
    send(frame)
    if !isPaused, session.seconds > 0, session.seconds.isMultiple(of: 10) { send(frame) }
    schedule()
  }

  /// 0x78, big-endian: 2 is 1 while the session runs and 2 while it is paused, 3-4 seconds, 5 bpm, 6-8 steps, 9-11 m, 12-14 small
  /// calories.
  private func frame(of session: SimulatedSession) -> RingFrame {
    var payload: [UInt8] = [sport.rawValue, isPaused ? 2 : 1]
    payload += SimulatedRing.big(session.seconds, 2)
    payload.append(session.heartRate)
    for number in [session.steps, session.meters, session.calories] {
      payload += SimulatedRing.big(number, 3)
    }
    return SimulatedRing.frame(0x78, payload)
  }
}

/// A session of sport that a simulated ring has stored.
struct SimulatedSession {
  var sport: Sport
  var start: RingTime
  var seconds = 0
  var steps = 0
  var meters = 0
  var calories = 0
  /// In beats per minute, one each ``interval``.
  var rates: [UInt8] = []

  /// Between two of the rates, in seconds.
  static let interval = 10
  /// The most rates in a packet of its course.
  private static let ratesPerPacket = 100

  init(sport: Sport, start: RingTime) {
    self.sport = sport
    self.start = start
  }

  /// The last one, in beats per minute; 0 before the first.
  private(set) var heartRate: UInt8 = 0

  /// A second of brisk walking.
  fileprivate mutating func addSecond(heartRate: (Double) -> Double) {
    seconds += 1
    // The heart needs a minute to get used to it.
    self.heartRate = UInt8(clamping: Int(heartRate(Double(seconds)).rounded()) + min(40, seconds * 2 / 3))
    (steps, meters, calories) = (seconds * 2, seconds * 3 / 2, seconds * 90)
    if seconds % Self.interval == 1 { rates.append(self.heartRate) }
  }

  /// As the list of sessions has it.
  var record: SportRecord {
    let average = rates.isEmpty ? 0 : rates.reduce(0) { $0 + Int($1) } / rates.count
    let seconds = max(self.seconds, 1)
    return SportRecord(
      sport,
      [
        SportNumber(.start, start.seconds, bytes: 4), SportNumber(.duration, self.seconds, bytes: 2),
        SportNumber(.distance, meters, bytes: 4), SportNumber(.energy, calories, bytes: 4),
        // The average speed, in centimetres a second.
        SportNumber(SportKey(rawValue: 5), meters * 100 / seconds, bytes: 2),
        SportNumber(.averageRate, average, bytes: 1),
        SportNumber(.minimumRate, Int(rates.min() ?? 0), bytes: 1),
        SportNumber(.maximumRate, Int(rates.max() ?? 0), bytes: 1),
        SportNumber(.steps, steps, bytes: 4),
      ])
  }

  /// The frames of its course: the header, and the packets.
  var course: [(BulkID, [UInt8])] {
    let starts = stride(from: 0, to: rates.count, by: Self.ratesPerPacket)
    let packets = starts.enumerated().map { index, start in
      SportCoursePacket(
        packet: UInt16(index + 1),
        samples: Array(rates[start..<min(start + Self.ratesPerPacket, rates.count)]))
    }
    let header = SportCourseHeader(
      packets: UInt16(packets.count), interval: UInt8(Self.interval),
      columns: [SportCourseHeader.Column(.rate, width: 1)])
    return [(CommandTable.sportCourse.replyID, header.payload)]
      + packets.map { (CommandTable.sportPackets.id, $0.payload) }
  }
}

/// The packets of a counted stream (ring reference, 5.7). Its counter goes on when the stream is requested again.
struct SimulatedCountedStream {
  /// The type of the measurement, which chooses the light.
  enum Light: UInt8 {
    case green = 13
    case red = 14
  }

  let light: Light
  /// When it ends, unless it is requested again.
  var end: Instant
  private let losesEvery: Int?
  private let reorders: Bool
  /// A packet that is sent after the next one.
  private var held: RingFrame?

  private static let reorderInterval = 10

  init(_ light: Light, until end: Instant, _ faults: VirtualRingFaults) {
    self.light = light
    self.end = end
    losesEvery = faults.losesPacketEvery
    reorders = faults.reordersPackets
  }

  /// The frames that are sent in the place of a packet.
  ///
  /// - Parameters:
  ///   - index: the number of the packet, from 0
  ///   - heartRate: in beats a minute
  mutating func frames(
    _ index: Int, _ green: OpticalSample, _ red: OpticalSample, _ acceleration: Acceleration,
    heartRate: Double
  ) -> [RingFrame] {
    if let losesEvery, (index + 1).isMultiple(of: losesEvery) { return [] }
    let axes = AccelerometerSample(acceleration, encoding: .sixteenBit)
    let isGreen = light == .green
    // Infrared light goes through more blood: the same pulse on a stronger signal.
    let numbers = [
      isGreen ? green.raw : red.raw, isGreen ? 0 : UInt16(clamping: 40 * Int(red.raw)), axes.x, axes.y,
      axes.z,
    ]
    // The counter, the rate or the saturation, and the numbers, LE.
    let vital = isGreen ? UInt8(clamping: Int(heartRate.rounded())) : 97
    let frame = SimulatedRing.frame(
      0x69,
      [light.rawValue, 0, UInt8(truncatingIfNeeded: index), vital]
        + numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
    let late = held.take()
    if reorders, late == nil, (index + 1).isMultiple(of: Self.reorderInterval) {
      held = frame
      return []
    }
    return [frame] + (late.map { [$0] } ?? [])
  }
}
