import EventLoop
import LineOutput
import RingLink
import RingStore

private let kindOption = Option(
  "--kind", as: .choice("KIND", HistoryKind.allCases.map { ($0.rawValue, $0) }),
  help: "only this kind: \(HistoryKind.names) (default: all)")

let syncCommand = CommandSpec(
  name: "sync", arguments: "[RING]", summary: "copy the data of the ring into the local store",
  positionals: 0...1,
  options: [kindOption, StoreFile.option, CommonOptions.retryTime, CommonOptions.format],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "copy all data of the built-in ring"),
    ("halo-raw sync --kind sleep --adapter virtual:fast --store rings.sqlite", "copy only the sleep data"),
  ],
  details: """
    Stored data is kept, and nothing is copied twice: run it as often as you like. If the link is lost or the program is
    ended, the next run continues there. docs/store.md describes the file.
    """
) { invocation throws(Failure) in
  let kinds = invocation[kindOption].map { [$0] } ?? HistoryKind.allCases
  let retryTime = invocation[CommonOptions.retryTime]
  var printer = RecordPrinter(
    OutputFormat(invocation),
    [("kind", nil), ("read", nil), ("added", nil), ("supported", nil), ("problem", nil)])
  var problem: RingError?
  try await Session.run(invocation) { session throws(Failure) in
    // Open the store first: without it there is no reason to connect.
    let store = try StoreFile.open(invocation, creates: true)
    let ring = try await session.openRing()
    session.waitsForAdapter = retryTime > .zero
    try await RingSync(ring, into: store, retryTime: retryTime, session)
      .run(kinds) { outcome in
        let text =
          outcome.isSupported
          ? "\(Console.counted(outcome.read, "record")), \(outcome.added) new"
            + (outcome.problem.map { "; \($0)" } ?? "")
          : "not supported by this ring"
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
