import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloDissection

/// The copy that `decode --write` makes of the selected packets: a btsnoop file, of the kind of btmon if the capture has
/// adapters; of a capture of the air a pcap file, with the sniffer's data about each packet.
@BluetoothActor
struct CaptureCopy: ~Copyable {
  private let path: String
  private var queue: RecordQueue
  private var writer: CaptureWriter?
  private let isRedacted: Bool
  private var written = 0
  /// Records that the format can't hold, or that a redacted copy may not have, by kind.
  private var leftOut: [String: Int] = [:]
  /// The number of bytes that may wait for the disk.
  private static let capacity = 1 << 22

  /// - Parameter personal: the data that a redacted copy must not have; nil for a copy with everything
  init(_ path: String, _ personal: PersonalData?) {
    self.path = path
    isRedacted = personal != nil
    queue = RecordQueue(personal.map(Redaction.init))
  }

  /// - Parameters:
  ///   - packet: the next packet of the capture
  ///   - linkHeader: of a packet of the air, the bytes before it in its file
  ///   - isSelected: whether it goes into the copy
  mutating func add(_ packet: DissectedPacket, linkHeader: RawSpan, isSelected: Bool) throws(CaptureError) {
    if writer == nil {
      // A record that no format holds does not decide on the format.
      guard let format = Self.format(of: packet.info) else { return leaveOut(packet.info, isSelected) }
      writer = try CaptureWriter(path: path, format: format)
    }
    var isSelected = isSelected
    if isRedacted, !Redaction.keeps(packet.info.content) {
      leaveOut(packet.info, isSelected)
      isSelected = false
    }
    queue.add(packet, linkHeader: linkHeader.byteCount > 0 ? Array(linkHeader) : [], isSelected: isSelected)
    write()
    if let failure = writer?.failure { throw failure }
  }

  /// The format of a copy that begins with a record; nil if none can hold it.
  private static func format(of info: CaptureRecordInfo) -> CaptureFormat? {
    switch info.content {
    case .hci: .btsnoop(info.adapter == nil ? .h4 : .linuxMonitor)
    case .monitor: .btsnoop(.linuxMonitor)
    case .air(let reception): .pcap(reception.source.linkType)
    case .packetLogger, .foreign: nil
    }
  }

  private mutating func leaveOut(_ info: CaptureRecordInfo, _ isSelected: Bool) {
    if isSelected { leftOut[info.content.kindName, default: 0] += 1 }
  }

  private mutating func write() {
    while let record = queue.next() {
      if writer?.collect(record.bytes.span.bytes, record.info, linkHeader: record.linkHeader) == true {
        written += 1
      } else {
        leaveOut(record.info, true)
      }
    }
  }

  /// Whether the disk is behind; then nothing more may be added before ``drain(_:)``.
  var isBehind: Bool { (writer?.waitingBytes ?? 0) > Self.capacity }

  /// Waits until everything is written, or for an interruption.
  func drain(_ interruption: Interruption) async {
    guard let writer else { return }
    await interruption.cancels { () async in
      await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
        let end = OneShot(done)
        writer.whenWritten { BluetoothActor.run { end(.success(())) } }
        return { end(.success(())) }
      }
    }
  }

  /// Writes the remaining records, and waits until the file is complete.
  mutating func finish() async throws(CaptureError) {
    queue.finish()
    write()
    // A capture without packets becomes a file without packets.
    if writer == nil { writer = try CaptureWriter(path: path) }
    await drain(Interruption())
    guard let writer else { return }
    // After an interruption, a second for records that were selected before.
    _ = writer.waitUntilWritten(for: 1)
    if let failure = writer.failure { throw failure }
    Console.error(
      "\(path.printable): \(Console.counted(written, "packet"))\(Self.remark(writer.format))\(remarkOnLeftOut)"
    )
  }

  /// The remark on an unexpected format: captures of HCI become btsnoop, whatever they were.
  private static func remark(_ format: CaptureFormat) -> String {
    if case .pcap = format { " (\(format))" } else { "" }
  }

  /// The records that are left out, the most frequent kind first, and why.
  private var remarkOnLeftOut: String {
    guard !leftOut.isEmpty else { return "" }
    let kinds = leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
      CountedText.line($0.value, $0.key)
    }
    let reason =
      isRedacted
      ? "which may tell more than a redacted copy should, or have no direction"
      : "which the format cannot hold"
    let count = leftOut.values.reduce(0, +)
    return "; \(Console.counted(count, "record")) left out, \(reason): \(kinds.joined(separator: ", "))"
  }
}
