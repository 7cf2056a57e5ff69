import HCI
import Recording

private enum ReplayOption {
  static let lenient = Flag(
    "--lenient", help: "count differences and continue; without, the first one ends the replay")
  static let index = Option(
    "--index", as: .integer(0...65534),
    help: "the adapter whose packets are replayed, 0 for hci0 (default: the first in the capture)")
  static let from = Option("--from", as: .count, default: "1", help: "the number of the packet to start at")
}

let replayCommand = CommandSpec(
  name: "replay", arguments: "FILE [COMMAND [options]]",
  summary: "run a command against a recorded session and compare the traffic", positionals: 1...1,
  file: .reads,
  options: [ReplayOption.lenient, ReplayOption.index, ReplayOption.from],
  examples: [
    ("halo-raw replay captures/virtual-stream.btsnoop", "print the samples of a recorded stream"),
    (
      "halo-raw replay captures/virtual-inspect.btsnoop inspect",
      "print the attribute table from a recording of inspect"
    ),
  ],
  details: """
    COMMAND is the recorded command with its options; the default is stream. Time is the time of the recording and runs
    as fast as possible. Where Ctrl-C or a count ended the original, the replay ends too.

    FILE may be any capture that decode reads, from any program, if it holds all traffic between a host and its
    controller from the host's Reset on, and if the host sent what halo-raw sends. If it did not, the error shows the
    first difference: the packet, what it is, what halo-raw sent instead, and why.

    A recording made with --adapter hciN can't be replayed: it holds the traffic of the kernel, not of halo-raw. Record
    with --adapter user:hciN to replay.
    """,
  usesAdapter: false, wrapsCommand: true
) { invocation throws(Failure) in
  let path = invocation.positionals[0]
  var rest = Array(invocation.positionals.dropFirst())
  if rest.first.map({ $0.hasPrefix("-") }) ?? true { rest.insert("stream", at: 0) }
  let command = try Commands.named(rest[0])
  guard command.usesAdapter else { throw .usage("\(command.name) can't be replayed: it uses no device") }
  var inner = try Invocation(parsing: Array(rest.dropFirst()), for: command)
  guard !inner.isGiven(CommonOptions.adapter) else {
    throw .usage("replay and --adapter exclude each other; leave --adapter out")
  }
  var options = ReplayTransport.Options(first: invocation[ReplayOption.from])
  options.adapter = invocation[ReplayOption.index].map { UInt16($0) }
  if invocation[ReplayOption.lenient] { options.strictness = .lenient }
  inner.set(CommonOptions.adapter, to: .replay(path: path, options))
  try NamedFiles(inner, of: command).check()
  try await command.run(inner)
}
