import BluetoothCore
import Files
import Glibc
import SystemCalls

/// Writes a capture file. Writing never waits for the disk: records leave by an ``OutputQueue``, whole, in order, and
/// as soon as they can. What a crash leaves behind is whole records, up to the last one or, of a file that several
/// are waiting for, to a moment before.
public final class CaptureWriter {
  public let path: String
  private let datalink: BTSnoop.Datalink
  private let queue: OutputQueue
  private var writer = ByteWriter(capacity: 1024)
  /// How many records were left out, as the disk was too slow. The file says so, too: in the next record.
  public private(set) var droppedRecords = 0

  /// How much may wait for a disk that is slow: half a minute of a controller that is as fast as can be.
  private static let capacity = 1 << 24

  /// Makes the file, or empties it, and writes its header.
  ///
  /// - Parameter datalink: ``BTSnoop/Datalink/h4`` or ``BTSnoop/Datalink/linuxMonitor``
  public init(path: String, datalink: BTSnoop.Datalink = .h4) throws(CaptureError) {
    self.path = path
    self.datalink = datalink
    let descriptor: Int32
    do throws(FileError) {
      descriptor = try OutputFile.open(path: path)
    } catch {
      throw CaptureError(.cannotCreate(error.reason.description), path: path)
    }
    queue = OutputQueue(descriptor: descriptor, owned: true, capacity: Self.capacity, overflow: .drop)
    BTSnoop.writeHeader(datalink, into: &writer)
    hand(writer)
    // A disk that is full from the beginning is reported before anything else is done.
    queue.waitUntilDrained()
    if let failure { throw failure }
  }

  deinit {
    queue.close()
  }

  /// Why nothing is written any more.
  public var failure: CaptureError? {
    switch queue.failure {
    case nil: nil
    case .readerGone: CaptureError(.cannotWrite("nobody reads it any more"), path: path)
    case .system(let error): CaptureError(.cannotWrite(error.reason), path: path)
    }
  }

  /// Waits until all that was written is in the file, or can't be. Not for the event loop.
  public func waitUntilWritten() { queue.waitUntilDrained() }

  /// The same for so many seconds at most: for the end of a process.
  ///
  /// - Returns: whether all is in the file
  public func waitUntilWritten(for seconds: Double) -> Bool { queue.waitUntilDrained(for: seconds) }

  /// Writes an HCI packet with its type byte; see ``write(_:_:)``.
  ///
  /// - Parameter microseconds: since 1970-01-01 UTC
  public func write(_ packet: RawSpan, direction: CaptureDirection, microseconds: Int64) {
    write(
      packet,
      CaptureRecordInfo(
        microseconds: microseconds, content: .hci(direction), originalLength: packet.byteCount))
  }

  /// Writes a record: what ``CaptureReader`` will give for it. Only a file of the Linux monitor holds what is no HCI
  /// packet, and the adapter; what the file can't hold is left out. Once writing has failed, the file is left as it
  /// was after the last whole record, ``failure`` tells why, and nothing more is written.
  ///
  /// - Parameters:
  ///   - bytes: as ``CaptureReader`` gives them: an HCI packet begins with its type byte
  ///   - info: content, adapter and time; the packet must be whole
  public func write(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    guard queue.failure == nil else { return }
    writer.removeAll()
    let time = info.microseconds ?? 0
    switch (info.content, datalink) {
    case (.hci(let direction?), .h4):
      BTSnoop.writeRecord(
        bytes, direction: direction, microseconds: time, drops: droppedRecords, into: &writer)
    case (.hci(let direction?), .linuxMonitor):
      guard let type = bytes.byte(at: 0).map(HCIPacketType.init), let opcode = MonitorOpcode(type, direction)
      else { return }
      BTSnoop.writeRecord(
        bytes.extracting(1..<bytes.byteCount), opcode: opcode, adapter: info.adapter, microseconds: time,
        drops: droppedRecords, into: &writer)
    case (.monitor(let opcode), .linuxMonitor):
      BTSnoop.writeRecord(
        bytes, opcode: opcode, adapter: info.adapter, microseconds: time, drops: droppedRecords,
        into: &writer)
    default: return
    }
    hand(writer)
  }

  private func hand(_ record: borrowing ByteWriter) {
    if !record.bytes.withUnsafeBytes({ queue.write($0) }), queue.failure == nil { droppedRecords += 1 }
  }
}
