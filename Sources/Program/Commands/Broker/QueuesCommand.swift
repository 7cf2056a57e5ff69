import HaloCommandLine
import HaloSystem
import HaloMQTT

private let deleteOption = Option(
  "--delete", as: .text, placeholder: "NAME", help: "delete this queue and the messages in it")
private let retryOption = Option(
  "--retry", as: .text, placeholder: "NAME", help: "have the messages that it has set aside sent again")

let queuesCommand = CommandSpec(
  name: "queues", summary: "list what waits on disk for brokers, or delete it",
  options: [deleteOption, retryOption, CommonOptions.format],
  rules: [.exclusive([deleteOption, retryOption])],
  examples: [
    ("halo-raw queues", "the queues of --mqtt, and how many messages wait in each"),
    ("halo-raw queues --format jsonl", "the same, with a record for each"),
  ],
  details: """
    Each broker and prefix of --mqtt has a queue. NAME is the name that the list shows, without the number of messages:
    broker.home:1883/rings.

    A message that the broker does not take is set aside, so that the others get through; the list says why it was not
    taken. When the broker takes it, --retry puts it behind the others, and the next command with that --mqtt sends it.

    A queue that was damaged is kept as a file of its own, whose name ends with (damaged). SQLite's own program may read
    a part of it.
    """,
  usesAdapter: false
) { invocation in
  guard let state = UserFolders.state else {
    throw Failure(.cannotOpenFile, "there is no folder for the queues of --mqtt; set HOME or XDG_STATE_HOME")
  }
  let folder = state + BrokerOutput.folder
  let chosen = invocation[deleteOption] ?? invocation[retryOption]
  let isDeleting = invocation[deleteOption] != nil
  var printer = RecordPrinter(
    OutputFormat(invocation),
    ["name", "waiting", "set_aside", "size_bytes", "in_use", "damaged", "reason"])
  let rows: [QueueRow] = try await offTheLoop(orInterrupted: "interrupted") {
    let files = SmallFile.names(in: folder).compactMap { QueueFile($0, in: folder) }
    guard let chosen else { return files.map { QueueRow($0) } }
    guard let file = files.first(where: { $0.name == chosen }) else {
      throw Failure(.notFound, "no queue has the name \(chosen.printable); halo-raw queues lists them")
    }
    try change(file, isDeleting: isDeleting)
    return []
  }
  for row in rows { printer.print(row.fields, text: row.text) }
}

extension ExitCode {
  /// The code for a queue which can't be used.
  init(_ error: QueueError) {
    self =
      switch error {
      case .busy: .timedOut
      case .database: .outputFailed
      case .file(let error): ExitCode(error)
      case .foreign, .impossible, .damaged: .cannotOpenFile
      }
  }
}

private func change(_ file: QueueFile, isDeleting: Bool) throws(Failure) {
  do throws(QueueError) {
    try isDeleting ? file.delete() : file.retry()
  } catch {
    guard error == .busy else { throw Failure(ExitCode(error), "\(error)") }
    throw Failure(ExitCode(error), "a running command uses the queue \(file.name.printable); end it first")
  }
}

/// The entry of a queue in the list.
private struct QueueRow: Sendable {
  let file: QueueFile
  /// A failure says why it can't be read.
  let state: Result<QueueFile.State, QueueError>

  init(_ file: QueueFile) {
    self.file = file
    state = Result { () throws(QueueError) in try file.state() }
  }

  var fields: [Field] {
    let (waiting, aside, reason): (Int?, Int?, String?) =
      switch state {
      case .success(.messages(let waiting, let aside, let reason)): (waiting, aside, reason)
      case .success: (nil, nil, nil)
      case .failure(let problem): (nil, nil, "\(problem)")
      }
    return [
      .text(file.name), .number(waiting), .number(aside), .number(file.size),
      .flag(state == .success(.inUse)), .flag(state == .success(.damaged)), .text(reason),
    ]
  }

  var text: String {
    let what =
      switch state {
      case .failure(let problem): "can't be read: \(problem)"
      case .success(.inUse): "in use"
      case .success(.damaged): "damaged"
      case .success(.messages(let waiting, let aside, let reason)):
        "\(Console.counted(waiting, "message"))"
          + (aside > 0 ? ", \(aside) set aside (\(reason?.printable ?? "not taken"))" : "")
      }
    return "\(file.name.printable)  \(what), \((file.size + 1023) / 1024) KiB"
  }
}
