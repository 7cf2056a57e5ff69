import LineOutput
import RingLink

private let formatOption = Option(
  "--format", as: .choice("FORMAT", [("csv", OutputFormat.csv), ("jsonl", .jsonl)]),
  help: "csv or jsonl (default: csv; jsonl for all)")

let exportCommand = CommandSpec(
  name: "export", arguments: "KIND|all [RING]", summary: "print the local store as csv or JSON lines",
  positionals: 1...2,
  options: [HistoryKind.estimatesOption, StoreFile.option, formatOption],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "first, store the data of a ring"),
    ("halo-raw export heart-rate --store rings.sqlite > heart-rate.csv", "export every stored heart rate"),
  ],
  details: """
    KIND is \(HistoryKind.names). "all" prints every kind, one after the other; each record has its kind in the field
    "history", which needs jsonl. Times are the ring's own wall clock; see docs/store.md.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  var command = invocation
  let name = command.positionals.removeFirst()
  let isAll = name == "all"
  let kinds = isAll ? HistoryKind.allCases : [try HistoryKind(named: name)]
  let format = command[formatOption]
  if isAll, format == .csv {
    throw .usage("a csv file has one kind of record; export one KIND or use --format jsonl")
  }
  let stored = try StoredHistory(command)
  for kind in kinds where kind.mayBePrinted(command) {
    var printer = HistoryPrinter(format ?? (isAll ? .jsonl : .csv), kind, isLabelled: isAll)
    try printer.print(try stored.records(kind))
  }
}
