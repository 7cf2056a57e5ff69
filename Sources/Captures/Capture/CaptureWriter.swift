import Glibc
import HaloBluetoothCore
import HaloSystem

/// Writes a capture file. Writing never blocks on the disk: an `OutputQueue` writes complete records in order. After
/// a crash the file contains only complete records; at most the records of the last tenth of a second are lost, or more
/// if the disk is slow.
package final class CaptureWriter {
  /// The file.
  package let path: String
  package let format: CaptureFormat
  private let queue: OutputQueue
  /// Gives the last file of a series its name; nil for a single file.
  package let completion: (@Sendable () throws(FileError) -> Void)?
  @exclusivity(unchecked) private var writer = ByteWriter(capacity: 1024)
  /// Where each record of ``writer`` ends.
  @exclusivity(unchecked) private var ends: [Int] = []
  /// The number of records dropped because the disk was too slow. The next record in the file stores it, too.
  @exclusivity(unchecked) package private(set) var droppedRecords = 0

  /// The number of records that a recorder had lost before those that were copied from its file.
  @exclusivity(unchecked) private var lostBefore = 0

  /// The maximum number of bytes to queue for a slow disk: half a minute of a controller at full speed.
  private static let capacity = 1 << 24
  /// For how many seconds records are collected for one write, if the file is a regular one.
  private static let collectionTime = 0.1
  /// The number of bytes from which on collected records are passed on.
  private static let largestBatch = 1 << 16

  /// Creates or truncates the file, and writes its header.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - format: btsnoop with ``BTSnoop/Datalink/h4`` or ``BTSnoop/Datalink/linuxMonitor``, or pcap with packets of the air
  ///   - replaces: whether a file with data is replaced; otherwise it is an error
  package init(
    path: String, format: CaptureFormat = .btsnoop(.h4), replaces: Bool = true
  ) throws(CaptureError) {
    self.path = path
    self.format = format
    let descriptor: Int32
    do throws(FileError) {
      descriptor = try OutputFile.open(path: path, existing: replaces ? .replace : .refuse)
    } catch {
      throw CaptureError(
        error.reason == .hasData ? .hasData : .cannotCreate(error.reason.description), path: path)
    }
    completion = nil
    queue = Self.queue(descriptor)
    if case .pcap(let linkType) = format {
      PCAP.writeHeader(linkType, into: &writer)
    } else {
      BTSnoop.writeHeader(datalink, into: &writer)
    }
    ends.append(writer.count)
    flush()
    // Reports a full disk before anything else is done.
    queue.waitUntilDrained()
    if let failure { throw failure }
  }

  /// Creates the first file of a series.
  ///
  /// - Parameters:
  ///   - files: decides when the next file begins
  ///   - datalink: ``BTSnoop/Datalink/h4`` or ``BTSnoop/Datalink/linuxMonitor``
  package init(_ files: FileRotation, datalink: BTSnoop.Datalink = .h4) throws(CaptureError) {
    path = files.path
    format = .btsnoop(datalink)
    completion = files.completion
    var header = ByteWriter(capacity: 16)
    BTSnoop.writeHeader(datalink, into: &header)
    files.beginning = header.bytes
    do throws(FileError) {
      queue = Self.queue(try files.begin(), files.change)
    } catch {
      throw CaptureError(.cannotCreate(error.reason.description), path: path)
    }
  }

  private static func queue(
    _ descriptor: Int32, _ rotation: ((Int) -> OutputQueue.FileChange?)? = nil
  ) -> OutputQueue {
    OutputQueue(
      descriptor: descriptor, owned: true, capacity: capacity, overflow: .drop,
      collectionTime: collectionTime, rotation: rotation)
  }

  deinit {
    flush()
    queue.close()
  }

  /// The datalink of btsnoop; H4 for other formats.
  private var datalink: BTSnoop.Datalink { if case .btsnoop(let datalink) = format { datalink } else { .h4 } }

  /// The reason why writing has stopped; nil if it has not.
  package var failure: CaptureError? {
    switch queue.failure {
    case nil: nil
    case .readerGone: CaptureError(.cannotWrite("the reader has closed it"), path: path)
    case .system(let error): CaptureError(.cannotWrite(error.reason), path: path)
    }
  }

  /// The number of bytes that are not written yet: a program that makes records faster than a disk takes them waits for
  /// ``whenWritten(_:)`` now and then.
  package var waitingBytes: Int { writer.count + queue.waitingBytes }

  /// Calls `handler` once, on any thread, when all records are written or writing has failed.
  package func whenWritten(_ handler: @escaping @Sendable () -> Void) {
    flush()
    queue.whenDrained(handler)
  }

  /// Writes the waiting records, and gives up the file: another writer may have it then. Nothing more is written. Calls
  /// `handler` once, on any thread, when the file is closed.
  package func close(whenClosed handler: @escaping @Sendable () -> Void) {
    flush()
    queue.close(whenClosed: handler)
  }

  /// Waits until all records are written or writing has failed. Do not call it on the event loop.
  package func waitUntilWritten() {
    flush()
    queue.waitUntilDrained()
  }

  /// Waits for at most the given number of seconds, for use at the end of a process; then the last file of a series is
  /// complete.
  ///
  /// - Returns: whether all records are in the file
  package func waitUntilWritten(for seconds: Double) -> Bool {
    flush()
    guard queue.waitUntilDrained(for: seconds) else { return false }
    try? completion?()
    return true
  }

  /// Writes an HCI packet with its type byte; see ``write(_:_:)``.
  ///
  /// - Parameters:
  ///   - packet: an HCI packet with its type byte
  ///   - direction: the side that sent it
  ///   - microseconds: since 1970-01-01 UTC
  package func write(_ packet: RawSpan, direction: CaptureDirection, microseconds: Int64) {
    write(
      packet,
      CaptureRecordInfo(
        microseconds: microseconds, content: .hci(direction), originalLength: packet.byteCount))
  }

  /// Writes a record as ``CaptureReader`` returns it. Only a file of the Linux monitor can store other records than HCI
  /// packets, and the adapter; records that the file format can't store are omitted. After a write error the file ends with the
  /// last complete record, ``failure`` has the reason, and nothing more is written.
  ///
  /// - Parameters:
  ///   - bytes: as returned by ``CaptureReader``: an HCI packet begins with its type byte
  ///   - info: content, adapter and time
  package func write(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    collect(bytes, info)
    flush()
  }

  /// Makes a record as ``write(_:_:)`` does; ``flush()`` passes it on together with others.
  ///
  /// - Parameters:
  ///   - bytes: as returned by ``CaptureReader``: an HCI packet begins with its type byte
  ///   - info: content, adapter and time
  ///   - linkHeader: of a packet of the air, the bytes before it in its file
  /// - Returns: whether the file format can store it
  @discardableResult
  package func collect(_ bytes: RawSpan, _ info: CaptureRecordInfo, linkHeader: [UInt8] = []) -> Bool {
    guard queue.failure == nil else { return true }
    let time = info.microseconds ?? 0
    lostBefore += info.drops
    let drops = droppedRecords + lostBefore
    switch (info.content, format) {
    case (.hci(let direction?), .btsnoop(.h4)):
      BTSnoop.writeRecord(
        bytes, direction: direction, microseconds: time, drops: drops, originalLength: info.originalLength,
        into: &writer)
    case (.hci(let direction?), .btsnoop(.linuxMonitor)):
      guard let type = bytes.byte(at: 0).map(HCIPacketType.init), let opcode = MonitorOpcode(type, direction)
      else { return false }
      BTSnoop.writeRecord(
        bytes.extracting(1..<bytes.byteCount), opcode: opcode, adapter: info.adapter, microseconds: time,
        drops: drops, originalLength: info.originalLength - 1, into: &writer)
    case (.monitor(let opcode), .btsnoop(.linuxMonitor)):
      BTSnoop.writeRecord(
        bytes, opcode: opcode, adapter: info.adapter, microseconds: time, drops: drops,
        originalLength: info.originalLength, into: &writer)
    case (.air(let reception), .pcap(let linkType)) where reception.source.linkType == linkType:
      PCAP.writeRecord(
        linkHeader.span.bytes, bytes, microseconds: time, originalLength: info.originalLength, into: &writer)
    default: return false
    }
    ends.append(writer.count)
    if writer.count >= Self.largestBatch { flush() }
    return true
  }

  /// Passes on the collected records, with one write if possible.
  package func flush() {
    guard !ends.isEmpty else { return }
    let accepted = queue.write(writer.span, ends: ends.span)
    if queue.failure == nil { droppedRecords += ends.count - accepted }
    writer.removeAll()
    ends.removeAll(keepingCapacity: true)
  }
}
