import GAP
import HaloBluetoothCore
import HaloCommandLine
import RingLink

private enum MeasureOption {
  static let continuous = Flag("--continuous", help: "measure heart rate about once a second, until Ctrl-C")
  static let live = Flag(
    "--live", help: "use the heart rate command of older rings; without, only if the newer one is refused")
  static let estimates = Flag(
    "--include-estimates", help: "also print values that no ring can measure; they are marked")
  static let interval = Option(
    "--every", as: .time,
    help: "measure again and again, at this interval, until Ctrl-C; it saves the battery")
  static let count = Option("--count", as: .count, help: "with --continuous or --every: stop after N values")
  static let duration = Option(
    "--duration", as: .timeLimit,
    help: "the same: stop after this time, counted from the first value (default: 0, no limit)")

  /// The options that need a measurement that goes on.
  static let lasting: [any CommandOption] = [
    count, duration, CommonOptions.retryTime, PlanOption.measure, PlanOption.syncInterval,
  ]
}

let measureCommand = CommandSpec(
  name: "measure", arguments: "KIND [RING]", summary: "take a measurement now: heart rate, SpO2 and more",
  options: [
    MeasureOption.continuous, MeasureOption.interval, MeasureOption.live, MeasureOption.estimates,
    MeasureOption.count, MeasureOption.duration, CommonOptions.retryTime,
  ] + PlanOption.all + LiveOption.all,
  rules: [.exclusive([MeasureOption.continuous, MeasureOption.interval])]
    + MeasureOption.lasting.map { .needsOne($0, [MeasureOption.continuous, MeasureOption.interval]) }
    + PlanOption.rules,
  examples: [
    ("halo-raw measure heart-rate --adapter virtual:fast", "one value; a real ring takes half a minute"),
    ("halo-raw measure spo2 --format jsonl --adapter virtual:fast", "the oxygen saturation, as JSON"),
    (
      "halo-raw measure heart-rate --continuous --count 5 --adapter virtual:fast",
      "the heart rate, once a second"
    ),
  ],
  details: """
    KIND is \(Measured.all.map(\.name).joined(separator: ", ")).

    Wear the ring and keep still: the first 15 to 25 seconds are the warm-up. The intervals between beats are printed as
    they change; some beats are missing between them.

    With --continuous or --every, a lost connection is made again within --retry-for; a record of the state "gap" marks the
    loss. A measurement of --every that ends without a value is a record of the state "no-value", with the reason.

    \(RingPlan.details)

    Firmware makes up values if its sensor gives none. Values that may be made up are marked as estimates. Kinds that
    are always made up are refused without --include-estimates; of "all", only the heart rate is printed then.

    "temperature" prints bytes as the ring sends them, since no source states their layout. Few rings have it, and "all".
    """
) { invocation in
  var invocation = invocation
  let measured = try Measured(
    invocation.positionals.removeFirst(), showsEstimates: invocation[MeasureOption.estimates])
  let kind = measured.kind
  let isContinuous = invocation[MeasureOption.continuous]
  let isLive = invocation[MeasureOption.live]
  if kind != .heartRate, isContinuous || isLive {
    throw Failure.usage("\(isContinuous ? "--continuous" : "--live") works only with heart-rate")
  }
  let interval = invocation[MeasureOption.interval]
  guard interval ?? .forever >= .seconds(30) else {
    throw Failure.usage("--every is too short: a measurement takes half a minute; use --continuous")
  }
  let lasts = isContinuous || interval != nil
  let planned = try RingPlan.measured(invocation)
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let budget = lasts ? ReconnectPolicy.Budget(invocation) : nil
    let link = session.keepRing(
      budget, until: Interruption(following: session.interruption), prepare: live.describe)
    let measurement = try await Measuring(
      measured, planned, isLive: isLive, every: interval, live, link, lasts: lasts)
    measurement.count = invocation[MeasureOption.count]
    measurement.duration = invocation[MeasureOption.duration]?.ifLimited
    let plan = try RingPlan(invocation, session, live.publisher)
    try await live.complete(link) {
      guard lasts else {
        return try await link.ask { ring in
          try await measurement.measure(ring, until: session.interruption)
        }
      }
      try await link.listen { ring in
        try await measurement.run(ring, on: link, plan)
      } onLoss: {
        measurement.markGap($0.message)
      }
      await measurement.end()
      try measurement.finish()
    }
    await link.close()
  }
}
