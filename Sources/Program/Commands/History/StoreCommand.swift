import HaloCommandLine
import RingLink

let storeCommand = CommandSpec(
  name: "store", arguments: "[list | export | delete] [RING]",
  summary: "list, export or delete the rings of the local store", positionals: 0...2,
  options: [
    Confirmation.option, HistoryKind.estimatesOption, StoreFile.option, StoreFile.adapter,
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "first, store the data of a ring"),
    ("halo-raw store --store rings.sqlite", "list the rings, and what is stored of each"),
    ("halo-raw store export --store rings.sqlite", "print all data of all rings, as JSON lines"),
    ("halo-raw store delete R02_BEEF --yes --store rings.sqlite", "delete a ring and all of its data"),
  ],
  details: """
    Without a word, the rings are listed. "export" prints all data of one ring, or of all, as JSON lines; see halo-raw
    export for one kind as csv. "delete" deletes one ring with all of its data, which cannot be undone.

    Rings that are simulated or replayed have a store of their own, virtual-rings.sqlite: add --adapter virtual, as for the
    commands that use these rings. --store names any file.
    """,
  usesAdapter: false
) { invocation in
  var command = invocation
  let word = command.positionals.isEmpty ? "list" : command.positionals.removeFirst()
  switch word {
  case "list":
    try list(try StoredHistory(command, all: command.positionals.isEmpty), OutputFormat(command))
  case "export":
    let format = command[CommonOptions.format] ?? .jsonl
    guard format == .jsonl else {
      throw Failure.usage("store export prints jsonl; for csv, use halo-raw export KIND")
    }
    let stored = try StoredHistory(command, all: command.positionals.isEmpty)
    for kind in HistoryKind.allCases where kind.mayBePrinted(command) {
      try stored.export(kind, format, isLabelled: true)
    }
  case "delete":
    guard let name = command.positionals.first else {
      throw Failure.usage("missing ring; usage: halo-raw store delete RING")
    }
    let stored = try StoredHistory(command, access: .writing)
    guard let ring = stored.rings.first else { return }
    try Confirmation.obtain(command, "this deletes all stored data of \(name.printable)")
    try stored.store.delete(ring.id)
    Console.error("deleted \(ring.name ?? "(no name)") \(ring.address?.description ?? "")")
  default:
    throw Failure.unknown("action", word, among: ["list", "export", "delete"])
  }
}

/// Prints the selected rings, and the stored records of each.
private func list(_ stored: StoredHistory, _ format: OutputFormat) throws {
  var printer = RecordPrinter(
    format,
    ["name", "address", "type", "firmware", "records", "first", "last", "last_sync_utc"])
  for ring in stored.rings {
    let extent = try stored.store.extent(of: ring.id)
    let sync = extent.lastSync.map { RingTime(seconds: $0).description + "Z" }
    let range = extent.first.flatMap { first in extent.last.map { "\(first) to \($0)" } } ?? "no data"
    printer.print(
      [
        .text(ring.name), .text(ring.address?.description), .text(ring.address?.kind.description),
        .text(ring.firmware), .number(extent.records), .text(extent.first), .text(extent.last), .text(sync),
      ],
      text: "\(ring.name?.printable ?? "(no name)")  \(ring.address?.description ?? "(no address)")  "
        + "\(Console.counted(extent.records, "record")), \(range)")
  }
}
