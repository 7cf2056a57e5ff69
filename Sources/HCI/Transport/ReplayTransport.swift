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

  /// What of a file is played, and how.
  public struct Options: Hashable, Sendable {
    public var strictness = Strictness.strict
    /// The index of the adapter whose packets are played; nil for the first that the file has.
    public var adapter: UInt16?
    /// The number of the packet to begin with.
    public var first = 1

    public init(strictness: Strictness = .strict, adapter: UInt16? = nil, first: Int = 1) {
      self.strictness = strictness
      self.adapter = adapter
      self.first = first
    }
  }

  /// A packet that was sent differently.
  public struct Difference: Hashable, Sendable {
    /// The number of the packet in the file, counted from 1; nil after the end of the file.
    public var number: Int?
    /// What was sent in the recording; nil if it was over.
    public var recorded: [UInt8]?
    /// What the stack sent; nil if it sent nothing.
    public var sent: [UInt8]?
  }

  /// How what was sent compares with the recording.
  public struct Report: Hashable, Sendable {
    /// Packets that were sent as recorded.
    public var matched = 0
    public var firstDifference: Difference?
    /// Packets that were sent differently, in addition, or not at all.
    public var differences = 0
    /// Whether the stack waited for more when the recording was over.
    public var endedEarly = false
    /// The number of the first packet from the controller that the file does not have as a whole (snap length), and
    /// that was not played therefore.
    public var firstCut: Int?
    /// Bytes at the end of the file that are no whole record.
    public var truncatedBytes = 0
  }

  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)?
  /// Called when the recording shows that something outside of the stack happened next.
  public var onInterrupt: (() -> Void)?

  /// Called for each packet of the recording when it is played: when the stack has sent it, or before it receives it.
  public var onPlayed: ((CaptureRecord) -> Void)?

  public private(set) var report = Report()
  /// What the recording tells beforehand.
  public let host: RecordedHost
  /// What to add to the loop's microseconds to get the time of day of the recording, in microseconds since 1970-01-01
  /// UTC. Known once the replay has started.
  public var wallOffset: Int64 { (origin ?? 0) &- base.nanoseconds / 1000 }

  /// Whether all of the recording was played.
  public var isOver: Bool { next == nil }

  private var reader: CaptureReader
  private let options: Options
  private var next: CaptureRecord?
  private var origin: Int64?
  private var base = Instant.zero
  private var sent: [[UInt8]] = []
  private var isRunning = false
  /// The number of the record at which the stack was interrupted last.
  private var interruptedAt = -1

  /// - Throws: ``CaptureError`` if the file can't be read or has nothing to play
  public init(path: String, _ options: Options = Options()) throws(CaptureError) {
    host = try RecordedHost(path: path, options)
    reader = try CaptureReader(path: path, isReadAgain: true)
    self.options = options
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
      repeat { next = try reader.next() } while next.map { !isPlayed($0) } ?? false
      if origin == nil { origin = next?.info.microseconds }
    } catch {
      next = nil
      fail(error.description)
    }
  }

  /// Whether a record is a packet between the host and the controller that are played.
  private func isPlayed(_ record: CaptureRecord) -> Bool {
    guard case .hci = record.info.content, !record.bytes.isEmpty else { return false }
    return record.info.number >= options.first && record.info.adapter == host.adapter
      && CaptureNote.text(of: record.bytes) == nil
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
    onPlayed?(record)
    if !record.isCut {
      onPacket?(record.bytes.span.bytes, time)
    } else if report.firstCut == nil {
      report.firstCut = record.info.number
    }
    proceed()
  }

  private func compareRest() {
    while isRunning, !sent.isEmpty {
      differ(Difference(number: nil, recorded: nil, sent: sent.removeFirst()))
    }
  }

  private func compare(_ packet: [UInt8], with record: CaptureRecord) {
    // Of a packet that the file has in part, that part counts.
    guard packet.count != record.info.originalLength || !packet.starts(with: record.bytes) else {
      report.matched += 1
      onPlayed?(record)
      return
    }
    differ(Difference(number: record.info.number, recorded: record.bytes, sent: packet))
  }

  private func differ(_ difference: Difference) {
    report.differences += 1
    if report.firstDifference == nil { report.firstDifference = difference }
    if options.strictness == .strict { fail("the replay differs from the recording: \(difference)") }
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
    if options.strictness == .lenient || deadline == nil {
      differ(Difference(number: next.info.number, recorded: next.bytes, sent: nil))
      readNext()
      proceed()
      return true
    }
    return false
  }
}

extension ReplayTransport.Difference: CustomStringConvertible {
  /// With the bytes; what they mean is for those to say who know the layers above.
  public var description: String {
    let place = number.map { "packet \($0)" } ?? "after the end of the recording"
    let there = recorded.map { "the recording has \(Self.digits($0)), " } ?? ""
    return "\(place): \(there)the stack sent \(sent.map(Self.digits) ?? "nothing")"
  }

  private static func digits(_ packet: [UInt8]) -> String {
    Hex.string(packet.prefix(48), separator: " ") + (packet.count > 48 ? " …" : "")
  }
}
