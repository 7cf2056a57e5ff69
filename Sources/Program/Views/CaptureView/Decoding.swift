import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloDissection
import HaloSecurityManager
import HaloSystem
import HaloStorage

/// One run of `decode`.
@BluetoothActor
package struct Decoding: ~Copyable {
  /// In bytes. Output is collected up to this size while there is input.
  private static let outputSize = 1 << 16

  private let options: DecodeOptions
  private var text: PacketText
  private let json: PacketJSON
  private let dissector: Dissector
  private var output = Console.output(.wait)
  private var start: Int64?
  private var summary = CaptureSummary()
  private var samples: SampleExtraction?
  private var values: ValueTable?
  private var page: PageWriter?
  private var copy: CaptureCopy?
  /// Whether the form of the output needs packets that are not shown, too: they may belong to others that are.
  private let takesAll: Bool
  /// The link type of a packet of another kind than Bluetooth HCI; nil if there was none.
  private var foreign: CaptureLinkType?
  private var hasBluetooth = false

  private init(_ options: DecodeOptions) {
    self.options = options
    dissector = Self.makeDissector(options)
    text = PacketText(isColored: options.isColored, showsKeys: options.showsKeys)
    json = PacketJSON(showsKeys: options.showsKeys)
    takesAll =
      switch options.form {
      case .copy, .values: true
      default: false
      }
    if case .samples(let format, let kinds) = options.form { samples = .init(format, kinds: kinds) }
  }

  package static func run(_ options: DecodeOptions, _ paths: [String]) async throws(Failure) {
    let interruption = Interruption()
    guard let source = try await open(paths, isFollowed: options.isFollowing, interruption) else { return }
    var options = options
    if options.filter?.hasNames == true, !options.isFollowing, paths.allSatisfy(Console.isRegularFile) {
      try await learnNames(source, interruption, &options.filter)
    }
    var personal: PersonalData?
    if case .copy(_, let removal) = options.form, removal != .nothing {
      guard paths.allSatisfy(Console.isRegularFile) else {
        throw .usage(
          "\(removal == .keys ? "--redact-keys" : "--redact") reads the capture twice; a pipe can't be, so save it as a file"
        )
      }
      personal = try await learnPersonalData(source, interruption)
      if removal == .keys { personal = personal?.keysOnly }
      if interruption.isRequested { return }
    }
    try await Decoding(options).run(source, personal, interruption)
  }

  /// Opens the files. An archive can take seconds.
  ///
  /// - Returns: nil after an interruption
  private static func open(
    _ paths: [String], isFollowed: Bool, _ interruption: Interruption
  ) async throws(Failure) -> CaptureSource? {
    let opening = await interruption.cancels { () async in
      await offTheLoop {
        Result { () throws(CaptureError) in
          try CaptureSource(paths, follow: isFollowed) { Termination.hasBegun }
        }
      }
    }
    guard let opening, !interruption.isRequested else { return nil }
    let source = try opening.mapError(Failure.init).get()
    // Which of an archive's files they are is not on the command line.
    for name in source.names where !paths.contains(name) { Console.error("reading \(name.printable)") }
    for name in source.summaries {
      Console.error(
        "\(name.printable) is a summary of Android (btsnooz): most packets are cut; the HCI snoop log has all"
      )
    }
    return source
  }

  private consuming func run(
    _ source: CaptureSource, _ personal: PersonalData?, _ interruption: Interruption
  ) async throws(Failure) {
    let file = try OpenCapture(source, isFollowed: options.isFollowing)
    if case .page(let path) = options.form {
      let names = source.names.map { $0 == "-" ? "standard input" : $0 }
      page = PageWriter(name: names.joined(separator: ", "), try PageFile(path: path))
    }
    if case .copy(let path, _) = options.form { copy = CaptureCopy(path, personal) }
    if case .values(let format, let choice) = options.form { values = .init(format, choice, dissector) }
    reading: while !interruption.isRequested, !isOver {
      let progress: CaptureReader.Progress
      do throws(CaptureError) {
        progress = try decode(&file.reader)
      } catch {
        try? await finish(error.leftOut > 0 ? "\(error)." : "The capture ends here: \(error)")
        throw Failure(error)
      }
      switch progress {
      case .record where copy?.isBehind == true: await copy?.drain(interruption)
      case .record: await EpollLoop.shared.timers.sleep(for: .zero)
      case .needsMore:
        output.flush()
        await file.waitForMore(interruption)
      case .end: break reading
      }
    }
    if let foreign, !hasBluetooth, !interruption.isRequested {
      try? await finish("The capture has no Bluetooth.")
      throw Failure(CaptureError(.unsupportedLinkType(foreign), path: file.reader.path))
    }
    if file.reader.truncatedBytes > 0, !interruption.isRequested, !hasFailed {
      let reason = "ends in the middle of a record; its \(file.reader.truncatedBytes) bytes are left out"
      try await finish("The capture \(reason).")
      throw Failure(.badData, "\(file.reader.path): \(reason)")
    }
    try await finish(
      interruption.isRequested ? "Reading was interrupted; the capture may have more packets." : nil)
  }

  private var hasFailed: Bool {
    switch page {
    case .some(let page): page.hasFailed
    case nil: output.failure != nil
    }
  }

  /// Whether the output is closed or failed, or the page is full.
  private var isOver: Bool {
    switch page {
    case .some(let page): page.hasFailed || page.leavesOut
    case nil: output.failure != nil
    }
  }

  /// Writes the rest of the output and the summary.
  ///
  /// - Parameter remark: why a report does not have the whole capture
  private mutating func finish(_ remark: String?) async throws(Failure) {
    switch options.form {
    case .summary: output.write(SummaryText.lines(summary, dissector.servers))
    case .summaryJSON: SummaryJSON.write(summary, dissector.servers, into: &output)
    default: break
    }
    output.flush()
    if var page = page.take() { try await page.finish(remark: remark, dissector) }
    if var copy = copy.take() {
      do throws(CaptureError) {
        try await copy.finish()
      } catch {
        throw Failure(error)
      }
    }
  }

  /// For a first reading, or for a copy, which has all packets as they are, nothing is decrypted.
  private static func makeDissector(_ options: DecodeOptions? = nil) -> Dissector {
    let known = KnownRings(path: KnownRings.standardPath).devices
    guard let options, !options.form.isCopy else { return Dissector(known: known) }
    var bonds: [Bond] = []
    if options.usesBonds, let path = BondFile.standardPath {
      do throws(BondStoreError) { bonds = try BondFile(path: path).load() } catch {
        Console.error("halo-raw: \(error); continuing without them")
      }
    }
    return Dissector(
      known: known,
      secrets: DissectionSecrets(
        library: LibcryptoCryptography.shared, longTermKeys: options.longTermKeys, bonds: bonds,
        triesPasskeys: options.triesPasskeys))
  }

  /// Reads the file for the names of devices that the filter selects: the packets before a name are theirs, too.
  private static func learnNames(
    _ source: CaptureSource, _ interruption: Interruption, _ filter: inout PacketFilter?
  ) async throws(Failure) {
    var learned = filter
    try await readFirst(source, interruption) { learned?.learn($0) }
    filter = learned
  }

  /// Reads the file for the addresses, names and keys that a redacted copy must not have.
  private static func learnPersonalData(
    _ source: CaptureSource, _ interruption: Interruption
  ) async throws(Failure) -> PersonalData {
    var data = PersonalData()
    let finder = PersonalFinder()
    try await readFirst(source, interruption) { finder.learn($0, into: &data) }
    if data.isFull {
      throw Failure(
        .badData,
        "the capture has more than 131072 addresses or names, which can't all be replaced; take a part of it")
    }
    return data
  }

  /// Reads a file once before it is shown.
  private static func readFirst(
    _ source: CaptureSource, _ interruption: Interruption, _ learn: (DissectedPacket) -> Void
  ) async throws(Failure) {
    let file = try OpenCapture(source, isFollowed: false)
    let dissector = makeDissector()
    var packet = DissectedPacket()
    var count = 0
    // A file that is damaged further on is reported when it is shown.
    while !interruption.isRequested, (try? file.reader.advance()) == .record {
      dissector.dissect(file.reader.bytes, file.reader.info, into: &packet)
      learn(packet)
      count += 1
      if count % 4096 == 0 { await EpollLoop.shared.timers.sleep(for: .zero) }
    }
  }

  /// Decodes up to 4096 records.
  private mutating func decode(_ reader: inout CaptureReader) throws(CaptureError) -> CaptureReader.Progress {
    // One for all packets: its memory is used again.
    var packet = DissectedPacket()
    for _ in 0..<4096 {
      let progress = try reader.advance()
      guard progress == .record else { return progress }
      dissector.dissect(reader.bytes, reader.info, into: &packet)
      if case .foreign(let type) = packet.info.content, packet.hci == nil {
        foreign = type
      } else {
        hasBluetooth = true
      }
      do throws(CaptureError) {
        try show(packet, linkHeader: reader.linkHeader)
      } catch {
        throw CaptureError(error.reason, path: error.path ?? reader.path)
      }
      if isOver || takesAll && copy?.isBehind == true { return .record }
    }
    return .record
  }

  private mutating func show(_ packet: DissectedPacket, linkHeader: RawSpan) throws(CaptureError) {
    if start == nil { start = packet.info.microseconds }
    let isShown = options.shows(packet, start: start)
    if takesAll { return try take(packet, linkHeader, isShown: isShown) }
    guard isShown else { return }
    switch options.form {
    case .copy, .values: break
    case .page: page?.add(packet, start: start)
    case .jsonl: json.write(packet, into: &output)
    case .blocks: text.writeBlock(packet, start: start, into: &output)
    case .lines: text.writeLine(packet, start: start, into: &output)
    case .summary, .summaryJSON: summary.add(packet)
    case .samples: samples?.add(packet)
    }
    if output.pending >= Self.outputSize { output.flush() }
  }

  /// Takes a packet whether it is shown or not.
  @inline(never)
  private mutating func take(
    _ packet: DissectedPacket, _ linkHeader: RawSpan, isShown: Bool
  ) throws(CaptureError) {
    // A part of a frame goes with the end of it.
    try copy?.add(packet, linkHeader: linkHeader, isSelected: isShown)
    // A value that is not shown may have answers that are.
    values?.add(packet, start: start, isShown: isShown)
  }
}

/// A capture that is read in steps.
@BluetoothActor
private final class OpenCapture {
  var reader: CaptureReader

  init(_ source: CaptureSource, isFollowed: Bool) throws(Failure) {
    do throws(CaptureError) {
      // Do not block in `read` on a pipe: Ctrl-C must have an effect.
      reader = try CaptureReader(source, follow: isFollowed, waits: false, skipsDamage: true)
    } catch {
      throw Failure(error)
    }
  }

  /// Waits until a pipe is readable, or 50 ms for a file that grows; or until the interruption.
  func waitForMore(_ interruption: Interruption) async {
    guard !reader.isRegularFile else {
      return await interruption.sleep(for: .milliseconds(50), in: EpollLoop.shared.timers)
    }
    let descriptor = reader.descriptor
    await interruption.cancels { () async in await untilReadable(descriptor) }
  }
}
