import BluetoothCore
import Capture
import Dissection
import EventLoop
import KnownDevices
import HCI
import LineOutput
import RingLink

/// One run of `decode`.
@BluetoothActor
struct Decoding: ~Copyable {
  /// In bytes. Output is collected up to this size while there is input.
  private static let outputSize = 1 << 16

  private let options: DecodeOptions
  private var text: PacketText
  private var json = PacketJSON()
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
      // Do not block in `read` on a pipe: Ctrl-C must have an effect.
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
      case .record: await EpollLoop.shared.timers.sleep(for: .zero)
      case .needsMore:
        output.flush()
        await file.waitForMore(interruption)
      case .end: break reading
      }
    }
    if file.reader.truncatedBytes > 0, !interruption.isRequested, !hasFailed {
      let reason = "ends in the middle of a record; its \(file.reader.truncatedBytes) bytes are left out"
      try await finish("The capture \(reason).")
      throw Failure(.badData, "\(path): \(reason)")
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
  }

  /// Decodes up to 4096 records.
  private mutating func decode(_ reader: inout CaptureReader) throws(CaptureError) -> CaptureReader.Progress {
    // One for all packets: its memory is used again.
    var packet = DissectedPacket()
    for _ in 0..<4096 {
      let progress = try reader.advance()
      guard progress == .record else { return progress }
      dissector.dissect(reader.bytes, reader.info, into: &packet)
      show(packet)
      if isOver { return .record }
    }
    return .record
  }

  private mutating func show(_ packet: DissectedPacket) {
    if start == nil { start = packet.info.microseconds }
    guard options.shows(packet, start: start) else { return }
    switch options.form {
    case .page: page?.add(packet, start: start)
    case .jsonl: json.write(packet, into: &output)
    case .blocks: text.writeBlock(packet, start: start, into: &output)
    case .lines: text.writeLine(packet, start: start, into: &output)
    case .summary, .summaryJSON: summary.add(packet)
    case .samples: samples?.add(packet)
    }
    if output.pending >= Self.outputSize { output.flush() }
  }
}

/// A capture that is read in steps.
@BluetoothActor
private final class OpenCapture {
  var reader: CaptureReader

  init(_ path: String, follow: Bool) throws(CaptureError) {
    reader = try CaptureReader(path: path, follow: follow)
  }

  /// Waits until a pipe is readable, or 50 ms for a file that grows; or until the interruption.
  func waitForMore(_ interruption: Interruption) async {
    guard !reader.isRegularFile else {
      return await interruption.sleep(for: .milliseconds(50), in: EpollLoop.shared.timers)
    }
    let descriptor = reader.descriptor
    await interruption.cancels { () async in await Self.readable(descriptor) }
  }

  private static func readable(_ descriptor: Int32) async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      var watch: EpollLoop.Watch?
      let end = OneShot<Void> { _ in
        watch?.cancel()
        done(.success(()))
      }
      watch = try? EpollLoop.shared.watch(descriptor, for: .readable) { _ in end() }
      if watch == nil { end() }
      return { end() }
    }
  }
}

/// The samples of the rings in a capture, as `stream` prints them.
struct SampleExtraction: ~Copyable {
  /// What is known of a ring.
  private final class RingSamples {
    var writer: SampleWriter?
    /// The encoding of acceleration, by the firmware in the capture.
    var encoding: AccelerometerEncoding?
    /// The last loss of its link, until the next sample on another link.
    var loss: (reason: HCIErrorCode, time: Instant)?
  }

  private let format: OutputFormat
  private let kinds: SampleKinds
  /// By the address, if it is known.
  private var rings: [BluetoothAddress?: RingSamples] = [:]
  private let origin = RecordOrigin()
  private var hasBegun = false
  /// The offset from UTC where the capture was made, in seconds, if it says so; else 0.
  private var utcOffset = 0

  /// The number of rings that are kept apart; their records are numbered from 0 again if a capture has more.
  private static let maximumRings = 256

  init(_ format: OutputFormat, kinds: SampleKinds) {
    self.format = format
    self.kinds = kinds
  }

  mutating func add(_ packet: DissectedPacket) {
    if !hasBegun, let note = CaptureNote.text(of: packet.bytes) {
      utcOffset = [SessionNote].utcOffset(in: note) ?? utcOffset
    }
    let peer = packet.link?.peer
    if let firmware = packet.readText(of: RingGATT.firmwareRevision) {
      let family = RingFirmware(firmwareRevision: firmware, hardwareRevision: nil)
      if let found = family.accelerometerEncoding { ring(peer).encoding = found }
    }
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    let time = Instant(nanoseconds: overflow ? 0 : nanoseconds)
    if packet.hci?.event == .disconnectionComplete, packet.hci?.status == .success,
      let reason = packet.bytes.last, let ring = rings[peer], ring.writer != nil
    {
      ring.loss = (HCIErrorCode(rawValue: reason), time)
    }
    if let error = packet.rejection {
      // Before the first sample there is no stream whose frames are marked.
      rings[peer]?.writer?.mark(.rejected(error.reason, error.bytes), at: time)
      return
    }
    guard let sample = packet.ring?.sample else { return }
    let ring = ring(peer)
    if ring.writer == nil {
      let zone = utcOffset
      ring.writer = SampleWriter(
        format, kinds: kinds, encoding: ring.encoding, clock: RecordClock(offset: 0) { _ in zone },
        ring: peer?.description ?? "", origin: origin, hasColumns: !hasBegun, output: Console.output(.wait))
      hasBegun = true
    }
    if let loss = ring.loss { ring.writer?.mark(.gap("connection lost: \(loss.reason)"), at: loss.time) }
    ring.loss = nil
    _ = ring.writer?.print(sample, at: time)
  }

  private mutating func ring(_ peer: BluetoothAddress?) -> RingSamples {
    if let ring = rings[peer] { return ring }
    if rings.count >= Self.maximumRings { rings.removeAll() }
    let ring = RingSamples()
    rings[peer] = ring
    return ring
  }
}

extension DissectedPacket {
  /// Why a ring's frame is rejected, and its bytes; nil for any other packet.
  fileprivate var rejection: (reason: String, bytes: [UInt8])? {
    guard let ring, ring.isFromRing, case .damaged = ring.content else { return nil }
    let bytes = Array(source[ring.range])
    guard bytes.first != BulkFrame.magic else { return nil }
    do throws(RingFrameError) {
      _ = try RingFrame(parsing: bytes.span.bytes)
      return nil
    } catch {
      return (error.description, bytes)
    }
  }
}
