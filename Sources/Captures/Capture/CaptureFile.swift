import Glibc
import HaloSystem

/// The message of the last system call error.
var lastSystemError: String {
  SystemError.text(errno)
}

/// An open file and its read buffer. The buffer never grows.
struct CaptureFile: ~Copyable {
  /// Holds a record of the largest size, with enough room that little has to be moved to the start.
  private static let bufferLength = 1 << 20

  let part: CapturePart
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// The number of bytes still to be skipped.
  private var pendingSkip = 0
  /// The offset of the record that contains the skipped bytes.
  private var skipOffset = 0
  /// The file offset of `start`.
  private(set) var offset = 0

  /// Begins to read a part at its first byte.
  init(_ part: CapturePart) {
    self.part = part
    part.rewind()
    buffer = .allocate(byteCount: Self.bufferLength, alignment: 16)
  }

  deinit {
    buffer.deallocate()
  }

  /// The number of unconsumed bytes in the buffer.
  var count: Int { end - start }

  /// The unconsumed bytes in the buffer.
  var unread: RawSpan {
    @_lifetime(borrow self)
    get { _overrideLifetime(span(start..<end), borrowing: self) }
  }

  /// The same as a pointer, for a caller that changes something else of its own at the same time. Valid until ``fill(follow:)``
  /// is called.
  var unreadBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<end]) }

  /// At the end of the file: the number of bytes of an incomplete record.
  var truncatedCount: Int { pendingSkip > 0 ? offset - skipOffset : count }

  /// The bytes in a range of the buffer.
  @_lifetime(borrow self)
  func span(_ range: Range<Int>) -> RawSpan {
    _overrideLifetime(
      RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[range])), borrowing: self)
  }

  /// Consumes a record at the start, and inserts its type byte if the file has none.
  ///
  /// - Returns: the range of its bytes in the buffer, valid until ``fill(follow:)`` is called
  mutating func take(_ record: FoundRecord) -> Range<Int> {
    var first = start + record.start
    let last = first + record.length
    if let type = record.typeByte, record.start > 0 {
      first -= 1
      buffer[first] = type
    }
    skip(record.recordLength)
    return first..<last
  }

  /// Skips bytes, including those not yet read.
  mutating func skip(_ length: Int) {
    let known = min(length, count)
    skipOffset = offset
    start += known
    offset += known
    pendingSkip += length - known
  }

  enum Filling {
    case more
    /// No data is available now.
    case nothing
    case end
  }

  /// Moves the unread bytes to the start and reads once, so that data in a pipe is delivered immediately.
  ///
  /// - Parameter follow: whether to return immediately if no data is available, instead of waiting
  mutating func fill(follow: Bool) throws(CaptureError) -> Filling {
    let (descriptor, isRegular) = (part.descriptor, part.isRegular)
    if let base = buffer.baseAddress, start > 0 {
      memmove(base, base + start, count)
      end -= start
      start = 0
    }
    // A FIFO without a writer reads as end of file; `poll` distinguishes this.
    if !isRegular, !isReadable(within: follow ? 0 : -1) { return .nothing }
    var length: Int
    repeat {
      length = SystemCall.read(descriptor, buffer.baseAddress.map { $0 + end }, buffer.count - end)
      // Another process has set O_NONBLOCK; the caller asked to wait.
    } while length < 0 && (errno == EINTR || errno == EAGAIN && !follow && isReadable(within: -1))
    if length < 0, errno == EAGAIN { return .nothing }
    guard length >= 0 else { throw CaptureError(.cannotRead(lastSystemError), path: part.name) }
    if length == 0 {
      guard follow, isRegular else { return .end }
      try checkIdentity()
      return .nothing
    }
    end += length
    let skipped = min(pendingSkip, count)
    pendingSkip -= skipped
    start += skipped
    offset += skipped
    return .more
  }

  /// Throws if the file that is followed has become shorter, or if its path leads to another file: no more data can
  /// be expected from it.
  private func checkIdentity() throws(CaptureError) {
    var own = stat()
    let path = part.path
    guard SystemCall.status(part.descriptor, &own) == 0 else { return }
    let position = offset + count
    guard own.st_size >= position else {
      throw CaptureError(.replaced(.shrunk(from: position, to: Int(own.st_size))), path: path)
    }
    var named = stat()
    // A file without a name can still grow.
    guard path != "-", stat(path, &named) == 0 else { return }
    guard named.st_dev == own.st_dev, named.st_ino == own.st_ino else {
      throw CaptureError(.replaced(.otherFile), path: path)
    }
  }

  /// Whether a read would return within the given number of milliseconds; -1 waits without limit.
  private func isReadable(within milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: part.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, milliseconds) != 0
  }

  /// Detects the format of the file, and consumes its header.
  ///
  /// - Returns: the format's reader; nil if the file is followed and still too short to identify
  mutating func identify(follow: Bool) throws(CaptureError) -> FormatReader? {
    var isWhole = false
    while true {
      do throws(CaptureError) {
        if let found = try FormatReader.identify(unread, isWhole: isWhole) {
          skip(found.headerLength)
          return found.reader
        }
      } catch {
        throw CaptureError(error.reason, path: part.name)
      }
      switch try fill(follow: follow) {
      case .more: break
      case .nothing: return nil
      case .end: isWhole = true
      }
    }
  }
}
