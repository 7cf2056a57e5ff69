import BluetoothCore
import Capture
import EventLoop
import HCI

let recordCommand = CommandSpec(
  name: "record", arguments: "FILE",
  summary: "writes down all HCI traffic of this machine, while other programs use its adapters",
  positionals: 1...1,
  options: [
    OptionSpec("-i", "--adapter", value: "hciN", help: "only this adapter; default: all, also those to come"),
    OptionSpec("--duration", value: "TIME", help: "how long; default: until Ctrl-C"),
    .explain,
  ],
  examples: [
    ("sudo halo-raw record all.btsnoop", "all adapters, until Ctrl-C; then: halo-raw decode all.btsnoop"),
    (
      "halo-raw record hci0.btsnoop --adapter hci0 --duration 2s --explain",
      "hci0 for two seconds, explained while it happens; without sudo for members of the group halo"
    ),
  ],
  details: """
    The file is btsnoop with datalink 2001 (Linux monitor), as btmon -w writes it: halo-raw decode, btmon -r and
    Wireshark read it. It takes CAP_NET_RAW: sudo, or file capabilities (halo-raw doctor). Nothing is sent, and no
    program notices. What halo-raw itself sends is recorded, too; to record only that, use --record.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  let path = invocation.positionals[0]
  let duration = try invocation.duration("--duration")
  let explainer = try Explainer(invocation)
  let scope = try await recordScope(invocation)
  let interruption = Interruption()
  var failure: Failure?
  let fail = { (reason: Failure) in
    failure = reason
    interruption.come()
  }
  let monitor: MonitorTap
  let tap: TrafficTap
  do {
    monitor = try MonitorTap(scope)
    // The socket is open: nothing is needed any more, and the file belongs to whoever has called us.
    try Privileges.afterOpening(.other)
    tap = TrafficTap(writer: try CaptureWriter(path: path, datalink: .linuxMonitor))
    tap.onFailure = { fail(Failure($0)) }
    explainer?.watch(tap)
    try monitor.start(tap) { fail(Failure($0)) }
  } catch let error as Failure {
    throw error
  } catch let error as CaptureError {
    throw Failure(error)
  } catch let error as KernelError {
    throw Failure(error)
  } catch {
    throw Failure(.noAdapter, "\(error)")
  }
  Console.error("recording to \(path.printable)" + (duration == nil ? "; Ctrl-C ends it" : ""))
  if let duration { await interruption.sleep(for: duration) } else { await interruption.comes() }
  monitor.close()
  tap.finishRecording()
  let lost = monitor.droppedPackets + (tap.writer?.droppedRecords ?? 0)
  Console.error(
    "\(Console.counted(tap.count, "packet")) recorded, "
      + (lost > 0 ? "\(lost) lost: they came faster than they were fetched" : "none lost"))
  if let failure { throw failure }
}

/// What `--adapter` asks for. An adapter that is not there is told at once, not recorded in vain.
@BluetoothActor
private func recordScope(_ invocation: Invocation) async throws(Failure) -> MonitorTap.Scope {
  guard let text = invocation.text("--adapter") else { return .everything }
  guard let index = AdapterIndex(text) else {
    throw .usage("--adapter wants an adapter of this machine such as hci0, not \"\(text.printable)\"")
  }
  do throws(KernelError) {
    guard try await Controllers.list(isDetailed: false).contains(where: { $0.index == index }) else {
      throw KernelError("record \(index)", .noSuchAdapter)
    }
  } catch {
    throw Failure(error)
  }
  return .adapter(index)
}
