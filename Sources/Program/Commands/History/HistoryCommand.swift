import HaloCommandLine
import RingLink

let storedOption = Flag("--stored", help: "read from the local store, not from the ring")

let historyCommand = CommandSpec(
  name: "history", arguments: "KIND [RING]", summary: "print data stored on the ring",
  options: [
    DayOption.from, DayOption.to, HistoryKind.estimatesOption, storedOption, StoreFile.option,
  ] + BrokerOutput.all + [CommonOptions.format],
  examples: [
    ("halo-raw history steps --adapter virtual", "the last seven days, hour by hour"),
    (
      "halo-raw history sleep --from -3 --format jsonl --adapter virtual",
      "every sleep stage of the last nights, as JSON lines"
    ),
  ],
  details: """
    KIND is \(HistoryKind.names).

    Times are the ring's own wall clock, without a time zone.

    Days that the ring does not store are empty; most rings store seven. Of sport, the ten latest sessions are printed.

    spo2-values needs a ring that reports (0x3C) that it stores them. Which rings store sedentary is not known: it is
    bytes, and others do not answer.

    Firmware replaces stress and hrv values that it can't measure with random numbers. They are marked "estimate" and
    only printed with --include-estimates.
    """
) { invocation in
  let format = OutputFormat(invocation)
  var command = invocation
  let kind = try HistoryKind(named: command.positionals.removeFirst())
  // Wrong days fail before the scan.
  _ = try command.days(today: HostClock().now.day)
  guard kind.mayBePrinted(command) else {
    var printer = HistoryPrinter(format, kind)
    return printer.print(.stress([]))
  }
  if command[storedOption] {
    if command[BrokerOutput.option] != nil { throw Failure.usage("--stored and --mqtt exclude each other") }
    let stored = try StoredHistory(command)
    let days = try command.days(of: kind, today: HostClock().now.day)
    var printer = HistoryPrinter(format, kind)
    return printer.print(try stored.records(kind, in: days))
  }
  try await Session.run(command) { session in
    let line = ProgressLine()
    defer { line.clear() }
    let odd = InvalidRecords()
    let broker = try await BrokerOutput.open(invocation, session, kind: kind.rawValue)
    var publisher: RingPublisher?
    let records = try await session.withRing { ring, _ in
      odd.listen(to: ring)
      publisher =
        publisher ?? broker.map { RingPublisher($0, of: ring.connection.peer, name: session.ringName) }
      let now = session.ringTime
      let days = try command.days(of: kind, today: now.day)
      return try await ring.history(kind, days: days, now: now) { line.show($0.line) }
    }
    line.clear()
    var printer = HistoryPrinter(format, kind)
    printer.print(records)
    odd.print(format)
    guard let broker, let publisher else { return }
    var mirror = HistoryPrinter(.jsonl, kind, output: publisher.writer)
    mirror.print(records)
    try await broker.finish()
  }
}

extension Invocation {
  /// The days from `--from` to `--to`; by default the last seven, and for sport all: a ring keeps ten sessions.
  fileprivate func days(of kind: HistoryKind, today: RingDay) throws(Failure) -> ClosedRange<RingDay> {
    let days = try days(today: today)
    guard kind == .sport, self[DayOption.from] == nil else { return days }
    return days.upperBound.adding(days: 1 - kind.daysKept)...days.upperBound
  }
}

extension HistoryProgress {
  /// `heart-rate 2026-11-20: 12 of 24 (day 3 of 7)`
  fileprivate var line: String {
    let part = expected.map { "\(received) of \($0)" } ?? "\(received)"
    return if let day {
      "\(kind.rawValue) \(day): \(part) (day \(completed + 1) of \(total))"
    } else {
      "\(kind.rawValue): \(part) bytes"
    }
  }
}

let todayCommand = CommandSpec(
  name: "today", arguments: "[RING]", summary: "print steps, distance and energy since midnight",
  options: [CommonOptions.format],
  examples: [("halo-raw today --adapter virtual", "with the built-in ring")],
  details: "Midnight is that of the ring's own clock; see halo-raw time."
) { invocation in
  try await Session.run(invocation) { session in
    let totals = try await session.withRing { ring, _ in
      try await ring.today()
    }
    printRecord(
      invocation,
      [
        ("steps", .number(Int(totals.steps))), ("running_steps", .number(Int(totals.runningSteps))),
        ("distance_m", .number(Int(totals.meters))), ("energy_kcal", .energy(Int(totals.calories))),
        ("active_min", .number(Int(totals.activeMinutes))),
      ],
      text: "\(totals.steps) steps, \(totals.meters) m, \(totals.calories / 1000) kcal, "
        + "\(totals.activeMinutes) min active")
  }
}

extension HistoryKind {
  /// Reads a kind's name on the command line.
  init(named name: String) throws(Failure) {
    guard let kind = Self(rawValue: name) else {
      throw .unknown("history", name, among: Self.allCases.map(\.rawValue))
    }
    self = kind
  }

  /// The names of all kinds on the command line.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  static let estimatesOption = Flag(
    "--include-estimates", help: "print stress and hrv, though rings are known to make them up")

  /// Whether it is not an estimate, or estimates are asked for; if not, a message on standard error.
  func mayBePrinted(_ invocation: Invocation) -> Bool {
    if !isEstimate || invocation[Self.estimatesOption] { return true }
    Console.error(
      "left out \(rawValue): rings are known to make up part of it; to print it, use --include-estimates")
    return false
  }
}
