import HCI

let replayCommand = CommandSpec(
  name: "replay", arguments: "FILE [COMMAND [options]]",
  summary: "runs a command on a recorded session, and compares what is sent", positionals: 1...1,
  options: [
    OptionSpec("--lenient", help: "counts differences and goes on; without, the first one ends the replay")
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
  inner.setDefault("--adapter", "replay:\(path)" + (invocation.has("--lenient") ? ",lenient" : ""))
  try await command.run(inner)
}

extension Failure {
  /// A recording that holds the dialogue of the kernel with the controller, which is not ours.
  init(recordedBesideKernel path: String, _ commands: [HCIOpcode]) {
    let theirs =
      commands.isEmpty ? "" : " (the kernel's own: \(commands.map(\.description).joined(separator: ", ")))"
    self.init(
      .replayDiffers,
      "\(path.printable) can't be replayed: it was made beside the kernel (--adapter hciN), and holds the kernel's "
        + "dialogue with the controller\(theirs), which differs from what halo-raw says where it is the only host; "
        + "record with --adapter user:hciN to replay, or look at this one with Wireshark")
  }
}
