import BluetoothCore
import Glibc

/// Reads a capture file record by record, with a buffer that does not grow with the file.
public final class CaptureReader {
  public let path: String
  public private(set) var datalink = BTSnoop.Datalink.h4
  /// Bytes at the end of the file that are not a whole record: a recording that was cut off. Known once
  /// ``next()`` has given nil.
  public private(set) var truncatedBytes = 0
  /// How many records were given so far; the number of the last one, as Wireshark counts.
  public private(set) var recordCount = 0

  private let descriptor: Int32
  private var buffer: [UInt8]
  private var start = 0
  private var end = 0
  private var fileOffset = 0
  private var isAtEnd = false

  public init(path: String) throws(CaptureError) {
    self.path = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CaptureError(.cannotOpen(Self.lastError), path: path) }
    self.descriptor = descriptor
    buffer = Array(repeating: 0, count: 2 * (BTSnoop.maximumPacketLength + BTSnoop.recordHeaderLength))
    try fill()
    do throws(CaptureError) {
      datalink = try BTSnoop.readHeader(Array(buffer[..<min(end, BTSnoop.headerLength)]).span.bytes)
    } catch {
      throw error.at(path: path)
    }
    start = BTSnoop.headerLength
    fileOffset = BTSnoop.headerLength
  }

  deinit {
    close(descriptor)
  }

  /// The next record; nil at the end of the file. A last record that is cut is left out and counted in
  /// ``truncatedBytes``.
  public func next() throws(CaptureError) -> CaptureRecord? {
    while true {
      let found: (record: CaptureRecord, length: Int)?
      do throws(CaptureError) {
        let unread = buffer
        found = try BTSnoop.readRecord(unread.span.bytes.extracting(start..<end), offset: fileOffset)
      } catch {
        throw error.at(path: path)
      }
      if let found {
        start += found.length
        fileOffset += found.length
        recordCount += 1
        return found.record
      }
      if isAtEnd {
        truncatedBytes = end - start
        return nil
      }
      try fill()
    }
  }

  /// Moves what is unread to the front and reads on.
  private func fill() throws(CaptureError) {
    let unread = end - start
    buffer.withUnsafeMutableBytes { bytes in
      if start > 0, unread > 0, let base = bytes.baseAddress { memmove(base, base + start, unread) }
    }
    start = 0
    end = unread
    while end < buffer.count, !isAtEnd {
      let count = buffer.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, bytes.baseAddress.map { $0 + end }, bytes.count - end)
      }
      if count > 0 {
        end += count
      } else if count == 0 {
        isAtEnd = true
      } else if errno != EINTR {
        throw CaptureError(.cannotRead(Self.lastError), path: path)
      }
    }
  }

  fileprivate static var lastError: String {
    String(cString: strerror(errno)).lowercased()
  }
}

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
      throw CaptureError(.cannotCreate(CaptureReader.lastError), path: path)
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
        failure = CaptureError(.cannotWrite(CaptureReader.lastError), path: path)
        ftruncate(descriptor, off_t(fileLength))
        return
      }
    }
    fileLength += written
  }
}
