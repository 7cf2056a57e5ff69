import GAP
import HaloCommandLine
import RingLink

private enum EventsOption {
  static let camera = Flag(
    "--camera", help: "put the ring into camera mode: it reports when the hand is shaken")
  static let cameraInterval = Option(
    "--camera-interval", as: .time, default: "10s",
    help: "how often the ring is told to stay in camera mode")
  static let count = Option("--count", as: .count, help: "stop after N events")
  static let duration = Option(
    "--duration", as: .timeLimit, help: "stop after this time (default: 0, no limit)")
}

let eventsCommand = CommandSpec(
  name: "events", arguments: "[RING]",
  summary: "print the ring's notifications: battery, steps, gestures, keys",
  options: [
    EventsOption.camera, EventsOption.cameraInterval, EventsOption.count, EventsOption.duration,
    CommonOptions.retryTime,
  ]
    + LiveOption.all,
  rules: [.needs(EventsOption.cameraInterval, EventsOption.camera)],
  examples: [
    ("halo-raw events --count 3 --adapter virtual:fast,events=1", "print three events"),
    ("halo-raw events --camera --count 2 --adapter virtual:fast", "wait until the hand is shaken"),
  ],
  details: """
    HRV and stress values are marked as estimates: firmware replaces implausible values with random numbers.

    If the connection is lost, it is made again within --retry-for; a record of the event "gap" marks the loss.
    """
) { invocation in
  let count = invocation[EventsOption.count]
  let duration = invocation[EventsOption.duration]?.ifLimited
  let camera = invocation[EventsOption.camera] ? invocation[EventsOption.cameraInterval] : nil
  if let camera, camera < .milliseconds(100) {
    throw Failure.usage("--camera-interval must be 100ms or more")
  }
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let end = Interruption(following: session.interruption)
    let budget = ReconnectPolicy.Budget(invocation, isSteady: true)
    let link = session.keepRing(budget, until: end, prepare: live.describe)
    let writer = try await EventWriter(live, link)
    if let duration { session.timers.schedule(after: duration) { end.request() } }
    Console.hint("listening to \(session.ringName ?? live.device); Ctrl-C ends it")
    try await live.complete(link) {
      try await link.listen { ring in
        try await ring.listen(camera: camera) { event, time in
          guard !end.isRequested else { return }
          link.dataFlow()
          writer.print(event, at: time)
          if writer.printed == count || writer.printer.hasFailed { end.request() }
        }
      } onLoss: {
        writer.printer.markGap($0.message)
      }
    }
    await link.close()
  }
}
