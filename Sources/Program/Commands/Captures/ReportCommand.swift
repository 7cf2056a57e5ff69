import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloViews

private enum ReportOption {
  static let output = Option(
    "--output", as: .file(.writes),
    help: "the page; - for standard output (default: FILE.html; report-DAY.html with --days)")
}

let reportCommand = CommandSpec(
  name: "report", arguments: "[FILE|DIR|RING]",
  summary: "make a page of the last days, or of what stream or measure wrote",
  file: .reads, options: StoredReport.options + [ReportOption.output], rules: StoredReport.rules,
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "first, store the data of a ring"),
    (
      "halo-raw report --days 30 --store rings.sqlite --output month.html",
      "the night, the days and the weeks of this ring; open month.html in a browser"
    ),
    ("halo-raw stream --duration 10s --output session.csv --adapter virtual:fast", "first, a session"),
    ("halo-raw report session.csv", "write session.csv.html; open it in a browser"),
  ],
  details: """
    With --days, the page is of the stored data of a ring, which "halo-raw sync" copies: this night with its stages, total, deep
    and REM minutes; the resting heart rate, the pulse by hour, steps, SpO2, temperature, and HRV and stress, which are marked as
    estimates; the means of weeks; and the sessions of sport with their course. What is not stored is shown as missing. The page
    prints on A4. Times are those of the ring's clock, or of this computer's zone if the ring keeps UTC.

    FILE is csv or jsonl of stream or measure; the file beside it, FILE.json, says of which ring. Of a folder, as stream --output DIR
    makes it, all files are one session, with the one that is being written. Where a command was started again, the page
    has another run. The page has the heart rate, the signals, the time between samples, the rates, jitter and gaps, and a
    list of all interruptions. The heart rate of a stream is what the ring has measured, or what shows in a wave of eight
    samples a second or more. It needs no network and no script, and stays small: of a long session, each plot
    has the least and the greatest values.

    For a capture of packets, see halo-raw decode --html.
    """,
  usesAdapter: false
) { invocation in
  if let count = invocation[StoredReport.days] {
    let (day, text) = try await StoredReport.page(invocation, days: count)
    return try await write(text, to: invocation[ReportOption.output] ?? "report-\(day).html")
  }
  guard let path = invocation.positionals.first else {
    throw Failure.usage("name a FILE of stream or measure, or give --days N for the stored data of a ring")
  }
  let interruption = Interruption()
  let report = try await interruption.cancels {
    try await offTheLoop(orInterrupted: "interrupted") { try sessionReport(of: path) }
  }
  guard !report.series.isEmpty else {
    throw Failure(.badData, "\(path.printable) has no records of halo-raw stream or measure")
  }
  let name = path.split(separator: "/").last.map { String($0) } ?? path
  if report.malformed > 0 {
    Console.error(
      "halo-raw: \(Console.counted(report.malformed, "line")) of \(path.printable) left out: damaged")
  }
  let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
  try await write(
    ReportPage(report, name: name).text, to: invocation[ReportOption.output] ?? folder + ".html")
}

/// Writes a page into a file, or to standard output.
@BluetoothActor
private func write(_ page: String, to output: String) async throws {
  guard output != "-" else { return Console.print(page) }
  try await Interruption().cancels { try await WholeFile.write(Array(page.utf8), to: output) }
  Console.error("wrote \(output.printable)")
}

/// Reads a file, or the files of a folder in the order of their names, with the one that is being written.
private func sessionReport(of path: String) throws(Failure) -> SessionReport {
  var report = SessionReport()
  let isFolder = SeriesOption.isFolder(path)
  let paths = isFolder ? RecordFiles.all(in: path) : [path]
  guard !paths.isEmpty else {
    throw Failure(.cannotOpenFile, "\(path.printable) has no csv or jsonl file")
  }
  for path in paths {
    report.beginFile()
    try RecordFiles.readLines(of: path, mustBeRegular: isFolder) { report.add($0) }
    if path != "-", let bytes = try? InputFile.read(FileSeries.complete(path) + ".json", limit: 1 << 20) {
      report.description = try? JSONValue(parsing: bytes)
    }
  }
  return report
}
