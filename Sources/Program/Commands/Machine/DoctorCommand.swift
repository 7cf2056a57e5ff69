import HaloCommandLine
import HaloSecurityManager
import HaloStorage
import RingLink

private let waitOption = Option("--wait", as: .time, default: "5s", help: "how long to listen for the ring")

let doctorCommand = CommandSpec(
  name: "doctor", arguments: "[RING]", summary: "diagnose the setup and suggest fixes",
  options: [CommonOptions.pageFormat, waitOption],
  examples: [
    ("halo-raw doctor", "check privileges, adapters, radio switches and other programs"),
    ("halo-raw doctor --format jsonl", "print the same for a program"),
    ("halo-raw doctor R02_BEEF", "also listen for that ring"),
  ],
  details: """
    The exit code is 0 if streaming from a kernel adapter can work, 69 if no adapter can be used, 77 if a privilege is
    missing, 65 if the file of the bonds is damaged, 66 if it cannot be read, and 79 if all is well but the ring does
    not advertise: the named one, else the known ring if there is only one.
    """,
  usesAdapter: false
) { invocation in
  var state = await SystemState.read()
  let adapter = await SystemState.RingState.openAdapter(of: state.adapters)
  // Everything that needs root is read and opened. The bonds and the known rings are in the invoking user's home.
  try Privileges.afterOpening(.rawSocket)
  do throws(BondStoreError) { _ = try BondFile.standardPath.map(BondFile.init)?.load() } catch {
    state.bondsError = error
  }
  let wanted = invocation.positionals.first
  let selector = wanted.map { RingSelector($0) } ?? .anyRing
  // Without a name, `stream` connects to the one known ring.
  let known = KnownRings(path: KnownRings.standardPath).only(selector)
  if let label = wanted ?? known.map({ $0.name ?? $0.address }) {
    let ring = known?.peer.map { RingSelector.address($0.address.value, $0.address.kind) } ?? selector
    state.ring = await .look(
      for: ring, label: label, on: adapter, time: invocation[waitOption], isKnown: known != nil)
  } else {
    await adapter?.close()
  }
  let findings = state.findings
  var printer = RecordPrinter(
    OutputFormat(page: invocation),
    ["topic", "weight", "finding", "remedy"])
  for finding in findings {
    printer.print(
      [
        .text(finding.topic), .text(finding.weight.rawValue), .text(finding.text), .text(finding.remedy),
      ],
      text: finding.lines)
  }
  // The findings are the message.
  if findings.code != .success { throw Failure(findings.code, "") }
}

extension Finding {
  /// Text: the finding, and below it the fix.
  fileprivate var lines: String {
    let mark = weight.rawValue + String(repeating: " ", count: 9 - weight.rawValue.count)
    return mark + "\(topic): \(text)" + (remedy.map { "\n         \($0)" } ?? "")
  }
}
