import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import RingLink

private enum TimeOption {
  static let set = Flag("--set", help: "set the clock to local time, unless it is known to be right")
  static let utc = Flag(
    "--utc", help: "with --set: use UTC, which has no daylight saving time; the ring's days are then UTC days"
  )
  static let force = Flag("--force", help: "with --set: set the clock in any case")
}

let timeCommand = CommandSpec(
  name: "time", arguments: "[RING]", summary: "show what is known about the ring's clock; set it",
  options: [TimeOption.set, TimeOption.utc, TimeOption.force, CommonOptions.pageFormat],
  rules: [.needs(TimeOption.utc, TimeOption.set), .needs(TimeOption.force, TimeOption.set)],
  examples: [
    ("halo-raw time --adapter virtual", "show what is known about the clock"),
    ("halo-raw time --set --adapter virtual", "set the clock to this computer's local time"),
    ("halo-raw time --set --utc --adapter virtual", "set the clock to UTC"),
  ],
  details: """
    A ring keeps the wall clock that it is given. It has no time zone and no daylight saving time, its days begin at its
    own midnight, and its data has times of that clock. No command reads the clock. The output shows what is known: when
    this computer set it, what changed since then, the date of the ring's today, and its newest heart rate. Heart rates
    with future times are remnants, or the clock is ahead.

    A ring whose clock is set back may discard the data of the day: read it first, with history or sync. Therefore --set
    does nothing if this computer set the same clock within a day, after which a quartz is off by two seconds. No other
    command sets a clock. halo-raw stores for each ring whether its clock is local time or UTC, and reads histories
    accordingly.
    """
) { invocation in
  let policy: TimePolicy? = invocation[TimeOption.set] ? (invocation[TimeOption.utc] ? .utc : .local) : nil
  let isForced = invocation[TimeOption.force]
  try await Session.run(invocation) { session in
    try await session.withRing { ring, _ in
      var assessment = try await session.assessClock(of: ring, policy ?? session.clock.policy)
      var action: String?
      var capabilities: RingCapabilities?
      if let policy {
        if isForced || assessment.reasonToSet != nil {
          action = "set: " + (assessment.reasonToSet ?? "forced by --force")
          capabilities = try await session.setClock(of: ring, policy)
          assessment.record = session.clockRecord(of: ring.connection.identity) ?? assessment.record
          assessment.unix = max(assessment.unix, assessment.record?.set ?? 0)
          assessment.utcOffset = assessment.record?.utcOffset ?? assessment.utcOffset
          assessment.evidence = ClockEvidence()
        } else {
          action =
            "left alone: this computer set it \(ClockAssessment.duration(assessment.age ?? 0)) ago; to set it anyway, use --force"
        }
      }
      try printClock(assessment, action, capabilities, invocation)
    }
  }
}

extension Session {
  /// The evidence about the clock of a ring.
  fileprivate func assessClock(of ring: RingClient, _ policy: TimePolicy) async throws
    -> ClockAssessment
  {
    let record = clockRecord(of: ring.connection.identity)
    var clock = self.clock
    clock.policy = policy
    let expected = record?.ringTime(atUnix: clock.unixSeconds) ?? clock.now
    let evidence = try await ring.clockEvidence(expecting: expected)
    let unix = clock.unixSeconds
    return ClockAssessment(
      record: record, evidence: evidence, unix: unix, policy: policy, utcOffset: clock.offset(atUnix: unix))
  }

  /// Sets the clock at the start of a second; a ring has no fractions of one.
  fileprivate func setClock(of ring: RingClient, _ policy: TimePolicy) async throws
    -> RingCapabilities
  {
    clock.policy = policy
    await timers.sleep(for: .microseconds(1_000_000 - clock.unixMicroseconds % 1_000_000))
    let unix = Int((clock.unixMicroseconds + 500_000) / 1_000_000)
    let time = clock.time(ofUnix: unix)
    let capabilities = try await ring.setClock(to: time)
    remember(
      ClockRecord(set: unix, policy: policy, utcOffset: clock.offset(atUnix: unix)),
      of: ring.connection.identity)
    return capabilities
  }
}

private func printClock(
  _ assessment: ClockAssessment, _ action: String?, _ capabilities: RingCapabilities?,
  _ invocation: Invocation
) throws(Failure) {
  let record = assessment.record
  let setTime = record.map { RingTime(seconds: $0.set + $0.utcOffset) }
  let range = assessment.evidence.lead(over: assessment.wanted)
  let lastSet = setTime.map {
    "\(readable($0)) by this computer, to \(record?.timePolicy.title ?? "") at \(zone(record?.utcOffset ?? 0))"
  }
  let advice =
    assessment.reasonToSet.map { "should be set, \($0): halo-raw time --set" } ?? "no sign that it is wrong"
  let lines: [(String, String?)] = [
    (
      "this computer",
      "\(readable(assessment.wanted)), \(zone(assessment.utcOffset)) (\(assessment.policy.title))"
    ),
    ("last set", lastSet ?? "never by this computer"),
    (
      "since then",
      assessment.lead.map {
        $0 == 0
          ? "the offset from UTC is the same"
          : "the ring is \(ClockAssessment.span($0)): the offset from UTC has changed"
      }
    ),
    (
      "ring's today",
      assessment.evidence.day.map { day in
        "\(day)" + (assessment.provenLead.map { ": its clock is at least \(ClockAssessment.span($0))" } ?? "")
      }
    ),
    ("newest data", assessment.evidence.newest.map(readable)),
    (
      "future data",
      assessment.suggestedLead.map {
        "up to \(assessment.evidence.future.map(readable) ?? ""): remnants, or its clock is at least \(ClockAssessment.span($0))"
      }
    ),
    ("clock", action ?? advice),
    ("supports", capabilities?.features.joined(separator: ", ")),
  ]
  let evidence = assessment.evidence
  printRecord(
    invocation,
    [
      ("time", .text(assessment.wanted.description)), ("policy", .text(assessment.policy.rawValue)),
      ("utc_offset", .number(assessment.utcOffset)), ("set", .text(setTime?.description)),
      ("set_policy", .text(record?.policy)), ("set_utc_offset", .number(record?.utcOffset)),
      ("lead_s", .number(assessment.lead)), ("ring_day", .text(evidence.day?.description)),
      ("newest_data", .text(evidence.newest?.description)),
      ("future_data", .text(evidence.future?.description)),
      ("least_lead_s", .number(range?.lowerBound)), ("most_lead_s", .number(range?.upperBound)),
      ("action", .text(action)), ("capabilities", .list(capabilities?.features ?? [])),
    ], as: OutputFormat(page: invocation), text: twoColumns(lines, width: 15))
}

/// `2026-11-21 13:45:02`
private func readable(_ time: RingTime) -> String { time.description.replacing("T", with: " ") }

/// `UTC+01:00`
private func zone(_ offset: Int) -> String {
  let minutes = abs(offset) / 60
  let clock = DecimalText.padded(minutes / 60, 2) + ":" + DecimalText.padded(minutes % 60, 2)
  return "UTC\(offset < 0 ? "-" : "+")\(clock)"
}
