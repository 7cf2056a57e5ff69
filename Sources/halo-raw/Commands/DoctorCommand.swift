import BluetoothCore
import EventLoop
import LineOutput
import RingLink

let doctorCommand = CommandSpec(
  name: "doctor", arguments: "[RING]",
  summary: "tells what stands between you and a stream, and what removes it",
  positionals: 0...1,
  options: [
    CommonOptions.format,
    OptionSpec("--wait", value: "TIME", help: "how long to listen for the ring; default 5s"),
  ],
  examples: [
    ("halo-raw doctor", "privileges, adapters, switches, and who else uses them"),
    ("halo-raw doctor --format jsonl", "the same for a program"),
    ("halo-raw doctor R02_BEEF", "listens for that ring as well"),
  ],
  details: """
    Ends with 0 if streaming from a kernel adapter can work, with 69 if no adapter can be used, with 77 if a privilege
    is missing, with 79 if all is well but the ring does not advertise: the one that is named, else the one that was
    used before, if it was one.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  var state = await SystemState.read()
  let time = try invocation.duration("--wait") ?? .seconds(5)
  // All has been seen that root sees better; what is remembered of rings is in the invoking user's home.
  try Privileges.afterOpening(.rawSocket)
  let wanted = invocation.positionals.first
  let selector = wanted.map { RingSelector($0) } ?? .anyRing
  // Without a name, `stream` would go straight to the one that is known.
  let known = KnownRings(path: KnownRings.standardPath).only(selector)
  if let label = wanted ?? known.map({ $0.name ?? $0.address }) {
    let ring = known?.bluetoothAddress.map { RingSelector.address($0.value, $0.kind) } ?? selector
    state.ring = await .look(
      for: ring, label: label, on: state.adapters, time: time, isKnown: known != nil)
  }
  let findings = state.findings
  var printer = RecordPrinter(
    try OutputFormat(invocation),
    [("topic", nil), ("weight", nil), ("finding", nil), ("remedy", nil)])
  for finding in findings {
    printer.print(
      [
        .text(finding.topic), .text(finding.weight.rawValue), .text(finding.text), .text(finding.remedy),
      ],
      text: finding.lines)
  }
  // All has been said.
  if findings.code != .success { throw Failure(findings.code, "") }
}

extension Finding {
  /// For a person: what was found, and below it what to do.
  fileprivate var lines: String {
    let mark = weight.rawValue + String(repeating: " ", count: 9 - weight.rawValue.count)
    return mark + "\(topic): \(text)" + (remedy.map { "\n         \($0)" } ?? "")
  }
}
