import GAP
import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import RingLink

/// The options of commands that print records as they happen.
enum LiveOption {
  static let output = Option(
    "--output", as: .file(.writes),
    help: "write to this file, or into this folder, and what the data is to FILE.json beside it")
  static let header = Flag(
    "--header",
    help: "print first what the data is: lines that begin with # (csv, text), or a record of kind \"header\"")

  static let all: [any CommandOption] = {
    var options: [any CommandOption] = [output]
    options += SeriesOption.all
    options.append(header)
    options += BrokerOutput.all
    options.append(CommonOptions.format)
    return options
  }()
}

/// The destination of the records of a command, with their description: the header, and the file beside the output.
@BluetoothActor
final class LiveOutput {
  let format: OutputFormat
  /// The address of the device.
  private(set) var device = ""
  /// The clock of the receive stamps; the records are printed with it.
  let clock: RecordClock

  let invocation: Invocation
  private let session: Session
  /// The file, or the files of a folder; nil for standard output.
  private let files: FileRotation?
  /// Writes the file; nil for standard output.
  private let queue: OutputQueue?
  private var description = DataDescription()
  private let broker: BrokerOutput?
  /// Opens the file anew on SIGHUP, where there is no terminal.
  private var hangUp: Termination.Registration?
  /// The settings of the rings' automatic measurements.
  private var settings: [BluetoothAddress: JSONValue] = [:]
  /// The messages of the device for the broker; nil without `--mqtt`, and for several rings.
  private(set) var publisher: RingPublisher?
  /// Whether a terminal shows no records: something else is to be read there.
  var isHidden = false
  /// The link to the page of `--web`; nil without it.
  var link: String?
  /// Prints the records of the one device; nil for samples.
  private(set) var printer: TimedPrinter?
  /// Ends the marks in these records.
  private var forgetMarks: () -> Void = {}

  /// In bytes: the most data that wait for a slow disk.
  private static let capacity = 1 << 22

  /// Opens the file of `--output`. Call it after privileges are dropped, so that the file belongs to the invoking user.
  init(_ invocation: Invocation, _ session: Session) async throws(Failure) {
    self.invocation = invocation
    self.session = session
    let path = invocation[LiveOption.output].flatMap { $0 == "-" ? nil : $0 }
    clock = session.clock.recordClock
    if path == nil, let option = SeriesOption.all.first(where: { invocation.isGiven($0) }),
      !invocation.isGiven(CommonOptions.record)
    {
      throw .usage("\(option.spec.name) needs --output or --record")
    }
    broker = try await BrokerOutput.open(invocation, session)
    let chosen = invocation[CommonOptions.format]
    guard let path else {
      format = chosen ?? .standard
      queue = nil
      files = nil
      serveStatus()
      return
    }
    do throws(FileError) {
      let format = chosen ?? (SeriesOption.isFolder(path) ? .csv : Self.format(ofFile: path))
      self.format = format
      let clock = session.clock
      let series = try SeriesOption.series(path, invocation, suffix: format.suffix, hasLines: true) {
        clock.fileTime
      }
      let files = series ?? FileRotation(file: path)
      self.files = files
      queue = OutputQueue(
        descriptor: try files.begin(existing: invocation[CommonOptions.replace] ? .replace : .refuse),
        owned: true,
        capacity: Self.capacity, overflow: .drop, rotation: files.change, afterEmptying: files.afterEmptying)
      hangUp = Termination.onHangUp(files.beginNext)
    } catch {
      throw Failure(creating: error)
    }
    serveStatus()
  }

  /// Answers `halo-raw status`, and takes marks, until the command ends.
  private func serveStatus() {
    session.annotations.serve(command: invocation.command.name)
    session.status.serve(invocation, clock.ending()) { [weak self] in
      guard let self else { return [:] }
      return [
        "output": (files?.currentPath).map { .string(Self.absolute($0)) },
        "broker": broker?.status, "page": link.map { .string($0) },
        "real": .bool(session.isReal), "adapter": (try? invocation.adapter).map { .string("\($0)") },
        "skipped_bytes": session.central.skippedBytes.map { .integer($0) },
      ]
    }
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }

  /// Begins to count the records of the one device.
  func use(_ printer: TimedPrinter) {
    self.printer = printer
    guard let device = description.rings.first else { return }
    session.status.report("connected", of: device.address, name: device.name)
    session.status.count(device.address) { printer.progress }
    forgetMarks = session.annotations.onMark(of: device.address, name: device.name) { [weak printer] in
      printer?.mark($0, at: $1)
    }
  }

  /// The form of a file, by its name; csv if the name does not show it.
  private static func format(ofFile path: String) -> OutputFormat {
    path.hasSuffix(".jsonl") || path.hasSuffix(".ndjson") ? .jsonl : path.hasSuffix(".txt") ? .text : .csv
  }

  /// Describes the records, and writes the file beside the output.
  ///
  /// - Parameters:
  ///   - device: the device; a ring after ``describe(_:)``
  ///   - columns: the names of all columns
  func begin(_ device: some LinkedDevice, columns: [String]) async throws(Failure) {
    let ring = description(of: device, name: session.ringName)
    self.device = ring.address.description
    description.rings = [ring]
    publisher = publisher(of: ring.address, name: session.ringName)
    try await begin(columns: columns)
  }

  /// The messages of a device for the broker; nil without `--mqtt`.
  func publisher(of device: BluetoothAddress, name: String?) -> RingPublisher? {
    broker.map { RingPublisher($0, of: device, name: name) }
  }

  /// The same for several rings, which are added when they are known.
  func beginSeveral(columns: [String]) async throws(Failure) {
    description.isOfSeveral = true
    try await begin(columns: columns)
  }

