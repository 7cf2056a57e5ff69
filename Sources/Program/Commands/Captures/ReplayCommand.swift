import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw
import HaloRecording

private enum ReplayOption {
  static let level = Option(
    "--level", as: .choice("LEVEL", ReplayOptions.Level.allCases.map { ($0.rawValue, $0) }),
    help: "hci: compare every packet; att: answer requests by their meaning (default: what fits the file)")
  static let lenient = Flag(
    "--lenient", help: "count differences and continue; without, the first one ends the replay")
  static let connection = Option(
    "--connection",
    as: ArgumentType(
      placeholder: "N|ADDRESS", expected: "the number of a connection or the address of its peer"
    ) { text in
      var options = ReplayOptions()
      return options.choose(connection: text) ? options : nil
    },
    help:
      "the connection to replay: its number, or the address of the peer (default: the one with the most "
      + "notifications, to a ring if there is any)")
  static let table = Option(
    "--table", as: .file(.reads),
    help: "the attribute table of a capture that begins after discovery, as inspect --format jsonl prints it")
  static let index = Option(
    "--index", as: .integer(0...65534),
    help: "the adapter whose packets are replayed, 0 for hci0 (default: the first in the capture)")
  static let from = Option("--from", as: .count, default: "1", help: "the number of the packet to start at")

  static let listen = Option(
    "--listen", as: .listenAddress,
    help:
      "offer the recorded device to other programs, in place of a command: tcp:HOST:PORT (port 0: any free one) or unix:PATH"
  )

  static let all: [any CommandOption] = [level, lenient, connection, table, index, from, listen]
}

let replayCommand = CommandSpec(
  name: "replay", arguments: "FILE [COMMAND [options]]",
  summary: "run a command against a recorded session or device", positionals: 1...1, file: .reads,
  options: ReplayOption.all,
  rules: [.excludes(ReplayOption.listen, [ReplayOption.level])],
  examples: [
    ("halo-raw replay captures/virtual-stream.btsnoop", "print the samples of a recorded stream"),
    (
      "halo-raw replay captures/virtual-inspect.btsnoop inspect",
      "print the attribute table from a recording of inspect"
    ),
    (
      "halo-raw replay captures/virtual-inspect.btsnoop --level att read --uuid 2A26",
      "another command than the recorded one"
    ),
    (
      "halo-raw replay captures/virtual-stream.btsnoop --listen tcp:127.0.0.1:9105",
      "a controller with the recorded device in reach, for any host that speaks H4"
    ),
  ],
  details: """
    COMMAND is any command that uses a device, with its options; the default is stream. Time is the time of the recording
    and runs as fast as possible. Where Ctrl-C or a count ended the original, the replay ends too.

    FILE may be any capture that decode reads, from any program, except those of the air. A recording that halo-raw
    made with exclusive access to the controller is replayed at the level of HCI: every packet that halo-raw sends
    is compared with the recorded one. COMMAND must be the recorded one. If a packet differs, the error shows the
    packet, what it is, what halo-raw sent instead, and why.

    All other captures are replayed at the level of ATT: recordings of --adapter hciN, the log of a phone, filtered ones.
    The recorded peripheral answers any command as it answered then. What the capture does not hold is refused, and the
    end of the replay says what was missing; with --lenient this does not change the exit code. All that the device
    notified on what the command has subscribed to is sent, once and in order. Of a device that was discovered before the
    capture, handles can be used, and UUIDs with --table, unless it is a ring. docs/replay.md shows how to make a test of
    a recording.

    With --listen, the device is in the air of a controller at a socket, in real time: another stack connects to it, and is
    answered at the level of ATT. Each of its links is answered as the next recorded one was. Ctrl-C ends it, and the last
    line says what the capture did not hold.
    """,
  usesAdapter: false, wrapsCommand: true
) { invocation in
  let path = invocation.positionals[0]
  var rest = Array(invocation.positionals.dropFirst())
  var options = invocation[ReplayOption.connection] ?? ReplayOptions()
  options.level = invocation[ReplayOption.level]
  options.table = invocation[ReplayOption.table]
  options.first = invocation[ReplayOption.from]
  options.adapter = invocation[ReplayOption.index].map { UInt16($0) }
  if invocation[ReplayOption.lenient] { options.strictness = .lenient }
  if let address = invocation[ReplayOption.listen] {
    guard rest.isEmpty else {
      throw Failure.usage("replay --listen runs no command; leave \(rest[0].printable) out")
    }
    let peripheral = try await outcome { [options] in
      try options.peripheral(of: path) { SessionAdapter.knownAttributes(of: $0) }
    }.get()
    return try await offer(peripheral, at: address)
  }
  if rest.first.map({ $0.hasPrefix("-") }) ?? true { rest.insert("stream", at: 0) }
  let command = try Commands.named(rest[0])
  guard command.usesAdapter else {
    throw Failure.usage("\(command.name) can't be replayed: it uses no device")
  }
  var inner = try Invocation(parsing: Array(rest.dropFirst()), for: command)
  guard !inner.isGiven(CommonOptions.adapter) else {
    throw Failure.usage("replay and --adapter exclude each other; leave --adapter out")
  }
  inner.set(CommonOptions.adapter, to: .replay(path: path, options))
  try inner.checkFiles()
  try await command.run(inner)
}

/// A recorded device in the air of a controller for other programs, until Ctrl-C: `replay FILE --listen`.
///
/// - Parameters:
///   - peripheral: the device
///   - address: where hosts connect
@BluetoothActor
private func offer(_ peripheral: ReplayedPeripheral, at address: ListenAddress) async throws(Failure) {
  let shared = SharedMedium.named("replay", isFast: false)
  let made = Result { () throws(StackError) in try shared.makeTransport(peripheral.address) }
  let (transport, leave) = try made.mapError { Failure($0) }.get()
  defer { leave() }
  let adapter = HCIAdapter(transport, randomAddress: peripheral.address)
  let controllers = OfferedControllers(shared.medium)
  let interruption = Interruption()
  let result = await outcome {
    _ = try await interruption.cancels { () async throws(StackError) in try await adapter.start() }
    let device = try ReplayedDevice(peripheral, on: adapter)
    device.onEvent = { event in Console.error("\(peripheral.address): \(event)") }
    try device.start()
    let listener = try await address.listen { controllers.attach($0) }
    ServiceManager.shared.ready()
    await interruption.wait()
    listener.close()
    await device.stop()
  }
  controllers.detach()
  await adapter.close()
  try result.get()
  Console.error("replay: \(ReplayReport(peripheral: peripheral).summary)")
}
