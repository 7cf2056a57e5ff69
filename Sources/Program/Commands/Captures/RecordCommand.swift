import HCI
import HaloBluetoothCore
import HaloCapture
import HaloViews
import HaloCommandLine
import HaloSystem
import HaloLinuxBluetooth
import HaloRecording

private enum RecordOption {
  static let adapter = Option(
    "-i", "--adapter",
    as: ArgumentType(placeholder: "hciN", expected: "an adapter of this machine such as hci0") {
      AdapterIndex($0)
    }, help: "only this adapter (default: all, including new ones)")
  static let duration = Option(
    "--duration", as: .timeLimit, help: "how long to record (default: 0, no limit)")
}

let recordCommand = CommandSpec(
  name: "record", arguments: "FILE|DIR", summary: "capture all HCI traffic on this machine", file: .writes,
  options: [RecordOption.adapter, RecordOption.duration, CommonOptions.replace, CommonOptions.explain]
    + SeriesOption.all,
  examples: [
    (
      "sudo halo-raw record all.btsnoop", "record all adapters until Ctrl-C; then halo-raw decode all.btsnoop"
    ),
    (
      "sudo halo-raw record captures/ --rotate 1d --keep 30d",
      "a file for each day in the folder captures; those older than 30 days are deleted"
    ),
    (
      "halo-raw record hci0.btsnoop --adapter hci0 --duration 2s --explain",
      "record hci0 for two seconds, decoded live; members of the group halo need no sudo"
    ),
  ],
  details: """
    The file is btsnoop with datalink 2001 (Linux monitor), as btmon -w writes it; halo-raw decode, btmon -r and
    Wireshark read it. Other programs go on using the adapters; nothing is sent. This needs CAP_NET_RAW: use sudo or file
    capabilities (halo-raw doctor). The recording includes the traffic of halo-raw itself; to record only that, use
    --record.

    \(SeriesOption.details)
    """,
  usesAdapter: false
) { invocation in
  let path = invocation.positionals[0]
  let duration = invocation[RecordOption.duration]?.ifLimited
  let explainer = Explainer(invocation[CommonOptions.explain], invocation[CommonOptions.color] ?? .auto)
  let scope = try await recordScope(invocation)
  let interruption = Interruption()
  var failure: Failure?
  let fail = { (reason: Failure) in
    failure = reason
    interruption.request()
  }
  let monitor: MonitorTap
  let tap: TrafficTap
  do {
    monitor = try MonitorTap(scope)
    // The socket is open: drop all privileges. The file belongs to the invoking user.
    try Privileges.afterOpening(.other)
    tap = TrafficTap(
      writer: try CaptureWriter(path: path, invocation, datalink: .linuxMonitor) { .machine },
      timers: EpollLoop.shared.timers)
    tap.onFailure = { fail(Failure($0)) }
    explainer?.watch(tap)
    try monitor.start(tap) { fail(Failure($0)) }
  } catch {
    throw Failure(error)
  }
  Console.error("recording to \(path.printable)" + (duration == nil ? "; Ctrl-C ends it" : ""))
  if let duration {
    await interruption.sleep(for: duration, in: EpollLoop.shared.timers)
  } else {
    await interruption.wait()
  }
  monitor.close()
  tap.finishRecording()
  let lost = monitor.droppedPackets + (tap.writer?.droppedRecords ?? 0)
  Console.error(
    "\(Console.counted(tap.count, "packet")) recorded, "
      + (lost > 0 ? "\(lost) lost: they arrived faster than they were read" : "none lost"))
  if let failure { throw failure }
}

/// The adapters that `--adapter` selects.
///
/// - Throws: if there is no such adapter, before anything is recorded
@BluetoothActor
private func recordScope(_ invocation: Invocation) async throws -> MonitorTap.Scope {
  guard let index = invocation[RecordOption.adapter] else { return .everything }
  guard try await Controllers.state(of: index) != nil else {
    throw StackError("record \(index)", .noSuchAdapter)
  }
  return .adapter(index)
}
