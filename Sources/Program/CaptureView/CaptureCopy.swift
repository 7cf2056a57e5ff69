import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloDissection

/// The copy that `decode --write` makes of the selected packets: a btsnoop file, of the kind of btmon if the capture has
/// adapters.
@BluetoothActor
struct CaptureCopy: ~Copyable {
  private let path: String
  private var queue: RecordQueue
  private var writer: CaptureWriter?
  private let isRedacted: Bool
  private var written = 0
  /// Records that btsnoop can't hold, or that a redacted copy may not have.
  private var leftOut = 0
  /// Whether the capture can't be written at all.
  private var isRefused = false
  /// The number of bytes that may wait for the disk.
  private static let capacity = 1 << 22

  /// - Parameter personal: what a redacted copy must not have; nil for a copy with everything
  init(_ path: String, _ personal: PersonalData?) {
    self.path = path
    isRedacted = personal != nil
    queue = RecordQueue(personal.map(Redaction.init))
  }

  mutating func add(_ packet: DissectedPacket, isSelected: Bool) throws(CaptureError) {
    if case .air = packet.info.content {
      isRefused = true
      throw CaptureError(.notWritable)
    }
    if writer == nil {
      let hasAdapters: Bool =
        if case .monitor = packet.info.content { true } else { packet.info.adapter != nil }
      writer = try CaptureWriter(path: path, datalink: hasAdapters ? .linuxMonitor : .h4)
    }
    var isSelected = isSelected
    if isRedacted, !Redaction.keeps(packet.info.content) {
      leftOut += isSelected ? 1 : 0
      isSelected = false
    }
    queue.add(packet, isSelected: isSelected)
    write()
    if let failure = writer?.failure { throw failure }
  }

  private mutating func write() {
    while let record = queue.next() {
      if writer?.collect(record.bytes.span.bytes, record.info) == true { written += 1 } else { leftOut += 1 }
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

  /// Writes what is left, and waits until the file is complete.
  mutating func finish() async throws(CaptureError) {
    if isRefused { return }
    queue.finish()
    write()
    // A capture without packets becomes a file without packets.
    if writer == nil { writer = try CaptureWriter(path: path) }
    await drain(Interruption())
    guard let writer else { return }
    // After an interruption, a second for what was selected before.
    _ = writer.waitUntilWritten(for: 1)
    if let failure = writer.failure { throw failure }
    Console.error(
      "\(path.printable): \(Console.counted(written, "packet"))"
        + (leftOut > 0
          ? "; \(Console.counted(leftOut, "record")) left out, which \(Self.reason(isRedacted))" : ""))
  }

  private static func reason(_ isRedacted: Bool) -> String {
    isRedacted ? "may tell more than a redacted copy should, or have no direction" : "btsnoop cannot hold"
  }
}
