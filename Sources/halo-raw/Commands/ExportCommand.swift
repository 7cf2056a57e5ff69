import LineOutput
import RingLink

let exportCommand = CommandSpec(
  name: "export", arguments: "KIND|all [RING]", summary: "prints what sync has stored, as csv or JSON lines",
  positionals: 1...2,
  options: [
    HistoryKind.estimatesOption, StoreFile.option,
    OptionSpec("--format", value: "FORMAT", help: "csv or jsonl; default: csv, jsonl for all"),
  ],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "there has to be something to export"),
    (
      "halo-raw export heart-rate --store rings.sqlite > heart-rate.csv",
      "every heart rate that was ever stored"
    ),
  ],
  details: """
    KIND is one of \(HistoryKind.words). "all" prints them behind each other, each record with its kind in the field
    "history"; that needs jsonl. Times are the ring's own wall clock; docs/store.md tells more.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  var command = invocation
  let word = command.positionals.removeFirst()
  let isAll = word == "all"
  let kinds = isAll ? HistoryKind.allCases : [try HistoryKind(named: word)]
  let format = try command.choice("--format", [("csv", OutputFormat.csv), ("jsonl", .jsonl)])
  if isAll, format == .csv {
    throw .usage("csv has one kind of record a file: export one KIND, or use --format jsonl")
  }
  let stored = try StoredHistory(command)
  for kind in kinds where kind.mayBePrinted(command) {
    var printer = HistoryPrinter(format ?? (isAll ? .jsonl : .csv), kind, isLabelled: isAll)
    try printer.print(try stored.records(kind))
  }
}
