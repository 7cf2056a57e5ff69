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
  private var update = SportUpdate()
  private var timer: Timers.Token?
  private var session: SimulatedSession?

  init(timers: Timers) { self.timers = timers }

  func control(_ request: SportControl) {
    timers.cancel(timer.take())
    switch request.action {
    case SportControl.startAction:
      stop()
      update = SportUpdate()
      update.sport = request.sport
      session = SimulatedSession(sport: request.sport, start: now())
      schedule()
    case SportControl.pauseAction, SportControl.resumeAction:
      guard session != nil else { return }
      update.status = request.action == SportControl.pauseAction ? SportUpdate.paused : SportUpdate.running
      schedule()
    default: stop()
    }
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
      if update.status == SportUpdate.running { update.seconds &+= 1 }
      let seconds = UInt32(update.seconds)
      // The heart needs a minute to get used to it.
      update.beatsPerMinute = UInt8(
        clamping: Int(heartRate(Double(seconds)).rounded()) + Int(min(40, seconds * 2 / 3)))
      update.steps = seconds * 2
      update.meters = seconds * 3 / 2
      update.calories = seconds * 90
      session?.add(update)
      send(CommandTable.sportUpdate.frame(update))
      schedule()
    }
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

  mutating func add(_ update: SportUpdate) {
    guard update.status == SportUpdate.running else { return }
    (seconds, steps) = (Int(update.seconds), Int(update.steps))
    (meters, calories) = (Int(update.meters), Int(update.calories))
    if seconds % Self.interval == 1 { rates.append(update.beatsPerMinute) }
  }

  /// As the list of sessions has it.
  var record: SportLog.Session {
    let average = rates.isEmpty ? 0 : rates.reduce(0) { $0 + Int($1) } / rates.count
    let seconds = max(self.seconds, 1)
    return SportLog.Session(
      sport,
      [
        SportLog.Number(.start, start.seconds, bytes: 4), SportLog.Number(.duration, self.seconds, bytes: 2),
        SportLog.Number(.distance, meters, bytes: 4), SportLog.Number(.energy, calories, bytes: 4),
        // The average speed, in centimetres a second.
        SportLog.Number(SportKey(rawValue: 5), meters * 100 / seconds, bytes: 2),
        SportLog.Number(.averageRate, average, bytes: 1),
        SportLog.Number(.minimumRate, Int(rates.min() ?? 0), bytes: 1),
        SportLog.Number(.maximumRate, Int(rates.max() ?? 0), bytes: 1),
        SportLog.Number(.steps, steps, bytes: 4),
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