  private func begin(columns: [String]) async throws(Failure) {
    description.command = invocation.commandLine
    description.columns = columns
    let now = session.timers.current.wholeMicroseconds
    var clock = self.clock.ending()
    description.start = (clock.text(now), now)
    description.intervalAsked = session.request.parameters
    files?.beginning = Array((header + (format == .csv ? columns.joined(separator: ",") + "\n" : "")).utf8)
    files?.description = { [weak self] in self?.descriptionText ?? [] }
    // Virtual time stands still during the call, so that it stays reproducible; Ctrl-C ends the wait.
    try await session.interruption.cancels { () async throws(Failure) in
      try await self.writeDescription(within: nil)
    }
  }

  /// Reads the settings of a ring's automatic measurements, once, if the data comes with a description.
  func describe(_ ring: RingClient) async throws {
    guard isDescribed, settings[ring.connection.peer] == nil else { return }
    let known = try await ring.measurementSettings()
    settings[ring.connection.peer] = SettingsFile(known, of: ring.firmware).settingsJSON
  }

  /// A device, with the settings that ``describe(_:)`` has read.
  func description(of device: some LinkedDevice, name: String?) -> RingDescription {
    let peer = device.connection.peer
    return RingDescription(
      name: name, address: peer, firmware: device.firmwareRevision, settings: settings[peer])
  }

  private var descriptionText: [UInt8] { Array((description.json.text + "\n").utf8) }

  /// Whether the data comes with a description of the ring.
  private(set) lazy var isDescribed = session.describesRing(invocation[LiveOption.header] || queue != nil)

  /// Adds one of several rings.
  ///
  /// - Returns: the lines before its records; empty without `--header`
  func add(_ ring: RingDescription) -> String {
    var own = description
    own.rings = [ring]
    own.isOfSeveral = false
    let isFirst = description.rings.isEmpty
    description.rings.append(ring)
    return header(own, lines: isFirst ? own.lines : [ring.line])
  }

  /// Describes one of several rings at its end.
  func complete(_ link: ReconnectingLink<some LinkedDevice>, _ results: [String: JSONValue]) {
    guard let connection = link.device?.connection,
      let index = description.rings.firstIndex(where: { $0.address == connection.peer })
    else { return }
    description.rings[index].interval = connection.parameters?.interval
    description.rings[index].results = results
  }

  /// The first lines of the output; empty without `--header`.
  var header: String { header(description, lines: description.lines) }

  private func header(_ description: DataDescription, lines: [String]) -> String {
    guard invocation[LiveOption.header] else { return "" }
    guard format == .jsonl else { return lines.map { "# \($0)\n" }.joined() }
    return description.record.line + "\n"
  }

  /// Whether the records go to a file, and not to standard output.
  var isFile: Bool { queue != nil }

  /// The folder of the files; nil if there is one file, or none.
  var folder: String? {
    invocation[LiveOption.output].flatMap { $0 != "-" && SeriesOption.isFolder($0) ? $0 : nil }
  }

  /// Where the records are written.
  var writer: LineWriter {
    if let queue { return LineWriter(queue) }
    return isHidden ? LineWriter(to: DiscardedRecords()) : Console.output(.drop)
  }

  /// Runs `work`, which prints the records; then ends them, and writes the results into the file beside the output, also if it
  /// fails.
  ///
  /// - Parameters:
  ///   - link: leads to the device
  ///   - results: the results of measurements, by name
  func complete(
    _ link: ReconnectingLink<some LinkedDevice>,
    results: @BluetoothActor () -> [String: JSONValue] = { [:] },
    _ work: @BluetoothActor () async throws -> Void
  ) async throws(Failure) {
    try await complete {
      let result = await outcome(of: work)
      forgetMarks()
      printer?.finish()
      complete(link, results())
      if let printer, printer.dropped > 0 {
        Console.error(
          "halo-raw: \(printer.dropped) of \(Console.counted(printer.progress.records, "record")) dropped because the output was not read in time"
        )
      }
      try result.get()
    }
  }

  /// The same for several rings, which `work` completes.
  func complete(_ work: @BluetoothActor () async throws -> Void) async throws(Failure) {
    let worked = await outcome(of: work)
    var clock = self.clock.ending()
    description.end = clock.text(session.timers.current.wholeMicroseconds)
    let written = await outcome {
      guard let queue else { return }
      try await Console.finish(queue)
      try await writeDescription(within: .seconds(10), completes: true)
    }
    let sent = await outcome { () async throws -> Void in try await broker?.finish() }
    // The first failure is the cause of the others.
    for result in [worked, written, sent] { try result.get() }
  }

  /// Replaces the file beside the output, on another thread: a disk can be slow.
  ///
  /// - Parameters:
  ///   - deadline: how long that may take; nil until the task is cancelled
  ///   - completes: whether the last file of a series is completed, too
  private func writeDescription(within deadline: Duration?, completes: Bool = false) async throws(Failure) {
    guard let path = files?.currentPath else { return }
    let bytes = descriptionText
    let completion = completes ? files?.completion : nil
    let result = await offTheLoop(deadline: deadline) {
      Result { () throws(FileError) in
        _ = try OutputFile.replace(path + ".json", with: bytes)
        try completion?()
      }
    }
    switch result {
    case .success?: return
    case .failure(let error)?: throw Failure(.cannotOpenFile, "cannot write \(error)")
    case nil: throw Failure(.outputFailed, "cannot write \(path.printable).json: the disk is too slow")
    }
  }
}

extension OutputFormat {
  /// The end of the names of files.
  fileprivate var suffix: String {
    switch self {
    case .text: "txt"
    case .csv: "csv"
    case .jsonl: "jsonl"
    }
  }
}
