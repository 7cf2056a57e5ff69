let replayCommand = CommandSpec(
  name: "replay", arguments: "FILE [COMMAND [options]]",
  summary: "runs a command on a recorded session, and compares what is sent", positionals: 1...1,
  options: [
    OptionSpec("--lenient", help: "counts differences and goes on; without, the first one ends the replay"),
    OptionSpec(
      "--index", value: "N",
      help: "the adapter whose packets are played, 0 for hci0; default: the capture's first"),
    OptionSpec("--from", value: "N", help: "the number of the packet to begin with; default 1"),
  ],
  examples: [
    ("halo-raw replay captures/virtual-stream.btsnoop", "the samples of a recorded stream"),
    (
      "halo-raw replay captures/virtual-inspect.btsnoop inspect",
      "the attribute table, from a recording of `inspect`"
    ),
  ],
  details: """
    COMMAND is the one that was recorded, with its options; without one, stream. Time is that of the recording, and
    passes as fast as it can be computed. Where a person or a count ended the original, the replay ends too.
    FILE may be any capture that decode reads, made by any program, if it holds all that a host and its controller
    said from the host's Reset on, and the host said it as halo-raw does. Where it did not, the first difference is
    told: which packet, what it is, what halo-raw sent instead, and why.
    What was recorded with --adapter hciN can't be replayed: it holds the kernel's own dialogue with the controller,
    where the replay would have halo-raw's. Record with --adapter user:hciN for that.
    """,
  usesAdapter: false, wrapsCommand: true
) { invocation throws(Failure) in
  let path = invocation.positionals[0]
  var words = Array(invocation.positionals.dropFirst())
  if words.first.map({ $0.hasPrefix("-") }) ?? true { words.insert("stream", at: 0) }
  let command = try Commands.named(words[0])
  guard command.usesAdapter else { throw .usage("\(command.name) can't be replayed; it talks to no device") }
  var inner = try Invocation(parsing: Array(words.dropFirst()), for: command)
  guard inner.text("--adapter") == nil else { throw .usage("replay is its own adapter; leave --adapter out") }
  let index = try invocation.integer("--index", in: 0...65534).map { ",index=\($0)" } ?? ""
  let first = try invocation.integer("--from", in: 1 ... .max).map { ",from=\($0)" } ?? ""
  let lenient = invocation.has("--lenient") ? ",lenient" : ""
  inner.setDefault("--adapter", "replay:\(path)\(index)\(first)\(lenient)")
  try NamedFiles(inner, of: command).check()
  try await command.run(inner)
}
