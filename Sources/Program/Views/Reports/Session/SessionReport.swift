import HaloBluetoothCore
import HaloPulse
import HaloStorage
import RingLink

/// The contents of a report on the records of a stream: for each ring and kind of sample its curves, its intervals and its
/// numbers. Memory is constant, however long the stream is.
package struct SessionReport {
  /// The contents of one plot, in the order of the page.
  struct Kind {
    /// The records that have it, by their column `kind`.
    let records: Set<String>
    let title: String
    let unit: String
    /// The columns that are drawn.
    let columns: [String]
    /// Whether each record is a sample of the stream; if not, only positive values count.
    var isSampled = false
    /// Whether a sample without these columns is not part of it.
    var isOptional = false
    /// How much of the scale is shown at least.
    var leastRange = 0.0

    /// A record of a stream with a value that the ring has measured in a pause.
    static let measured = "measured"
    /// The values computed from the samples of green light.
    static let estimated = Kind(
      records: [], title: "Heart rate, from the wave of the green light", unit: "bpm", columns: ["bpm"],
      leastRange: 20)

    static let all = [
      Kind(
        records: ["heart-rate", "all", "ppg", measured], title: "Heart rate, as the ring measures it",
        unit: "bpm", columns: ["heart_rate_bpm"], leastRange: 20),
      estimated,
      Kind(
        records: ["spo2", measured], title: "SpO2", unit: "percent", columns: ["spo2_percent"], leastRange: 4),
      Kind(records: ["ppg"], title: "Green light", unit: "counts", columns: ["raw"], isSampled: true),
      Kind(
        records: ["spo2"], title: "Red and infrared light", unit: "counts", columns: ["raw"], isSampled: true),
      // Only the counted stream has it separately. It is much stronger than red light: it needs a scale of its own.
      Kind(
        records: ["spo2"], title: "Infrared light", unit: "counts", columns: ["infrared"], isSampled: true,
        isOptional: true),
      Kind(
        records: ["accel"], title: "Acceleration", unit: "g", columns: ["x_g", "y_g", "z_g"], isSampled: true),
    ]

    /// The kinds that may be in a record, by its column `kind`.
    fileprivate static let byRecord = Dictionary(
      grouping: all.flatMap { kind in kind.records.map { (record: $0, kind: kind) } }, by: \.record
    ).mapValues { $0.map(\.kind) }

    /// Whether a record of one of its kinds has a value of it.
    fileprivate func isPart(of record: RecordFields.Record) -> Bool {
      if isSampled {
        return record.state.isEmpty && (!isOptional || columns.contains { record.values[$0] != nil })
      }
      return ["", "value"].contains(record.state) && columns.contains { record.values[$0] ?? 0 > 0 }
    }
  }

  /// The samples of one kind of one ring.
  package struct Series {
    let ring: String
    let kind: Kind
    /// By the names of columns.
    var curves: [(name: String, envelope: Envelope)]
    /// The time since the sample before, in milliseconds.
    var intervals = Envelope()
    var statistics = StreamStatistics()
    /// The samples that have the number of their packet.
    fileprivate var numbered = 0
    /// The time of the sample before; nil at the beginning and after a gap.
    fileprivate var last: Double?
  }

  /// An event between samples.
  struct Mark {
    /// In seconds since the first record.
    var time: Double
    var ring: String
    var kind: String
    var note: String
  }

  /// In the order of their first records.
  private var unsorted: [Series] = []
  /// The heart rate of each ring in the wave of its green light, and when it was taken last.
  private var pulses: [String: (monitor: PulseMonitor, acceleration: SIMD3<Double>?, last: Double)] = [:]
  private(set) var marks: [Mark] = []
  /// The number of marks; ``marks`` has the first ones.
  private(set) var markCounts: [String: Int] = [:]
  /// The last planned pauses, with their rings.
  private(set) var pauses: [(time: Double, ring: String)] = []
  private(set) var records = 0
  private(set) var dropped = 0
  package private(set) var malformed = 0
  /// In seconds since the first record.
  private(set) var end = 0.0
  /// The time of day of the first record, in seconds since 1970 of its wall clock; with its fraction.
  private(set) var start: Double?
  private(set) var startText = ""
  /// The description of the data, of the last file.
  package var description: JSONValue?

  private var fields = RecordFields()
  /// The time of a run's first record minus its `t`, in seconds since the first record of all.
  private var origin = 0.0
  private var lastTime = 0.0
  /// The next record is the first one of a file.
  private var isFirstOfFile = false

  /// The packets of counted streams that are lost, by ring.
  private var lost: [String: Int] = [:]

  private static let markKinds = [
    "gap", "pause", "rejected", "clock", "dropped", "lost", "run", "no-contact", "no-value", "mark", "event",
  ]
  /// The records of measurements that are no marks and no values.
  private static let otherStates: Set = ["beat", "warming-up"]
  /// In seconds, from one heart rate of the wave to the next.
  private static let pulseInterval = 5.0
  static let maximumMarks = 200
  /// The number of series of all rings together: a file of another program has more kinds.
  private static let maximumSeries = 64

  package mutating func add(_ line: ArraySlice<UInt8>) {
    switch fields.read(line) {
    case .record(let record): add(record)
    case .dropped(let count): dropped &+= max(0, count)
    case .description(let value): description = description ?? value
    case .nothing: break
    case .malformed: malformed += 1
    }
  }

  package init() {}

  package var series: [Series] {
    Kind.all.flatMap { kind in unsorted.filter { $0.kind.title == kind.title } }
  }

  /// The next lines are those of another file.
  package mutating func beginFile() {
    fields = RecordFields()
    isFirstOfFile = true
  }

  private mutating func add(_ record: RecordFields.Record) {
    if start == nil {
      start = RecordFields.wallClock(of: record.timeOfDay)
      startText = record.timeOfDay
      origin = -record.time
    } else if record.time + origin < lastTime - (isFirstOfFile ? 0 : Self.disorder) {
      beginRun(with: record)
    }
    isFirstOfFile = false
    let time = min(max(0, record.time + origin), Self.latest)
    (lastTime, end) = (time, max(end, time))
    records += 1
    // The beats of a stream: they are found in its light here, too.
    guard record.kind != "beat" else { return }
    guard record.state.isEmpty || record.state == "value" else {
      guard !Self.otherStates.contains(record.state) else { return }
      var event = record
      event.kind = record.state
      return mark(event, time)
    }
    guard let kinds = Kind.byRecord[record.kind] else { return mark(record, time) }
    for kind in kinds where kind.isPart(of: record) { add(record, to: kind, at: time) }
    estimate(record, at: time)
  }

  /// Takes the heart rate of the wave every few seconds, where there is a wave.
  private mutating func estimate(_ record: RecordFields.Record, at time: Double) {
    guard ["ppg", "accel"].contains(record.kind),
      pulses.count < Self.maximumSeries || pulses[record.ring] != nil
    else { return }
    if let acceleration = record.acceleration {
      pulses[record.ring, default: (PulseMonitor(), nil, time)].acceleration = acceleration
    }
    guard record.kind == "ppg" else { return }
    let acceleration = pulses[record.ring]?.acceleration
    pulses[record.ring, default: (PulseMonitor(), nil, time)].monitor.add(
      at: time, light: record.values["raw"] ?? 0, acceleration: acceleration, counter: record.counter)
    guard let last = pulses[record.ring]?.last, time - last >= Self.pulseInterval else { return }
    pulses[record.ring]?.last = time
    guard let rate = pulses[record.ring]?.monitor.beatsPerMinute else { return }
    var found = record
    found.values = ["bpm": rate.rounded()]
    add(found, to: .estimated, at: time)
  }

  /// In seconds: 285 years, which fit into the nanoseconds of an instant, however many runs a file has.
  private static let latest = 9e9
  /// In seconds; within a file, the times of several rings can go back by less.
  private static let disorder = 1.0

  /// Begins another run, whose times count from 0 again. The time between two runs is not an interval of a signal.
  private mutating func beginRun(with record: RecordFields.Record) {
    var note = "another run begins"
    let elapsed = start.flatMap { start in RecordFields.wallClock(of: record.timeOfDay).map { $0 - start } }
    origin = min(max(lastTime, elapsed ?? 0), Self.latest) - record.time
    if elapsed != nil { note += " after \(duration(record.time + origin - lastTime))" }
    mark(.init(time: 0, timeOfDay: "", ring: "", kind: "run", values: [:], note: note), record.time + origin)
    for index in unsorted.indices { interrupt(index) }
  }

  private mutating func interrupt(_ index: Int) {
    pulses[unsorted[index].ring]?.monitor.interrupt()
    unsorted[index].last = nil
    unsorted[index].statistics.interrupt()
  }

  private mutating func add(_ record: RecordFields.Record, to kind: Kind, at time: Double) {
    guard let index = index(of: record, kind) else { return }
    for (place, name) in kind.columns.enumerated() {
      if let value = record.values[name] { unsorted[index].curves[place].envelope.add(value, at: time) }
    }
    if let last = unsorted[index].last { unsorted[index].intervals.add((time - last) * 1000, at: time) }
    unsorted[index].last = time
    if record.values["packet"] != nil { unsorted[index].numbered += 1 }
    unsorted[index].statistics.add(Instant(nanoseconds: Int64(time * 1e9)))
  }

  /// A file may hold any number.
  private static func sum(_ first: Int, _ second: Int) -> Int {
    let (sum, overflow) = first.addingReportingOverflow(second)
    return overflow ? first : sum
  }

  /// The packets of counted streams: how many are lost, and how many there should be; nil without a counted stream.
  var packets: (lost: Int, all: Int)? {
    var received: [String: Int] = [:]
    for series in series where series.numbered > 0 {
      received[series.ring] = max(received[series.ring] ?? 0, series.numbered)
    }
    guard !received.isEmpty else { return nil }
    let lost = lost.values.reduce(0, Self.sum)
    return (max(0, lost), received.values.reduce(max(0, lost), Self.sum))
  }

  private mutating func index(of record: RecordFields.Record, _ kind: Kind) -> Int? {
    if let index = unsorted.firstIndex(where: { $0.kind.title == kind.title && $0.ring == record.ring }) {
      return index
    }
    guard unsorted.count < Self.maximumSeries else { return nil }
    unsorted.append(Series(ring: record.ring, kind: kind, curves: kind.columns.map { ($0, Envelope()) }))
    return unsorted.count - 1
  }

  private mutating func mark(_ record: RecordFields.Record, _ time: Double) {
    markCounts[Self.markKinds.contains(record.kind) ? record.kind : "other", default: 0] += 1
    // Pauses were asked for: they are counted, and interrupt the curves.
    if record.kind == "pause" {
      for index in unsorted.indices where unsorted[index].ring == record.ring { interrupt(index) }
      pauses.append((time, record.ring))
      if pauses.count > 2 * Self.maximumMarks { pauses.removeFirst(Self.maximumMarks) }
      return
    }
    if marks.count < Self.maximumMarks {
      marks.append(Mark(time: time, ring: record.ring, kind: record.kind, note: record.note))
    }
    if record.kind == "lost", let count = record.note.split(separator: " ").last.flatMap({ Int($0) }) {
      lost[record.ring, default: 0] = Self.sum(lost[record.ring] ?? 0, count)
    }
    guard record.kind == "gap" else { return }
    for index in unsorted.indices where unsorted[index].ring == record.ring { interrupt(index) }
  }
}
