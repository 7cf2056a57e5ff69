import BluetoothCore

/// Reads a capture of any format record by record, with a fixed amount of memory.
///
///     var reader = try CaptureReader(path: "session.btsnoop")
///     while try reader.advance() == .record {
///       print(reader.info, reader.bytes.byteCount)  // a view, valid until the next advance
///     }
///
/// All records before a damaged one are returned before the error is thrown.
public struct CaptureReader: ~Copyable {
  /// The result of ``advance()``.
  public enum Progress: Hashable, Sendable {
    /// ``info`` and ``bytes`` describe the next record.
    case record
    /// No more data is available now. Only if the file is followed.
    case needsMore
    /// The end of the file.
    case end
  }

  /// "-" for standard input.
  public var path: String { file.path }
  /// The format of the file; nil only if it is followed and still too short to identify.
  public var format: CaptureFormat? { reader?.format }
  /// The current record; see ``advance()``.
  public private(set) var info = CaptureRecordInfo(
    number: 0, microseconds: nil, content: .hci(nil), originalLength: 0)
  /// The number of bytes of an incomplete record at the end of the file. Valid after ``advance()`` has returned
  /// ``Progress/end``.
  public private(set) var truncatedBytes = 0

  private var file: CaptureFile
  private let isFollowing: Bool
  private var reader: FormatReader?
  private var range = 0..<0
  /// The drop counter of the record before.
  private var drops: UInt32 = 0
  private var failure: CaptureError?

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - path: the file; "-" is standard input
  ///   - follow: whether the file is still being written. If so, reading never waits: ``advance()`` returns
  ///     ``Progress/needsMore``, and the caller decides when to call it again (``descriptor``).
  ///   - isReadAgain: whether the caller opens the file more than once, which requires a regular file
  /// - Throws: ``CaptureError`` if it can't be opened or is not a capture
  public init(path: String, follow: Bool = false, isReadAgain: Bool = false) throws(CaptureError) {
    var file = try CaptureFile(path: path)
    if isReadAgain, !file.isRegular { throw CaptureError(.notARegularFile, path: path) }
    let reader = try file.identify(follow: follow)
    self.init(file, reader, isFollowing: follow)
  }

  private init(_ file: consuming CaptureFile, _ reader: FormatReader?, isFollowing: Bool) {
    self.file = file
    self.reader = reader
    self.isFollowing = isFollowing
  }

  /// The descriptor being read. Watch it for more data of a pipe. A regular file is always readable, and has to be
  /// polled.
  public var descriptor: Int32 { file.descriptor }
  /// Whether this is a regular file, which may grow after its end was reached.
  public var isRegularFile: Bool { file.isRegular }

  /// The bytes of the current record, in the reader's buffer.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get { _overrideLifetime(file.span(range), borrowing: self) }
  }

  /// Advances to the next record. An incomplete last record is omitted and counted in ``truncatedBytes``.
  ///
  /// - Throws: ``CaptureError`` with the offset where the file is damaged; every later call throws it again
  public mutating func advance() throws(CaptureError) -> Progress {
    if let failure { throw failure }
    do throws(CaptureError) {
      return try readRecord()
    } catch {
      failure = error
      throw error
    }
  }

  /// The next record with a copy of its bytes; nil if ``advance()`` finds none.
  public mutating func next() throws(CaptureError) -> CaptureRecord? {
    guard try advance() == .record else { return nil }
    return CaptureRecord(info: info, bytes: Array(bytes))
  }

  private mutating func readRecord() throws(CaptureError) -> Progress {
    range = 0..<0
    if reader == nil { reader = try file.identify(follow: isFollowing) }
    if reader == nil { return .needsMore }
    while true {
      // Each iteration returns a record, skips bytes or reads some, so the loop terminates at the end of the file.
      let step: CaptureStep?
      do throws(CaptureError) {
        step = try reader?.step(file.unread)
      } catch {
        throw CaptureError(error.reason, offset: file.offset, path: file.path)
      }
      switch step {
      case .record(let found):
        let offset = file.offset
        range = file.take(found)
        info = CaptureRecordInfo(
          number: info.number + 1, fileOffset: offset, microseconds: found.microseconds,
          adapter: found.adapter, content: found.content,
          originalLength: found.originalLength + (found.typeByte == nil ? 0 : 1))
        // The counter of a file that was written in several runs begins again.
        if found.drops > drops { info.drops = Int(found.drops - drops) }
        drops = found.drops
        return .record
      case .skip(let length):
        file.skip(length)
      case .countOnly(let length):
        file.skip(length)
        info.number += 1
      case .needsMore, nil:
        switch try file.fill(follow: isFollowing) {
        case .more: break
        case .nothing: return .needsMore
        case .end:
          truncatedBytes = file.truncatedCount
          return .end
        }
      }
    }
  }
}
