import HaloBluetoothCore
import HaloCommandLine
import RingLink

private let formatOption = Option(
  "--format",
  as: .choice(
    "FORMAT",
    [("csv", ExportFormat.records(.csv)), ("jsonl", .records(.jsonl))]
      + HealthFormat.allCases.map { ($0.rawValue, .health($0)) }),
  help: """
    csv or jsonl; health-csv, open-mhealth or gadgetbridge for health software; fit or tcx for sessions of sport (default: \
    csv; jsonl for all)
    """)

private let allOption = Flag("--all", help: "all rings of the store")
private let firstDay = DayOption.from.described("the first day (default: the first one that is stored)")
private let lastDay = DayOption.to.described(
  "the last day: 2026-11-20, today, yesterday or -3 (default: the last one that is stored)")

/// The form of an export.
private enum ExportFormat: Hashable {
  /// Records with all that the store has.
  case records(OutputFormat)
  case health(HealthFormat)
}

let exportCommand = CommandSpec(
  name: "export", arguments: "KIND|all [RING]",
  summary: "print the store as csv or JSON lines, or for health software",
  options: [
    HistoryKind.estimatesOption, allOption, firstDay, lastDay, HealthExport.output, StoreFile.option,
    StoreFile.adapter, formatOption,
  ],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "first, store the data of a ring"),
    ("halo-raw export heart-rate --store rings.sqlite > heart-rate.csv", "export every stored heart rate"),
    (
      "halo-raw export sport --format fit --output sessions/ --store rings.sqlite",
      "a FIT file for each session of sport"
    ),
    (
      "halo-raw export all --format open-mhealth --store rings.sqlite > points.jsonl",
      "data points of Open mHealth"
    ),
  ],
  details: """
    KIND is \(HistoryKind.names). "all" prints every kind, one after the other; each record has its kind in the field
    "history", which needs jsonl.

    Each record has the address of the ring, the firmware it had, the offset of its clock from UTC, and the times in UTC
    (time_utc). The other times are the ring's own wall clock; see docs/store.md.

    health-csv is a table with a start, an end and the values, for programs that import csv into Apple Health or Health Connect.
    open-mhealth is JSON lines, a data point each, by schemas of Open mHealth and IEEE 1752.1. gadgetbridge is SQL for the
    database of Gadgetbridge. fit and tcx are sessions of sport, for training software. docs/days.md shows how to import each.
    These formats leave out kinds that they have no place for, and say so.
    """,
  usesAdapter: false
) { invocation in
  var command = invocation
  let name = command.positionals.removeFirst()
  let isAll = name == "all"
  let kinds = isAll ? HistoryKind.allCases : [try HistoryKind(named: name)]
  let isOfAllRings = command[allOption]
  try command.checkRings(isAll: isOfAllRings)
  var days: ClosedRange<RingDay>?
  if command.isGiven(firstDay) || command.isGiven(lastDay) {
    let today = HostClock().now.day
    // The years 1 to 9999: a store has no others.
    let first = command[firstDay]?(today) ?? RingDay(number: -719_162)
    let last = command[lastDay]?(today) ?? RingDay(number: 2_932_896)
    guard first <= last else { throw Failure.usage("--from \(first) is after --to \(last)") }
    days = first...last
  }
  let format = command[formatOption]
  if case .health(let health)? = format {
    let export = HealthExport(health, kinds, isAll: isAll, days)
    return try await export.run(command, isOfAllRings: isOfAllRings)
  }
  guard !command.isGiven(HealthExport.output) else {
    throw Failure.usage("--output is for --format fit and tcx; redirect the standard output of others")
  }
  let output: OutputFormat? = if case .records(let output)? = format { output } else { nil }
  if isAll, output == .csv {
    throw Failure.usage("a csv file has one kind of record; export one KIND or use --format jsonl")
  }
  let stored = try StoredHistory(command, all: isOfAllRings)
  for kind in kinds {
    guard kind.mayBePrinted(command) else {
      if !isAll { _ = HistoryPrinter(output ?? .csv, kind, hasOrigins: true) }
      continue
    }
    try stored.export(kind, output ?? (isAll ? .jsonl : .csv), in: days, isLabelled: isAll)
  }
}
