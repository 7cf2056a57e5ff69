import BluetoothCore
import Capture
import Dissection
import EventLoop
import LineOutput

/// A run of `decode`.
@BluetoothActor
struct Decoding {
  /// Output is collected up to so many bytes while the input goes on.
  private static let outputSize = 1 << 16

  private let options: DecodeOptions
  private let text: PacketText
  private let dissector = Dissector(known: KnownRings(path: KnownRings.standardPath).devices)
  private var output = Console.output(.wait)
  private var start: Int64?
  private var summary = CaptureSummary()
  private var samples: SampleExtraction?
  private var page: PageWriter?

  init(_ options: DecodeOptions) {
    self.options = options
    text = PacketText(isColored: options.isColored)
    if case .samples(let format, let kinds) = options.form { samples = .init(format, kinds: kinds) }
  }

  consuming func run(_ path: String) async throws(Failure) {
    let interruption = Interruption()
    let file = try Result { () throws(CaptureError) in
      // A pipe is not waited for within `read`: Ctrl-C must come through.
      try OpenCapture(path, follow: options.isFollowing || !Console.isRegularFile(path))
    }.mapError(Failure.init).get()
    if case .page(let path) = options.form {
      let name = file.reader.path == "-" ? "standard input" : file.reader.path
      page = PageWriter(name: name, try PageFile(path: path))
    }
    reading: while !interruption.isRequested, !isOver {
      let progress: CaptureReader.Progress
      do throws(CaptureError) {
        progress = try decode(&file.reader)
      } catch {
        try? await finish("The capture ends here: \(error)")
        throw Failure(error)
      }
      switch progress {
      case .record: await EventLoop.shared.sleep(for: .zero)
      case .needsMore:
        output.flush()
        await file.waitForMore(interruption)
      case .end: break reading
      }
    }
    if file.reader.truncatedBytes > 0, !interruption.isRequested, !hasFailed {
      let words = "ends in the middle of a record; its \(file.reader.truncatedBytes) bytes are left out"
      try await finish("The capture \(words).")
      throw Failure(.badData, "\(path): \(words)")
    }
    try await finish(interruption.isRequested ? "Reading was interrupted: more packets may follow." : nil)
  }

  private var hasFailed: Bool { (page?.output ?? output).failure != nil }

  /// Whether the reader has gone, nothing can be written, or the page is full.
  private var isOver: Bool { hasFailed || page?.leavesOut == true }

  /// Writes what is left, and what is only known now.
  ///
  /// - Parameter remark: why a page has not the whole capture
  private mutating func finish(_ remark: String?) async throws(Failure) {
    if case .summary = options.form { output.write(SummaryText.lines(summary, dissector.servers)) }
    output.flush()
    if var page { try await page.finish(remark: remark) }
  }

  /// Takes as many records as make a good piece of output.
  private mutating func decode(_ reader: inout CaptureReader) throws(CaptureError) -> CaptureReader.Progress {
    for _ in 0..<4096 {
      let progress = try reader.advance()
      guard progress == .record else { return progress }
      show(dissector.dissect(reader.bytes, reader.info))
      if isOver { return .record }
    }
    return .record
  }

  private mutating func show(_ packet: DissectedPacket) {
    if start == nil { start = packet.info.microseconds }
    guard options.shows(packet, start: start) else { return }
    switch options.form {
    case .page: page?.add(packet, start: start)
    case .jsonl: PacketJSON.write(packet, into: &output)
    case .blocks: text.writeBlock(packet, start: start, into: &output)
    case .lines: text.writeLine(packet, start: start, into: &output)
    case .summary: summary.add(packet)
    case .samples: samples?.add(packet)
    }
    if output.pending >= Self.outputSize { output.flush() }
  }
}

/// A capture that is read bit by bit.
@BluetoothActor
private final class OpenCapture {
  var reader: CaptureReader

  init(_ path: String, follow: Bool) throws(CaptureError) {
    reader = try CaptureReader(path: path, follow: follow)
  }

  /// Waits until a pipe has something, or for a moment; or until the user wants to end.
  func waitForMore(_ interruption: Interruption) async {
    guard !reader.isRegularFile else { return await interruption.sleep(for: .milliseconds(50)) }
    let descriptor = reader.descriptor
    await interruption.cancels { () async in await Self.readable(descriptor) }
  }

  private static func readable(_ descriptor: Int32) async {
    try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
      var watch: EventLoop.Watch?
      watch = try? EventLoop.shared.watch(descriptor, for: .readable) { _ in
        watch?.cancel()
        done(.success(()))
      }
      if watch == nil { done(.success(())) }
      return {
        watch?.cancel()
        done(.failure(CancellationError()))
      }
    }
  }
}
