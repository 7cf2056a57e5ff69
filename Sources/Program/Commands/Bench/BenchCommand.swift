import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloRaw
import RingLink

private let benchDuration = Option(
  "--duration", as: .timeLimit, default: "30s",
  help: "how long to measure, counted from the first sample; 0 for no limit")

let benchCommand = CommandSpec(
  name: "bench", arguments: "[RING]", summary: "measure the delay of a stream, and what it costs",
  options: [benchDuration, CommonOptions.pageFormat] + RealTime.options,
  examples: [
    (
      "halo-raw bench --duration 2s --adapter virtual",
      "measure the built-in ring: what this program alone takes"
    ),
    ("halo-raw bench --duration 2s --format jsonl --adapter virtual", "the same as one JSON object"),
  ],
  details: """
    Streams all raw sensors, writes the lines to /dev/null, and prints what was measured:

    Connection event to packet: how long after its connection event a packet is received, which is the time of the
    controller, the bus and the kernel. A computer does not see connection events; they are found in the times of the
    packets, and the fastest packet counts as received at once. Simulated rings have
    none.

    Packet to line: from the kernel's receive stamp, or the read where there is none (tcp, unix, serial), until the line is
    written.

    Missed: connection events without a packet, although the ring usually sends one by then: it was sent again, after the
    radio had lost it, or the controller had other work.

    CPU and wake-ups are those of the whole program. Virtual time, as with virtual:fast, can't be measured.

    \(RealTime.details)
    """
) { invocation in
  guard try invocation.adapter.hasRealTime else {
    throw Failure.usage(
      "bench measures time, and this adapter has virtual time; use virtual, without fast, or a real one")
  }
  try RealTime.apply(invocation)
  let duration = invocation[benchDuration]
  try await Session.run(invocation, endsInOrder: true) { session in
    let link = session.keepRing()
    let ring = try await link.open()
    let end = Interruption(following: session.interruption)
    // A simulated controller sends at any time.
    let hasEvents = session.isReal
    let meter = StreamMeter(session.timers, writer: try writerToNowhere(session)) {
      [connection = ring.connection] in
      hasEvents ? connection.parameters?.interval.duration ?? .zero : .zero
    }
    ring.connection.whenDisconnected { _ in end.request() }
    var result = await outcome {
      try await end.ends {
        try await ring.startRawStream { sample, time in meter.take(sample, at: time) }
      }
      await end.sleep(for: duration, in: session.timers)
    }
    meter.finish()
    if !ring.connection.isConnected, case .success = result {
      result = .failure(Failure(.connectionLost, "the connection was lost during the measurement"))
    }
    let parameters = ring.connection.parameters
    await ring.stopRawStream()
    await link.close()
    if let measured = meter.result(
      linkInterval: parameters?.interval.duration, dropped: session.central.droppedPackets)
    {
      let head = parameters.map { "link       \($0)\n" } ?? ""
      printRecord(invocation, measured.fields, as: OutputFormat(page: invocation), text: head + measured.text)
    }
    try result.get()
  }
}

extension AdapterSpecification {
  /// Whether its time is that of the clock.
  fileprivate var hasRealTime: Bool {
    switch self {
    case .virtual(_, let isFast), .air(_, _, let isFast): !isFast
    case .replay: false
    default: true
    }
  }
}

/// Makes the lines that `stream` makes, and writes them to `/dev/null`.
@BluetoothActor
private func writerToNowhere(_ session: Session) throws(Failure) -> SampleWriter {
  do throws(FileError) {
    let output = OutputQueue(descriptor: try OutputFile.open(path: "/dev/null"), owned: true)
    return SampleWriter(
      .jsonl, kinds: .all, encoding: nil, clock: session.clock.recordClock, ring: "",
      output: LineWriter(output))
  } catch {
    throw Failure(.cannotOpenFile, "cannot open \(error)")
  }
}
