import HaloPulse
import HaloStorage

/// Makes the logs of a day out of what `stream` has written.
package struct DayReader {
  /// An event between samples.
  package struct Mark: Sendable {
    /// The address of the ring.
    package let ring: String
    /// In seconds, on the clock of the logs.
    package let time: Double
    package let kind: String
    package let note: String
  }

  fileprivate struct Ring {
    var log = DayLog()
    var pulse = PulseMonitor()
    var acceleration: SIMD3<Double>?
  }

  /// By address.
  private var rings: [String: Ring] = [:]
  private var fields = RecordFields()
  /// In seconds since 1970: the time 0 of the logs.
  private let epoch: Double
  /// The time of day of a record minus its `t`, and the `t` of the record that has shown it.
  private var origin: (difference: Double, time: Double)?
  /// What is older, or later than now, as a clock was set, is left out.
  private let times: ClosedRange<Double>

  /// The newest ones, in the order of the records.
  package private(set) var marks: [Mark] = []

  private static let mostRings = 16
  private static let mostMarks = 500
  private static let shownMarks: Set = ["gap", "pause", "mark", "event"]
  /// In seconds of `t`: from one reading of the time of day to the next, as the clock may be set.
  private static let originAge = 60.0

  /// - Parameters:
  ///   - epoch: in seconds since 1970: the time 0 of the logs
  ///   - now: the newest time of the logs
  package init(epoch: Double, now: Double) {
    self.epoch = epoch
    times = now - Double(DayLog.length)...now
  }

  /// The logs, by the addresses of the rings.
  package var logs: [String: DayLog] { rings.mapValues(\.log) }

  /// The next lines are those of another file.
  package mutating func beginFile() {
    fields = RecordFields()
    origin = nil
  }

  package mutating func add(_ line: ArraySlice<UInt8>) {
    guard case .record(let record) = fields.read(line), let time = time(of: record), times.contains(time)
    else {
      return
    }
    guard var ring = rings.removeValue(forKey: record.ring) ?? (rings.count < Self.mostRings ? Ring() : nil)
    else {
      return
    }
    ring.add(record, at: time)
    rings[record.ring] = ring
    guard Self.shownMarks.contains(record.kind) else { return }
    marks.append(Mark(ring: record.ring, time: time, kind: record.kind, note: record.note))
    if marks.count > Self.mostMarks { marks.removeFirst(Self.mostMarks / 5) }
  }

  /// The time of a record on the clock of the logs.
  private mutating func time(of record: RecordFields.Record) -> Double? {
    if let origin, record.time >= origin.time, record.time - origin.time < Self.originAge {
      return record.time + origin.difference
    }
    guard let seconds = RecordFields.unixTime(of: record.timeOfDay) else { return nil }
    let difference = seconds - epoch - record.time
    origin = (difference, record.time)
    return record.time + difference
  }
}

extension DayReader.Ring {
  fileprivate mutating func add(_ record: RecordFields.Record, at time: Double) {
    switch record.kind {
    case "ppg":
      let light = record.values["raw"] ?? 0
      log.addLight(UInt16(max(0, min(light, 65_535))), at: time)
      var seconds: [PulseSecond] = []
      // A pulse has no times below 0.
      let shift = Double(DayLog.length)
      pulse.add(at: time + shift, light: light, acceleration: acceleration, counter: record.counter) {
        if case .second(let second) = $0 { seconds.append(second) }
      }
      for var second in seconds {
        second.start -= shift
        log.add(second, beatsPerMinute: pulse.beatsPerMinute)
      }
    case "accel":
      acceleration = record.acceleration
      if let acceleration { log.addMovement(acceleration, at: time) }
    case SessionReport.Kind.measured:
      if let rate = record.values["heart_rate_bpm"], rate > 0 { log.addRate(rate, at: time) }
    case "gap", "pause": pulse.interrupt()
    default: break
    }
  }
}
