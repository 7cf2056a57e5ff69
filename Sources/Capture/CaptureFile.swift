import BluetoothCore
import Glibc
import SystemCalls

/// What the last system call that failed says.
var lastSystemError: String {
  SystemError.text(errno)
}

/// An open file and the buffer that it is read through. The buffer never grows.
struct CaptureFile: ~Copyable {
  /// One record of the largest size, and enough besides that what is moved to the front is little.
  static let bufferLength = 1 << 20

  let path: String
  let descriptor: Int32
  let isRegular: Bool
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// Bytes to pass over that were not read yet.
  private var pendingSkip = 0
  /// Where the record began that those bytes are part of.
  private var skipOffset = 0
  /// Where `start` is in the file.
  private(set) var offset = 0

  /// - Parameter path: "-" is standard input
  init(path: String) throws(CaptureError) {
    let (descriptor, kind) = try Self.open(path)
    self.path = path
    self.descriptor = descriptor
    isRegular = kind == S_IFREG
    buffer = .allocate(byteCount: Self.bufferLength, alignment: 16)
  }

  private static func open(_ path: String) throws(CaptureError) -> (descriptor: Int32, kind: mode_t) {
    // To open a FIFO that no program writes to must not wait for one.
    let descriptor = path == "-" ? STDIN_FILENO : SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else { throw CaptureError(.cannotOpen(lastSystemError), path: path) }
    var status = stat()
    let kind = SystemCall.status(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    guard kind != S_IFDIR else {
      if descriptor != STDIN_FILENO { close(descriptor) }
      throw CaptureError(.cannotOpen("is a directory"), path: path)
    }
    return (descriptor, kind)
  }

  deinit {
    buffer.deallocate()
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  /// How many bytes were read and not yet consumed.
  var count: Int { end - start }

  /// What was read and not yet consumed.
  var unread: RawSpan {
    @_lifetime(borrow self)
    get { _overrideLifetime(span(start..<end), borrowing: self) }
  }

  /// At the end of the file: how many bytes of a record there are that is not whole.
  var truncatedCount: Int { pendingSkip > 0 ? offset - skipOffset : count }

  /// Bytes of the buffer, by their place in it.
  @_lifetime(borrow self)
  func span(_ range: Range<Int>) -> RawSpan {
    _overrideLifetime(
      RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[range])), borrowing: self)
  }

  /// Takes a record from the front, with its type byte where the file has none.
  ///
  /// - Returns: where its bytes are in the buffer, until ``fill(follow:)`` is called
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

  /// Passes over bytes, those that are not read yet included.
  mutating func skip(_ length: Int) {
    let known = min(length, count)
    skipOffset = offset
    start += known
    offset += known
    pendingSkip += length - known
  }

  enum Filling {
    case more
    /// Nothing is there now.
    case nothing
    case end
  }

  /// Moves what is unread to the front and reads on, once: what a pipe has is not held back until there is more.
  ///
  /// - Parameter follow: whether to come back at once when nothing is there, instead of waiting
  mutating func fill(follow: Bool) throws(CaptureError) -> Filling {
    if let base = buffer.baseAddress, start > 0 {
      memmove(base, base + start, count)
      end -= start
      start = 0
    }
    // A FIFO reads as if it were at its end until a program opens it for writing; `poll` knows better.
    if !isRegular, !isReadable(within: follow ? 0 : -1) { return .nothing }
    var length: Int
    repeat {
      length = SystemCall.read(descriptor, buffer.baseAddress.map { $0 + end }, buffer.count - end)
      // Somebody made it non-blocking; we were asked to wait.
    } while length < 0 && (errno == EINTR || errno == EAGAIN && !follow && isReadable(within: -1))
    if length < 0, errno == EAGAIN { return .nothing }
    guard length >= 0 else { throw CaptureError(.cannotRead(lastSystemError), path: path) }
    if length == 0 { return follow && isRegular ? .nothing : .end }
    end += length
    let skipped = min(pendingSkip, count)
    pendingSkip -= skipped
    start += skipped
    offset += skipped
    return .more
  }

  /// Whether a read would come back, at the latest in so many milliseconds; -1 waits until it does.
  private func isReadable(within milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, milliseconds) != 0
  }

  /// Finds out what kind of file this is, and takes its header.
  ///
  /// - Returns: the format's reader; nil if the file is followed, and has too little to tell yet
  mutating func identify(follow: Bool) throws(CaptureError) -> FormatReader? {
    var isWhole = false
    while true {
      do throws(CaptureError) {
        if let found = try FormatReader.identify(unread, isWhole: isWhole) {
          skip(found.headerLength)
          return found.reader
        }
      } catch {
        throw CaptureError(error.reason, path: path)
      }
      switch try fill(follow: follow) {
      case .more: break
      case .nothing: return nil
      case .end: isWhole = true
      }
    }
  }
}
