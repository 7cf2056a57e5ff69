import EventLoop
import LineOutput
import RingLink

let timeCommand = CommandSpec(
  name: "time", arguments: "[RING]", summary: "what is known of the ring's clock, and sets it",
  positionals: 0...1,
  options: [
    OptionSpec("--set", help: "sets the clock to local time, if it is not known to be right"),
    OptionSpec(
      "--utc", help: "with --set: to UTC, which has no daylight saving time; days are not the wearer's then"),
    OptionSpec("--force", help: "with --set: sets it in any case"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw time --adapter virtual", "how the clock stands, as far as one can know"),
    ("halo-raw time --set --adapter virtual", "sets it to this computer's local time"),
    ("halo-raw time --set --utc --adapter virtual", "sets it to UTC"),
  ],
  details: """
    A ring keeps the wall clock that it is given. It knows no zone and no daylight saving time, its days begin at its own
    midnight, and all that it stores has times of that clock. No command reads the clock. What is shown is what can be
    known: when this computer has set it and what has changed since, the date of the ring's own today, and the newest
    heart rate. Heart rates of the future are remnants, or the clock is ahead.

    To set a clock back can make a ring discard what it has stored of the day: read it before, such as with history or
    sync. So --set does nothing if this computer has set the same clock within a day; a quartz is off by two seconds then.
    Nothing else in this program sets a clock. Whether local time or UTC was set is remembered for each ring, and all
    histories are read by it.
    """
) { invocation throws(Failure) in
  let format = try OutputFormat(invocation)
  let sets = invocation.has("--set")
  for option in ["--utc", "--force"] where invocation.has(option) && !sets {
    throw .usage("\(option) belongs to --set")
  }
  let policy: TimePolicy? = sets ? (invocation.has("--utc") ? .utc : .local) : nil
  let isForced = invocation.has("--force")
  try await Session.run(invocation) { session throws(Failure) in
    let ring = try await session.openRing()
    var judgement = try await session.judgeClock(of: ring, policy ?? session.clock.policy)
    var action: String?
    var capabilities: RingCapabilities?
    if let policy {
      if isForced || judgement.reasonToSet != nil {
        action = "set: " + (judgement.reasonToSet ?? "as you wish")
        capabilities = try await session.setClock(of: ring, policy)
        judgement.record = session.clockRecord(of: ring.client.peer) ?? judgement.record
        judgement.unix = max(judgement.unix, judgement.record?.set ?? 0)
        judgement.utcOffset = judgement.record?.utcOffset ?? judgement.utcOffset
        judgement.evidence = ClockEvidence()
      } else {
        action =
          "left alone: this computer has set it \(ClockJudgement.duration(judgement.age ?? 0)) ago; --force sets it"
      }
    }
    try printClock(judgement, action, capabilities, format)
  }
}

extension Session {
  /// What is known of the clock of a ring.
  fileprivate func judgeClock(of ring: Ring, _ policy: TimePolicy) async throws(Failure) -> ClockJudgement {
    let record = clockRecord(of: ring.client.peer)
    var clock = self.clock
    clock.policy = policy
    let expected = record?.ringTime(atUnix: clock.unixSeconds) ?? clock.now
    let evidence = try await ringFailure { () async throws(RingError) in
      try await ring.clockEvidence(expecting: expected)
    }
    let unix = clock.unixSeconds
    return ClockJudgement(
      record: record, evidence: evidence, unix: unix, policy: policy, utcOffset: clock.offset(atUnix: unix))
  }

  /// Sets the clock at the beginning of a second, as a ring knows no part of one.
  fileprivate func setClock(of ring: Ring, _ policy: TimePolicy) async throws(Failure) -> RingCapabilities {
    clock.policy = policy
    await EventLoop.shared.sleep(for: .microseconds(1_000_000 - clock.unixMicroseconds % 1_000_000))
    let unix = Int((clock.unixMicroseconds + 500_000) / 1_000_000)
    let time = clock.time(ofUnix: unix)
    let capabilities = try await ringFailure { () async throws(RingError) in try await ring.setClock(to: time)
    }
    remember(
      ClockRecord(set: unix, policy: policy, utcOffset: clock.offset(atUnix: unix)), of: ring.client.peer)
    return capabilities
  }
}

private func printClock(
  _ judgement: ClockJudgement, _ action: String?, _ capabilities: RingCapabilities?, _ format: OutputFormat
) throws(Failure) {
  let record = judgement.record
  let setTime = record.map { RingTime(seconds: $0.set + $0.utcOffset) }
  let range = judgement.evidence.lead(over: judgement.wanted)
  var lines: [(String, String?)] = [
    (
      "this computer",
      "\(spoken(judgement.wanted)), \(zone(judgement.utcOffset)) (\(judgement.policy.title))"
    ),
    (
      "last set",
      setTime.map {
        "\(spoken($0)) by this computer, to \(record?.timePolicy.title ?? "") at \(zone(record?.utcOffset ?? 0))"
      }
        ?? "never by this computer"
    ),
  ]
  if let lead = judgement.lead {
    lines.append(
      (
        "since then",
        lead == 0
          ? "the offset from UTC is the same"
          : "the ring is \(ClockJudgement.span(lead)): the offset from UTC has changed"
      ))
  }
  lines += [
    (
      "ring's today",
      judgement.evidence.day.map { day in
        "\(day)" + (judgement.provenLead.map { ": its clock is \(ClockJudgement.span($0)) at least" } ?? "")
      }
    ),
    (
      "newest data",
      judgement.evidence.newest.map(spoken)
    ),
    (
      "future data",
      judgement.suggestedLead.map {
        "up to \(judgement.evidence.future.map(spoken) ?? ""): remnants, or its clock is \(ClockJudgement.span($0)) at least"
      }
    ),
  ]
  if let action {
    lines.append(("clock", action))
  } else {
    lines.append(
      (
        "clock",
        judgement.reasonToSet.map { "should be set, \($0): halo-raw time --set" }
          ?? "nothing shows it to be off"
      ))
  }
  if let capabilities { lines.append(("can do", capabilities.names.joined(separator: ", "))) }
  var printer = RecordPrinter(
    format,
    [
      ("time", nil), ("policy", nil), ("utc_offset", "s"), ("set", nil), ("set_policy", nil),
      ("set_utc_offset", "s"), ("lead", "s"), ("ring_day", nil), ("newest_data", nil), ("future_data", nil),
      ("least_lead", "s"),
      ("most_lead", "s"), ("action", nil), ("capabilities", nil),
    ])
  printer.print(
    [
      .text(judgement.wanted.description), .text(judgement.policy.rawValue), .number(judgement.utcOffset),
      .text(setTime?.description), .text(record?.policy), .number(record?.utcOffset), .number(judgement.lead),
      .text(judgement.evidence.day?.description), .text(judgement.evidence.newest?.description),
      .text(judgement.evidence.future?.description),
      .number(range?.lowerBound), .number(range?.upperBound), .text(action),
      .list(capabilities?.names ?? []),
    ],
    text: lines.compactMap { name, value in
      value.map { name + String(repeating: " ", count: 15 - name.count) + $0 }
    }.joined(separator: "\n"))
}

/// `2026-11-21 13:45:02`
private func spoken(_ time: RingTime) -> String { time.description.replacing("T", with: " ") }

/// `UTC+01:00`
private func zone(_ offset: Int) -> String {
  let minutes = abs(offset) / 60
  func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  return "UTC\(offset < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
}
