import BluetoothCore
import Files
import Glibc

/// Writes a capture file. Each record is one `write`, so that what a crash leaves behind is whole records.
public final class CaptureWriter {
  public let path: String
  private let datalink: BTSnoop.Datalink
  private let descriptor: Int32
  private var writer = ByteWriter(capacity: 1024)
  private var fileLength = 0
  /// Why nothing is written any more.
  public private(set) var failure: CaptureError?

  /// Makes the file, or empties it, and writes its header.
  ///
  /// - Parameter datalink: ``BTSnoop/Datalink/h4`` or ``BTSnoop/Datalink/linuxMonitor``
  public init(path: String, datalink: BTSnoop.Datalink = .h4) throws(CaptureError) {
    self.path = path
    self.datalink = datalink
    do throws(FileError) {
      descriptor = try OutputFile.open(path: path)
    } catch {
      throw CaptureError(.cannotCreate(error.reason.description), path: path)
    }
    BTSnoop.writeHeader(datalink, into: &writer)
    flush()
    if let failure { throw failure }
  }

  deinit {
    close(descriptor)
  }

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
    guard failure == nil else { return }
    writer.removeAll()
    let time = info.microseconds ?? 0
    switch (info.content, datalink) {
    case (.hci(let direction?), .h4):
      BTSnoop.writeRecord(bytes, direction: direction, microseconds: time, into: &writer)
    case (.hci(let direction?), .linuxMonitor):
      guard let type = bytes.byte(at: 0).map(HCIPacketType.init), let opcode = MonitorOpcode(type, direction)
      else { return }
      BTSnoop.writeRecord(
        bytes.extracting(1..<bytes.byteCount), opcode: opcode, adapter: info.adapter, microseconds: time,
        into: &writer)
    case (.monitor(let opcode), .linuxMonitor):
      BTSnoop.writeRecord(bytes, opcode: opcode, adapter: info.adapter, microseconds: time, into: &writer)
    default: return
    }
    flush()
  }

  private func flush() {
    var written = 0
    while written < writer.count {
      let count = writer.bytes.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        failure = CaptureError(.cannotWrite(lastSystemError), path: path)
        ftruncate(descriptor, off_t(fileLength))
        return
      }
    }
    fileLength += written
  }
}
