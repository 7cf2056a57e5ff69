import BluetoothCore

/// Reads a capture of any format record by record, in a memory that does not grow with the file.
///
///     var reader = try CaptureReader(path: "session.btsnoop")
///     while try reader.advance() == .record {
///       print(reader.info, reader.bytes.byteCount)  // a view, valid until the next advance
///     }
///
/// All that is readable before a damage is given before the error is thrown.
public struct CaptureReader: ~Copyable {
  /// What ``advance()`` came to.
  public enum Progress: Hashable, Sendable {
    /// ``info`` and ``bytes`` are those of the next record.
    case record
    /// Nothing more is there now. Only if the file is followed.
    case needsMore
    /// The file is over.
    case end
  }

  /// "-" for standard input.
  public var path: String { file.path }
  /// What kind of file this is; nil only if it is followed and has too little to tell yet.
  public var format: CaptureFormat? { reader?.format }
  /// The record that ``advance()`` came to.
  public private(set) var info = CaptureRecordInfo(
    number: 0, microseconds: nil, content: .hci(nil), originalLength: 0)
  /// Bytes at the end of the file that are not a whole record: a recording that was cut off. Known once
  /// ``advance()`` has given ``Progress/end``.
  public private(set) var truncatedBytes = 0

  private var file: CaptureFile
  private let isFollowing: Bool
  private var reader: FormatReader?
  private var range = 0..<0
  private var failure: CaptureError?

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - path: the file; "-" is standard input
  ///   - follow: whether the file is still being written. Then reading never waits: ``advance()`` gives
  ///     ``Progress/needsMore``, and the caller decides when to call it again (``descriptor``).
  ///   - isReadAgain: whether the caller opens it more than once, as only a regular file can be
  /// - Throws: ``CaptureError`` if it can't be opened or is no capture
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

  /// What is read: to wait for more of a pipe, watch it. A regular file can always be read, and has to be asked
  /// again after a while.
  public var descriptor: Int32 { file.descriptor }
  /// Whether this is a file on a disk, whose end says nothing about whether more comes.
  public var isRegularFile: Bool { file.isRegular }

  /// The bytes of the record that ``advance()`` came to, in the reader's buffer.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get { _overrideLifetime(file.span(range), borrowing: self) }
  }

  /// Goes on to the next record. A last record that is cut is left out and counted in ``truncatedBytes``.
  ///
  /// - Throws: ``CaptureError`` with the offset, where the file is damaged; again at each further call
  public mutating func advance() throws(CaptureError) -> Progress {
    if let failure { throw failure }
    do throws(CaptureError) {
      return try readRecord()
    } catch {
      failure = error
      throw error
    }
  }

  /// The next record with a copy of its bytes; nil where ``advance()`` finds none.
  public mutating func next() throws(CaptureError) -> CaptureRecord? {
    guard try advance() == .record else { return nil }
    return CaptureRecord(info: info, bytes: Array(bytes))
  }

  private mutating func readRecord() throws(CaptureError) -> Progress {
    range = 0..<0
    if reader == nil { reader = try file.identify(follow: isFollowing) }
    if reader == nil { return .needsMore }
    while true {
      // Each turn gives a record, passes over bytes, or reads some: it ends with the file at the latest.
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
