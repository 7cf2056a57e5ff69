import Glibc
import HaloSystem

/// Files with captures, opened: a ``CaptureReader`` reads them as one.
///
/// A file is a capture; a compressed one (gzip, bzip2, xz, zstd, lz4); an archive with captures (zip, tar), such as an Android
/// bug report, of which every log is read, or an iPhone's sysdiagnose; or the text of a bug report with its btsnooz summary.
/// Compressed data are copied to a file without a name in `TMPDIR` or /var/tmp; libarchive reads it.
package struct CaptureSource: Sendable {
  let parts: [CapturePart]
  /// Why the parts are not all, or not whole.
  let damage: CaptureError?

  /// The captures in the order in which they are read: the path of a file, for one of an archive followed by its name there.
  package var names: [String] { parts.map(\.name) }
  /// The ``names`` of Android's summaries of recent packets (btsnooz), most of which are cut.
  package var summaries: [String] { parts.filter(\.isSummary).map(\.name) }
  /// Whether something was decompressed, or taken out of an archive or a bug report.
  package var isExtracted: Bool { parts.contains(where: \.isCopy) }

  /// Opens files.
  ///
  /// - Parameters:
  ///   - paths: the files, in the order in which they are read; "-" is standard input
  ///   - follow: whether the last one is still being written; it can't be compressed then
  ///   - isCancelled: asked at intervals of milliseconds while an archive is read, which can take seconds
  /// - Throws: ``CaptureError`` if one of them can't be opened or decompressed
  package init(
    _ paths: [String], follow: Bool = false, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(CaptureError) {
    var parts: [CapturePart] = []
    var damage: CaptureError?
    for (index, path) in paths.enumerated() {
      let file = try CapturePart(path: path)
      let isFollowed = follow && index == paths.count - 1
      parts += isFollowed ? [file] : try Self.captures(in: file, &damage, isCancelled)
    }
    self.parts = parts
    self.damage = damage
  }

  private static func captures(
    in file: CapturePart, _ damage: inout CaptureError?, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(CaptureError) -> [CapturePart] {
    let beginning = file.beginning
    if let format = CompressionFormat(beginning.span.bytes) {
      var extraction = Extraction(file, format, isCancelled: isCancelled)
      let captures = try extraction.captures()
      damage = damage ?? extraction.damage
      return captures
    }
    switch EntryKind(beginning, name: nil) {
    case .summary:
      guard let bytes = try contents(of: file) else { return [file] }
      return [try Extraction.part(ofSummary: bytes, name: file.name, path: file.path)]
    case .text:
      guard let summary = try summary(in: file, isCancelled) else { return [file] }
      return [try Extraction.part(ofSummary: summary, name: file.name, path: file.path)]
    case .capture, .other: return [file]
    }
  }

  /// The btsnooz summary in the text of a bug report; nil if it has none.
  private static func summary(
    in file: CapturePart, _ isCancelled: () -> Bool
  ) throws(CaptureError) -> [UInt8]? {
    var text = BTSnoozText()
    try forEachChunk(of: file) { chunk throws(CaptureError) in
      if isCancelled() { throw CaptureError(.cancelled, path: file.path) }
      text.read(chunk)
      return true
    }
    return text.bytes
  }

  /// Nil for a file that is too large for a summary.
  private static func contents(of file: CapturePart) throws(CaptureError) -> [UInt8]? {
    var bytes: [UInt8] = []
    try forEachChunk(of: file) { chunk throws(CaptureError) in
      bytes.append(contentsOf: chunk)
      return bytes.count <= BTSnooz.mostBytes
    }
    return bytes.count <= BTSnooz.mostBytes ? bytes : nil
  }

  private static func forEachChunk(
    of file: CapturePart, _ body: (UnsafeRawBufferPointer) throws(CaptureError) -> Bool
  ) throws(CaptureError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer {
      buffer.deallocate()
      file.rewind()
    }
    while true {
      let count = SystemCall.read(file.descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { throw CaptureError(.cannotRead(lastSystemError), path: file.path) }
      guard count > 0, try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
    }
  }
}

/// One stream of records: a file, a pipe, or a capture that was taken out of an archive or a bug report.
final class CapturePart: Sendable {
  /// For messages: the path, and the name within an archive.
  let name: String
  /// The file that the user has named; "-" is standard input.
  let path: String
  let descriptor: Int32
  let isRegular: Bool
  /// Whether it is Android's summary of recent packets, most of which are cut.
  let isSummary: Bool
  /// Whether it is a copy, which leads to no file by its path and never grows.
  let isCopy: Bool

  /// Opens a file for reading.
  ///
  /// - Parameter path: "-" is standard input
  init(path: String) throws(CaptureError) {
    // Opening a FIFO must not wait for a writer.
    descriptor = path == "-" ? STDIN_FILENO : SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else { throw CaptureError(.cannotOpen(lastSystemError), path: path) }
    self.path = path
    name = path
    isCopy = false
    isSummary = EntryKind.isSummary(path)
    var status = stat()
    let kind = SystemCall.status(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    isRegular = kind == S_IFREG
    // The file is closed with this object.
    if kind == S_IFDIR { throw CaptureError(.cannotOpen("is a directory"), path: path) }
  }

  /// - Parameters:
  ///   - copy: the copied bytes; its descriptor belongs to the part
  ///   - name: for messages
  ///   - path: the file that has them
  ///   - isSummary: whether it was made of btsnooz; a file of that name is one, too
  init(_ copy: consuming TemporaryCopy, name: String, path: String, isSummary: Bool = false) {
    descriptor = copy.take()
    self.name = name
    self.path = path
    isRegular = true
    isCopy = true
    self.isSummary = isSummary || EntryKind.isSummary(name)
  }

  deinit {
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  /// Begins again at the first byte. Standard input and pipes go on where they are.
  func rewind() {
    if isRegular, path != "-" || isCopy { lseek(descriptor, 0, SEEK_SET) }
  }

  /// The first bytes of a regular file, at most 512; the position in it does not change. Empty for standard input.
  var beginning: [UInt8] {
    guard isRegular, path != "-" || isCopy else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, SystemCall.read(descriptor, buffer.baseAddress, buffer.count))
    }
    rewind()
    return bytes
  }
}

/// A file without a name, in the folder for large temporary files: no other process can open it, and it is gone with this one.
struct TemporaryCopy: ~Copyable {
  private var descriptor: Int32
  private(set) var count = 0

  init() throws(CaptureError) {
    descriptor = SystemCall.openUnnamed(in: UserFolders.temporary)
    guard descriptor >= 0 else { throw CaptureError(.cannotCopy(errno)) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Appends bytes.
  mutating func write(_ bytes: RawSpan) throws(CaptureError) {
    var written = 0
    while written < bytes.byteCount {
      let result = bytes.withUnsafeBytes { bytes in
        SystemCall.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw CaptureError(.cannotCopy(errno)) }
      written += result
    }
    count += written
  }

  /// Transfers the descriptor, at its first byte, to the caller.
  consuming func take() -> Int32 {
    lseek(descriptor, 0, SEEK_SET)
    let taken = descriptor
    descriptor = -1
    return taken
  }
}
