import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import RingLink

private let ringOption = Option(
  "--ring", as: .text, placeholder: "RING", help: "mark only the records of this ring: its name or address")

let markCommand = CommandSpec(
  name: "mark", arguments: "TEXT...", summary: "mark this moment in the records of the commands that run",
  positionals: 1...Annotations.longest, options: [ringOption, CommonOptions.pageFormat],
  examples: [
    ("halo-raw mark went up the stairs", "a line in each stream that runs, with the time of now"),
    ("halo-raw mark coffee --ring R02_BEEF", "the same, for one ring"),
  ],
  details: """
    TEXT is one line of at most \(Annotations.longest) characters, without control characters; what means something to the
    shell, such as ' or *, needs quotes. Each command of this user that prints records of a ring takes it: stream, measure,
    events, sport, raw; and subscribe and connect, with the device in place of the ring. The mark is a record of kind
    "mark", or of that event, with the text and the time at which this command was started. Samples that are printed
    before the other command takes it stand before it. The page of stream --web shows marks, and sets them, too.

    It reaches the file, the broker (--mqtt), the page of halo-raw report, where it is a line through all curves, and
    the Python package, which makes it an annotation of EDF and a marker of LSL. A recording (--record) has packets, and
    no marks.

    A line says which records have it. If root asks, the commands of all users take it. Exit code 79 means that no
    command took it.
    """,
  usesAdapter: false
) { invocation in
  let time = EpollLoop.shared.timers.current
  let text = invocation.positionals.joined(separator: " ")
  if let fault = Annotations.fault(of: text) { throw Failure.usage(fault) }
  let name = invocation[ringOption]
  let ring = try name.map { name throws(Failure) in try invocation.ring(name) }
  let request = MarkRequest(text, ring: ring, at: time).bytes
  // Root needs its capabilities for the folders of others.
  let found = await offTheLoop(privileges: .ofTheLoop) {
    let all = RunningCommand.all
    return Array(zip(all, RunningCommand.answers(of: all, to: .mark, with: request, within: answerDeadline)))
  }
  try Privileges.afterOpening(.other)
  guard let found else { throw Failure(.interrupted, "interrupted") }
  let asked = found.compactMap { command, answer in answer.map { (command, MarkAnswer($0.bytes)) } }
  guard !asked.isEmpty else { throw RunningCommand.noneRuns("mark") }
  var printer = RecordPrinter(OutputFormat(page: invocation), ["ring", "command", "pid", "user"])
  var count = 0
  for (command, answer) in asked {
    guard let answer else {
      Console.error("halo-raw: process \(command.process) did not take it: it has ended, or does not answer")
      continue
    }
    for ring in answer.rings {
      count += 1
      printer.print(
        [.text(ring), .text(answer.command), .number(Int(command.process)), .text(command.userName)],
        text:
          "marked: \(ring.printable), halo-raw \(answer.command.printable), process \(command.process)")
    }
  }
  guard count == 0 else { return }
  throw Failure(
    .notFound,
    name.map { "nothing is marked: no command that runs has records of \($0.printable)" }
      ?? "nothing is marked: no command that runs is connected to a ring yet")
}

/// How long all commands together may take to answer, in milliseconds.
private let answerDeadline: Int32 = 2000
