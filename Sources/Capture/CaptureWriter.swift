import BluetoothCore
import Glibc

/// Writes a capture file. Each record is one `write`, so that what a crash leaves behind is whole records.
public final class CaptureWriter {
  public let path: String
  private let descriptor: Int32
  private var writer = ByteWriter(capacity: 1024)
  private var fileLength = 0
  /// Why nothing is written any more.
  public private(set) var failure: CaptureError?

  /// Makes the file, or empties it, and writes its header.
  public init(path: String, datalink: BTSnoop.Datalink = .h4) throws(CaptureError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CaptureError(.cannotCreate(lastSystemError), path: path)
    }
    BTSnoop.writeHeader(datalink, into: &writer)
    flush()
    if let failure { throw failure }
  }

  deinit {
    close(descriptor)
  }

  /// Writes a record. Once writing has failed, the file is left as it was after the last whole record,
  /// ``failure`` tells why, and nothing more is written.
  ///
  /// - Parameters:
  ///   - packet: an HCI packet with its type byte
  ///   - microseconds: since 1970-01-01 UTC
  public func write(_ packet: RawSpan, direction: CaptureDirection, microseconds: Int64) {
    guard failure == nil else { return }
    writer.removeAll()
    BTSnoop.writeRecord(packet, direction: direction, microseconds: microseconds, into: &writer)
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
