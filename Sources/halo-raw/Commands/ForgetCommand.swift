import LineOutput
import RingLink

let forgetCommand = CommandSpec(
  name: "forget", arguments: "[RING]",
  summary: "drops what is remembered of a ring; without RING, lists the known ones",
  positionals: 0...1,
  options: [OptionSpec("--all", help: "forgets every ring"), CommonOptions.format],
  examples: [
    ("halo-raw forget", "the rings that are remembered"),
    ("halo-raw forget --all", "forgets them all"),
  ],
  details: """
    A ring that was used is remembered - name, address, firmware, where its attributes are - so that the next connection
    needs neither a scan nor a discovery; and what its clock was set to, which no ring tells. Built-in rings, replays and
    recorded sessions are not remembered, but for the clock that was set in a recorded one.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  let format = try OutputFormat(invocation)
  var known = KnownRings(path: KnownRings.standardPath)
  let selector = invocation.positionals.first.map { RingSelector($0) }
  let isForgetting = invocation.has("--all") || selector != nil
  let rings = isForgetting ? known.forget(selector ?? .anyRing) : known.rings
  if selector != nil, rings.isEmpty {
    throw Failure(
      .notFound,
      "no ring is remembered as \(invocation.positionals[0].printable); halo-raw forget lists them"
    )
  }
  var printer = RecordPrinter(format, ["name", "address", "type", "firmware"].map { ($0, nil) })
  for ring in rings {
    printer.print(
      [.text(ring.name), .text(ring.address), .text(ring.type), .text(ring.firmware)],
      text:
        "\(isForgetting ? "forgotten: " : "")\(ring.name ?? "(no name)")  \(ring.address) (\(ring.type))  \(ring.firmware ?? "")"
    )
  }
}
