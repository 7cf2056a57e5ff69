import EventLoop
import LineOutput
import RingLink

let historyCommand = CommandSpec(
  name: "history", arguments: "KIND [RING]", summary: "what the ring has stored",
  positionals: 1...2,
  options: [
    OptionSpec("--from", value: "DAY", help: "the first day; default: six days before the last"),
    OptionSpec(
      "--to", value: "DAY", help: "the last day: 2026-11-20, today, yesterday, or -3; default: today"),
    HistoryKind.estimatesOption,
    OptionSpec("--stored", help: "asks no ring, but the file that sync has made"),
    StoreFile.option, CommonOptions.format,
  ],
  examples: [
    ("halo-raw history steps --adapter virtual", "the last seven days, hour by hour"),
    (
      "halo-raw history sleep --from -3 --format jsonl --adapter virtual",
      "every stage of the last nights, as JSON lines"
    ),
  ],
  details: """
    KIND is one of \(HistoryKind.allCases.map(\.rawValue).joined(separator: ", ")).
    Times are the ring's own wall clock, without zone: what it was when the ring's clock was set.
    Days that the ring does not keep are empty; most keep seven.
    Firmware replaces stress and hrv that it can't measure by random numbers. They are marked "estimate", and only
    printed with --include-estimates.
    """
) { invocation throws(Failure) in
  let format = try OutputFormat(invocation)
  // Behind the kind the ring may be named.
  var command = invocation
  let kind = try HistoryKind(named: command.positionals.removeFirst())
  // Wrong days are told before a ring is looked for.
  _ = try command.days(today: HostClock().now.day)
  guard kind.mayBePrinted(command) else {
    var printer = HistoryPrinter(format, kind)
    return try printer.print(.stress([]))
  }
  if command.has("--stored") {
    let stored = try StoredHistory(command)
    let days = try command.days(today: HostClock().now.day)
    var printer = HistoryPrinter(format, kind)
    return try printer.print(try stored.records(kind, in: days))
  }
  try await Session.run(command) { session throws(Failure) in
    let ring = try await session.openRing()
    let now = session.clock.now
    let days = try command.days(today: now.day)
    let line = ProgressLine()
    defer { line.clear() }
    let records = try await ringFailure { () async throws(RingError) in
      try await ring.history(kind, days: days, now: now) { line.show($0.line) }
    }
    line.clear()
    var printer = HistoryPrinter(format, kind)
    try printer.print(records)
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
  name: "today", arguments: "[RING]", summary: "what was walked since the ring's midnight",
  positionals: 0...1, options: [CommonOptions.format],
  examples: [("halo-raw today --adapter virtual", "asks the built-in ring")]
) { invocation throws(Failure) in
  let format = try OutputFormat(invocation)
  try await Session.run(invocation) { session throws(Failure) in
    let ring = try await session.openRing()
    let totals = try await ringFailure { () async throws(RingError) in try await ring.today() }
    var printer = RecordPrinter(
      format,
      [
        ("steps", nil), ("running_steps", nil), ("distance", "m"), ("energy", "cal"), ("active", "min"),
      ])
    printer.print(
      [
        .number(Int(totals.steps)), .number(Int(totals.runningSteps)), .number(Int(totals.meters)),
        .number(Int(totals.calories)), .number(Int(totals.activeMinutes)),
      ],
      text: "\(totals.steps) steps, \(totals.meters) m, \(totals.calories / 1000) kcal, "
        + "\(totals.activeMinutes) min active")
  }
}
