import HCI
import HaloBluetoothCore
import HaloCapture

/// Replays a recorded session in place of the controller. Recorded packets from the controller are delivered as soon as
/// the stack has sent all packets that precede them, with the recorded times; packets from the stack are compared with
/// the recorded ones, in their order as far as one follows from the other (`SentPackets`).
///
/// Time is virtual: a replay takes only as long as the stack's computation. Where the recording waited for an external
/// event (Ctrl-C, a count that was reached, a program that ended), ``onInterrupt`` is called.
@BluetoothActor
package final class ReplayTransport: HCITransport {
  /// The consequence of a difference.
  package enum Strictness: Hashable, Sendable {
    /// The first difference ends the replay.
    case strict
    /// Differences are counted, and the replay continues.
    case lenient
  }

  /// Which part of a file is replayed, and how.
  package struct Options: Hashable, Sendable {
    /// The consequence of a difference.
    package var strictness = Strictness.strict
    /// The index of the adapter whose packets are replayed; nil for the first in the file.
    package var adapter: UInt16?
    /// The number of the first packet to replay.
    package var first = 1

    package init(strictness: Strictness = .strict, adapter: UInt16? = nil, first: Int = 1) {
      self.strictness = strictness
      self.adapter = adapter
      self.first = first
    }
  }

  /// A packet that differs from the recording.
  package struct Difference: Hashable, Sendable {
    /// The number of the packet in the file, counted from 1; nil after the end of the file.
    package var number: Int?
    /// The recorded packet; nil if the recording had ended.
    package var recorded: [UInt8]?
    /// The packet from the stack; nil if it sent none.
    package var sent: [UInt8]?
    /// The length of the recorded packet, of which the file may have only a part; nil if there is none.
    package var originalLength: Int?

    package init(number: Int?, recorded: [UInt8]?, sent: [UInt8]?, originalLength: Int? = nil) {
      (self.number, self.recorded, self.sent) = (number, recorded, sent)
      self.originalLength = originalLength ?? recorded?.count
    }
  }

  /// The result of comparing the stack's packets with the recording.
  package struct Report: Hashable, Sendable {
    /// The number of packets sent as recorded.
    package var matched = 0
    /// The first packet that differs; nil if none does.
    package var firstDifference: Difference?
    /// The number of packets that differ, are additional, or are missing.
    package var differences = 0
    /// Whether the stack was waiting for more at the end of the recording.
    package var endedEarly = false
    /// The number of the first packet from the controller that is truncated in the file (snap length), and therefore
    /// not replayed.
    package var firstCut: Int?
    /// Why the rest of the file can't be read.
    package var damage: CaptureError?
    /// The number of bytes of an incomplete record at the end of the file.
    package var truncatedBytes = 0
  }

  package var onPacket: ((RawSpan, Arrival) -> Void)?
  package var onClose: ((String) -> Void)?
  /// Called when the recording shows that an external event happened next.
  package var onInterrupt: (() -> Void)?

  /// Called for each packet of the recording when it is replayed: when the stack has sent it, or before the stack
  /// receives it.
  package var onPlayed: ((CaptureRecord) -> Void)?

  /// The result so far.
  package private(set) var report = Report()
  /// The properties of the recorded host.
  package let host: RecordedHost
  /// The offset from the loop's microseconds to the recorded time of day, in microseconds since 1970-01-01 UTC. Valid
  /// once the replay has started.
  package var wallOffset: Int64 { (origin ?? 0) &- base.nanoseconds / 1000 }

  /// Whether the whole recording was replayed.
  package var isOver: Bool { next == nil }

  package var timers: Timers { time.timers }
  /// The preferences of the recorded host.
  package var linkPreferences: LinkPreferences? { host.linkPreferences }
  /// As the recorded host has done.
  package var watchesState: Bool { host.watchesState }

  private let time: VirtualTime
  private var reader: CaptureReader
  private let options: Options
  private var next: CaptureRecord?
  private var origin: Int64?
  private var base = Instant.zero
  private var sent = SentPackets()
  /// Whether something was sent since ``proceed()`` has looked.
  private var isToProceed = false
  private var isRunning = false
  /// The number of the record at the last interruption.
  private var interruptedAt = -1

  /// - Parameters:
  ///   - path: the capture
  ///   - options: how to replay it
  ///   - time: the virtual time, which the event loop advances
  /// - Throws: `CaptureError` if the file can't be read or has nothing to replay
  package init(path: String, _ options: Options = Options(), time: VirtualTime) throws(CaptureError) {
    host = try RecordedHost(path: path, options)
    reader = try CaptureReader(path: path, isReadAgain: true)
    self.options = options
    self.time = time
  }

  package func start() {
    isRunning = true
    base = timers.now
    time.onIdle = { [weak self] deadline in self?.idle(until: deadline) ?? false }
    readNext()
    proceed()
  }

  package func close() {
    guard isRunning else { return }
    isRunning = false
    report.truncatedBytes = reader.truncatedBytes
  }

  package func send(_ packet: RawSpan) {
    guard isRunning else { return }
    if let opcode = HCIOpcode(ofCommand: packet), Self.dispensable.contains(opcode),
      !host.commands.contains(opcode)
    {
      return refuse(opcode)
    }
    sent.append(packet)
    isToProceed = true
    timers.schedule(after: .zero) { [weak self] in self?.proceed() }
  }

  /// Commands that the stack does without where they are refused, and that earlier versions of it, and other hosts, do not send.
  /// Where the recording has none of them, they are no difference, and refused.
  private static let dispensable: Set<HCIOpcode> = [
    WriteLEHostSupport.opcode, LEReadSupportedStates.opcode,
  ]

  private func refuse(_ opcode: HCIOpcode) {
    timers.schedule(after: .zero) { [weak self] in
      guard let self, isRunning else { return }
      var writer = ByteWriter(capacity: 8)
      HCIEvent.commandStatus(CommandStatus(status: .unknownCommand, opcode: opcode)).packet(into: &writer)
      onPacket?(writer.span, Arrival(timers.now))
    }
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
      report.damage = error
      fail(error.description)
    }
  }

  /// Whether a record is a packet between the replayed host and controller.
  private func isPlayed(_ record: CaptureRecord) -> Bool {
    guard case .hci = record.info.content, !record.bytes.isEmpty else { return false }
    return record.info.number >= options.first && record.info.adapter == host.adapter
      && CaptureNote.text(of: record.bytes) == nil
  }

  /// The time of a record on the loop's clock; the start of the replay if it has no timestamp.
  private func time(of record: CaptureRecord) -> Instant {
    guard let time = record.info.microseconds, let origin else { return base }
    return base + .microseconds(max(0, time &- origin))
  }

  private var isDelivering = false

  /// Advances in the recording until the stack has to send a packet.
  private func proceed() {
    isToProceed = false
    while isRunning, !isDelivering, let record = next {
      if record.info.direction == .hostToController {
        guard sent.remove(record.bytes, originalLength: record.info.originalLength) else { return }
        report.matched += 1
        onPlayed?(record)
        readNext()
      } else {
        isDelivering = true
        let due = time(of: record)
        timers.schedule(at: due) { [weak self] in self?.deliver(record, due) }
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
      onPacket?(record.bytes.span.bytes, Arrival(time))
    } else if report.firstCut == nil {
      report.firstCut = record.info.number
    }
    proceed()
  }

  private func compareRest() {
    while isRunning, let packet = sent.popFirst() {
      differ(Difference(number: nil, recorded: nil, sent: packet))
    }
  }

  private func differ(_ difference: Difference) {
    report.differences += 1
    if report.firstDifference == nil { report.firstDifference = difference }
    if options.strictness == .strict { fail("the replay differs from the recording: \(difference)") }
  }

  /// Goes on behind a recorded packet that the stack has not sent.
  private func pass(_ record: CaptureRecord, sent packet: [UInt8]?) {
    differ(
      Difference(
        number: record.info.number, recorded: record.bytes, sent: packet,
        originalLength: record.info.originalLength))
    readNext()
    proceed()
  }

  /// A timer may have been recorded slightly before the same timer of the replay.
  private static let timerSlack = Duration.milliseconds(1)
  /// How long a lenient replay waits for the stack's own timers before it leaves out a packet that the stack did not send.
  private static let lenientWait = Duration.seconds(30)

  /// No work is left. If the stack's next timer is due before the next packet was sent in the recording, that timer
  /// will send it. Otherwise the stack has sent another one in its place, or an external event has caused it.
  private func idle(until deadline: Instant?) -> Bool {
    guard isRunning, !isDelivering, !isToProceed else { return false }
    if let next, let deadline, deadline <= time(of: next) + Self.timerSlack { return false }
    if let next, !sent.isEmpty {
      // A packet that was sent in another lane may be recorded further on. A strict replay ends here, and names it.
      var packet = sent.removeInstead(of: next.bytes)
      if packet == nil, options.strictness == .strict { packet = sent.popFirst() }
      pass(next, sent: packet)
      return true
    }
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
    // The interruption had no effect, nor has a timer that is due within the time of an answer.
    if deadline.map({ options.strictness == .lenient && $0 > time(of: next) + Self.lenientWait }) ?? true {
      pass(next, sent: nil)
      return true
    }
    return false
  }
}

extension ReplayTransport.Difference: CustomStringConvertible {
  /// The description has only the bytes; decoding them is left to higher layers.
  package var description: String {
    let place = number.map { "packet \($0)" } ?? "after the end of the recording"
    let there = recorded.map { "the recording has \(Self.digits($0)), " } ?? ""
    return "\(place): \(there)the stack sent \(sent.map(Self.digits) ?? "nothing")"
  }

  private static func digits(_ packet: [UInt8]) -> String {
    Hex.string(packet.prefix(48), separator: " ") + (packet.count > 48 ? " …" : "")
  }
}
