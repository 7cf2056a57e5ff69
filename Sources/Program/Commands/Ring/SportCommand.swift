import HaloBluetoothCore
import HaloCommandLine
import RingLink

private let sportControl = Flag(
  "--control", help: "read pause, resume and end from standard input, a line each")
private let sportDuration = Option(
  "--duration", as: .timeLimit,
  help: "stop after this time, counted from the first report of the ring (default: 0, no limit)")

let sportCommand = CommandSpec(
  name: "sport", arguments: "KIND [RING]",
  summary: "run a sport session on the ring; print its state each second",
  options: [sportDuration, sportControl] + LiveOption.all,
  examples: [
    ("halo-raw sport walk --duration 5s --adapter virtual:fast", "walk for five seconds"),
    (
      "echo end | halo-raw sport yoga --control --adapter virtual:fast",
      "begin and end a session by standard input"
    ),
  ],
  details: """
    KIND is \(Sport.commonNames), or another kind of the vendor's app, such as
    strength-training: "halo-raw ring-commands" lists all.

    The session lasts until Ctrl-C or --duration; then the ring ends it. On a terminal, p and Enter pauses it, and again
    resumes it. With --control, standard input has the lines "pause", "resume" and "end".
    """
) { invocation in
  var invocation = invocation
  let name = invocation.positionals.removeFirst()
  guard let sport = Sport(name: name) else {
    let advice = "use \(Sport.commonNames) or another of \"halo-raw ring-commands\""
    throw Failure.unknown("sport", name, among: Sport.allCases.map(\.option), advice: advice)
  }
  let isControlled = invocation[sportControl]
  let duration = invocation[sportDuration]?.ifLimited
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let end = Interruption(following: session.interruption)
    let link = session.keepRing(until: end, prepare: live.describe)
    let writer = try await EventWriter(live, link)
    let controls = SportControls(end)
    defer { controls.stop() }
    try await live.complete(link) {
      try await link.listen { ring in
        // The session has begun: another one would count from zero.
        link.dataFlow()
        try await ring.exercise(sport) { running in
          controls.begin(running, isRequired: isControlled)
        } sink: { update, time in
          guard !end.isRequested else { return }
          writer.print(.sport(update), at: time)
          if writer.printed == 1, let duration {
            session.timers.schedule(after: duration) { end.request() }
          }
          if writer.printer.hasFailed { end.request() }
        }
      }
    }
    await link.close()
  }
}

extension Sport {
  /// The kinds that the help names.
  fileprivate static let commonNames = [
    Sport.walk, .rope, .run, .hike, .cycle, .climbing, .badminton, .yoga, .other,
  ].map(\.option).joined(separator: ", ")
}

/// The wearer's commands during a session, by lines of standard input.
@BluetoothActor
private final class SportControls {
  private let end: Interruption
  private let input = StandardInput()
  private var work: Task<Void, Never>?

  init(_ end: Interruption) { self.end = end }

  /// - Parameter isRequired: whether to read an input that is no terminal, too
  func begin(_ session: SportSession, isRequired: Bool) {
    guard isRequired || StandardInput.isForegroundTerminal else { return }
    let isOpen = input.listen { [self] line in
      switch line {
      case "p"?, ""?:
        run { () async throws(RingError) in
          if session.isPaused { try await session.resume() } else { try await session.pause() }
        }
      case "pause"?: run(session.pause)
      case "resume"?: run(session.resume)
      case "end"?: run { [end] in end.request() }
      case let line?: Console.error("\"\(line.printable)\" is not pause, resume or end")
      case nil: break
      }
    }
    if isOpen {
      Console.hint("p and Enter pauses and resumes; Ctrl-C ends it")
    } else if isRequired {
      Console.error("--control: standard input is neither a terminal nor a pipe")
    }
  }

  /// One request after the other.
  private func run(_ action: @escaping @BluetoothActor () async throws(RingError) -> Void) {
    let before = work
    work = Task {
      await before?.value
      do throws(RingError) { try await action() } catch { Console.error("\(error)") }
    }
  }

  func stop() {
    input.stop()
    work?.cancel()
  }
}
