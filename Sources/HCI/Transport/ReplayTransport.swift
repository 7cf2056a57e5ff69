import BluetoothCore
import Capture
import EventLoop

/// A recorded session that plays the controller. What the controller sent then is delivered as soon as the stack
/// has sent what it had sent by then, with the times of the recording; what the stack sends is compared with what
/// was sent.
///
/// Time is virtual: a replay takes as long as the stack takes to compute. Where the recording waited for a
/// person (Ctrl-C, a count that was reached, a program that ended), ``onInterrupt`` is called.
@BluetoothActor
public final class ReplayTransport: HCITransport {
  public enum Strictness: Hashable, Sendable {
    /// The first difference ends the replay.
    case strict
    /// Differences are counted, and the recording goes on.
    case lenient
  }

  /// How what was sent compares with the recording.
  public struct Report: Hashable, Sendable {
    /// Packets that were sent as recorded.
    public var matched = 0
    /// The first difference, in words.
    public var firstDifference: String?
    /// Packets that were sent differently, in addition, or not at all.
    public var differences = 0
    /// Whether the stack waited for more when the recording was over.
    public var endedEarly = false
    /// Bytes at the end of the file that are no whole record.
    public var truncatedBytes = 0
  }

  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)?
  /// Called when the recording shows that something outside of the stack happened next.
  public var onInterrupt: (() -> Void)?

  public private(set) var report = Report()
  /// The address that the recorded host gave itself with LE Set Random Address, if it did.
  public let randomAddress: BluetoothAddress?
  /// The commands that are the kernel's own, if the recording was made beside the kernel; else nil. No stack can give
  /// them again, so that such a recording can't be replayed.
  public let kernelCommands: [HCIOpcode]?
  /// The remarks of the recording; see ``CaptureNote``.
  public let notes: [String]
  /// What to add to the loop's microseconds to get the time of day of the recording, in microseconds since 1970-01-01
  /// UTC. Known once the replay has started.
  public var wallOffset: Int64 { (origin ?? 0) &- base.nanoseconds / 1000 }

  private var reader: CaptureReader
  private let strictness: Strictness
  private var next: CaptureRecord?
  private var origin: Int64?
  private var base = Instant.zero
  private var sent: [[UInt8]] = []
  private var isRunning = false
  /// The number of the record at which the stack was interrupted last.
  private var interruptedAt = -1

  /// - Throws: ``CaptureError`` if the file can't be read or has packets of another kind
  public init(path: String, strictness: Strictness = .strict) throws(CaptureError) {
    let reader = try CaptureReader(path: path)
    if let format = reader.format, format != .btsnoop(.h4) {
      throw CaptureError(.notReplayable(format), path: path)
    }
    self.reader = reader
    self.strictness = strictness
    let host = try RecordedHost(path: path)
    randomAddress = host.randomAddress
    kernelCommands = host.kernelCommands
    notes = host.notes
  }

  public func start() {
    isRunning = true
    base = EventLoop.shared.now
    EventLoop.shared.useVirtualTime { [weak self] deadline in self?.idle(until: deadline) ?? false }
    readNext()
    proceed()
  }

  public func close() {
    guard isRunning else { return }
    isRunning = false
    report.truncatedBytes = reader.truncatedBytes
  }

  public func send(_ packet: RawSpan) {
    guard isRunning else { return }
    sent.append(Array(packet))
    EventLoop.shared.timers.schedule(after: .zero) { [weak self] in self?.proceed() }
  }

  private func fail(_ reason: String) {
    guard isRunning else { return }
    close()
    onClose?(reason)
  }

  private func readNext() {
    do throws(CaptureError) {
      repeat { next = try reader.next() } while next.map { CaptureNote.text(of: $0.bytes) != nil } ?? false
      if origin == nil { origin = next?.info.microseconds }
    } catch {
      next = nil
      fail(error.description)
    }
  }

  /// When a record was made, on the loop's clock; the start of the replay if the file does not tell.
  private func time(of record: CaptureRecord) -> Instant {
    guard let time = record.info.microseconds, let origin else { return base }
    return base + .microseconds(max(0, time &- origin))
  }

  private var isDelivering = false

  /// Goes through the recording up to where the stack must send something.
  private func proceed() {
    while isRunning, !isDelivering, let record = next {
      if record.info.direction == .hostToController {
        guard !sent.isEmpty else { return }
        compare(sent.removeFirst(), with: record)
        readNext()
      } else {
        isDelivering = true
        let due = time(of: record)
        EventLoop.shared.timers.schedule(at: due) { [weak self] in self?.deliver(record, due) }
        return
      }
    }
    if next == nil { compareRest() }
  }

  private func deliver(_ record: CaptureRecord, _ time: Instant) {
    isDelivering = false
    guard isRunning else { return }
    readNext()
    if !record.isCut { onPacket?(record.bytes.span.bytes, time) }
    proceed()
  }

  private func compareRest() {
    while isRunning, !sent.isEmpty {
      let packet = sent.removeFirst()
      differ("after the end of the recording, the stack sent \(describe(packet))")
    }
  }

  private func compare(_ packet: [UInt8], with record: CaptureRecord) {
    guard packet != record.bytes else {
      report.matched += 1
      return
    }
    differ(
      "frame \(reader.info.number): the recording has \(describe(record.bytes)), the stack sent \(describe(packet))"
    )
  }

  private func differ(_ what: String) {
    report.differences += 1
    if report.firstDifference == nil { report.firstDifference = what }
    if strictness == .strict { fail("the replay differs from the recording: \(what)") }
  }

  private func describe(_ packet: [UInt8]) -> String {
    Hex.string(packet.prefix(48), separator: " ") + (packet.count > 48 ? " …" : "")
  }

  /// A timer of the original may have been recorded a little before the same one of the replay.
  private static let timerSlack = Duration.milliseconds(1)

  /// Nothing is left to do but to wait. If the stack's next timer is due before the next packet was sent in the
  /// recording, that timer made it be sent. Else somebody outside of the stack did.
  private func idle(until deadline: Instant?) -> Bool {
    guard isRunning, !isDelivering, sent.isEmpty else { return false }
    if let next, let deadline, deadline <= time(of: next) + Self.timerSlack { return false }
    guard interruptedAt == reader.info.number else {
      interruptedAt = reader.info.number
      if let onInterrupt {
        onInterrupt()
        return true
      }
      return false
    }
    guard let next else {
      report.endedEarly = true
      fail("the recording ends here")
      return true
    }
    // The interruption led to nothing.
    if strictness == .lenient || deadline == nil {
      differ("frame \(reader.info.number) was not sent: \(describe(next.bytes))")
      readNext()
      proceed()
      return true
    }
    return false
  }
}
