import HCI
import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloDissection
import RingLink

/// The samples of the rings in a capture, as `stream` prints them.
struct SampleExtraction: ~Copyable {
  /// The knowledge of one ring.
  private final class RingSamples {
    var writer: SampleWriter?
    /// The encoding of acceleration, by the firmware in the capture.
    var encoding: AccelerometerEncoding?
    /// The packets of its counted stream.
    var packets = PacketCounter()
    var light: CountedSample.Light?
    /// The last loss of its link, until the next sample on another link.
    var loss: (reason: HCIErrorCode, time: Instant)?
  }

  private let format: OutputFormat
  private let kinds: SampleKinds
  /// By the address, if it is known.
  private var rings: [BluetoothAddress?: RingSamples] = [:]
  private let origin = RecordOrigin()
  private var hasBegun = false
  /// Whether csv has the columns of counted samples.
  private var hasCounted = false
  /// The offset from UTC where the capture was made, in seconds, if the capture has it; else 0.
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
    if let found = packet.accelerometerEncoding { ring(peer).encoding = found }
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
    guard let frame = packet.ring else { return }
    if frame.requestsCountedStream { rings[peer]?.packets.requestedAgain() }
    if let sample = frame.sample {
      let ring = begin(peer, isCounted: false)
      _ = ring.writer?.print(sample, at: time)
    } else if let sample = frame.countedSample {
      add(sample, to: begin(peer, isCounted: true), at: time)
    }
  }

  private func add(_ sample: CountedSample, to ring: RingSamples, at time: Instant) {
    // The other light is another stream.
    if ring.light != sample.light { ring.packets.interrupt() }
    ring.light = sample.light
    let step = ring.packets.add(sample)
    if step.kind != .next { ring.writer?.mark(.packets(step), at: time) }
    guard step.kind != .doubled else { return }
    _ = ring.writer?.collect(sample, packet: step.number, at: time)
    _ = ring.writer?.flush()
  }

  /// The ring of a sample, with a writer, after the mark of a lost link.
  ///
  /// - Parameter isCounted: whether its sample is; csv has the columns for the first one of the capture
  private mutating func begin(_ peer: BluetoothAddress?, isCounted: Bool) -> RingSamples {
    let ring = ring(peer)
    if ring.writer == nil {
      if !hasBegun { hasCounted = isCounted }
      let zone = utcOffset
      ring.writer = SampleWriter(
        format, kinds: kinds, isCounted: hasCounted, encoding: ring.encoding,
        clock: RecordClock(offset: 0) { _ in zone }, ring: peer?.description ?? "", origin: origin,
        hasColumns: !hasBegun, output: Console.output(.wait))
      hasBegun = true
    }
    if let loss = ring.loss {
      ring.writer?.mark(.gap("connection lost: \(loss.reason)"), at: loss.time)
      ring.packets.interrupt()
    }
    ring.loss = nil
    return ring
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
