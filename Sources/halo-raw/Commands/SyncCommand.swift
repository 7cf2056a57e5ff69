import EventLoop
import LineOutput
import RingLink
import RingStore

let syncCommand = CommandSpec(
  name: "sync", arguments: "[RING]", summary: "copies what the ring has stored into a file of this machine",
  positionals: 0...1,
  options: [
    OptionSpec("--kind", value: "KIND", help: "only this: \(HistoryKind.words); default: everything"),
    StoreFile.option, retryOption, CommonOptions.format,
  ],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "everything that the built-in ring has"),
    ("halo-raw sync --kind sleep --adapter virtual:fast --store rings.sqlite", "only the nights"),
  ],
  details: """
    What is there already stays, and what was copied before is not copied twice: run it as often as you like. If the link
    is lost or the program is ended, the next run goes on there. docs/store.md tells what is in the file.
    """
) { invocation throws(Failure) in
  let kinds = try invocation.choice("--kind", HistoryKind.allCases.map { ($0.rawValue, [$0]) })
  let retryTime = try invocation.retryTime
  var printer = RecordPrinter(
    try OutputFormat(invocation),
    [("kind", nil), ("read", nil), ("added", nil), ("supported", nil), ("problem", nil)])
  var problem: RingError?
  try await Session.run(invocation) { session throws(Failure) in
    // A store that can't be used is no reason to connect.
    let store = try StoreFile.open(invocation, makes: true)
    let ring = try await session.openRing()
    session.waitsForAdapter = retryTime > .zero
    try await RingSync(ring, into: store, retryTime: retryTime, session)
      .run(kinds ?? HistoryKind.allCases) { outcome in
        let text =
          outcome.isSupported
          ? "\(Console.counted(outcome.read, "record")), \(outcome.added) new"
            + (outcome.problem.map { "; \($0)" } ?? "")
          : "not kept by this ring"
        printer.print(
          [
            .text(outcome.kind.rawValue), .number(outcome.read), .number(outcome.added),
            .flag(outcome.isSupported), .text(outcome.isSupported ? outcome.problem?.description : nil),
          ],
          text: outcome.kind.rawValue + String(repeating: " ", count: 13 - outcome.kind.rawValue.count) + text
        )
        if outcome.isSupported, problem == nil { problem = outcome.problem }
      }
  }
  if let problem { throw Failure(problem) }
}
