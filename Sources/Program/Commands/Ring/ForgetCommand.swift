import HaloCommandLine
import HaloStorage

private let allOption = Flag("--all", help: "forget every ring")

let forgetCommand = CommandSpec(
  name: "forget", arguments: "[RING]",
  summary: "delete what is stored about a ring; without RING, list the known rings",
  options: [allOption, CommonOptions.format],
  examples: [
    ("halo-raw forget", "list the known rings"),
    ("halo-raw forget --all", "forget them all"),
  ],
  details: """
    halo-raw stores the name, address, firmware and attribute handles of each ring that it used, so that the next
    connection needs neither a scan nor a discovery. It also stores what the ring's clock was set to, because a ring
    does not report its clock. Built-in rings and replays are not stored.
    """,
  usesAdapter: false
) { invocation in
  var known = KnownRings(path: KnownRings.standardPath)
  let selector = try invocation.positionals.first.map { text throws(Failure) in try invocation.ring(text) }
  let isForgetting = invocation[allOption] || selector != nil
  let rings = isForgetting ? known.forget(selector ?? .anyRing) : known.rings
  if selector != nil, rings.isEmpty {
    throw Failure(
      .notFound,
      "unknown ring \(invocation.positionals[0].printable); halo-raw forget lists the known rings"
    )
  }
  var printer = RecordPrinter(OutputFormat(invocation), ["name", "address", "type", "firmware"])
  for ring in rings {
    printer.print(
      [.text(ring.name), .text(ring.address), .text(ring.type), .text(ring.firmware)],
      text:
        "\(isForgetting ? "forgot: " : "")\(ring.name ?? "(no name)")  \(ring.address) (\(ring.type))  \(ring.firmware ?? "")"
    )
  }
}
