import Glibc
import HaloSystemCalls

/// Reads what a compressed file or an archive holds, one entry after the other, with libarchive: zip, tar and single files,
/// compressed with gzip, bzip2, xz, zstd or lz4.
struct ArchiveReader: ~Copyable {
  /// The number of bytes read from an entry at once: when the library finds damage, it drops what the same call has read.
  private static let pieceSize = 4096
  /// The number of bytes read from the file at once.
  private static let blockSize = 1 << 16

  private let archive: UnsafeMutableRawPointer
  private let functions: ArchiveLibrary
  /// The entry of the last header.
  private var entry: UnsafeMutableRawPointer?

  /// Opens an archive.
  ///
  /// - Parameters:
  ///   - descriptor: a regular file at its first byte
  ///   - format: how it is compressed
  static func open(_ descriptor: Int32, _ format: CompressionFormat) throws(CaptureError) -> ArchiveReader {
    let functions: ArchiveLibrary
    do throws(LibraryError) {
      functions = try ArchiveLibrary.shared.get()
    } catch {
      throw CaptureError(error.isMissing ? .noArchiveLibrary(format) : .cannotLoad(error))
    }
    guard let archive = functions.readNew() else { throw CaptureError(.cannotCopy(ENOMEM)) }
    // What this build of the library lacks is reported when the file is opened.
    for function in functions.supports { _ = function(archive) }
    guard functions.readOpen(archive, descriptor, blockSize) == ArchiveLibrary.ok else {
      let why = message(archive, functions)
      _ = functions.readFree(archive)
      throw CaptureError(.cannotDecompress(why))
    }
    return ArchiveReader(archive, functions)
  }

  private init(_ archive: UnsafeMutableRawPointer, _ functions: ArchiveLibrary) {
    self.archive = archive
    self.functions = functions
  }

  deinit {
    _ = functions.readFree(archive)
  }

  /// Whether entries can be passed over without reading them.
  var canSkip: Bool { format == ArchiveLibrary.formatZip }

  private var format: Int32 { functions.format(archive) & ArchiveLibrary.formatMask }

  /// Advances to the next entry.
  ///
  /// - Returns: whether there is one
  mutating func advance() throws(CaptureError) -> Bool {
    switch functions.readNextHeader(archive, &entry) {
    case ArchiveLibrary.ok, ArchiveLibrary.warning: return true
    case ArchiveLibrary.endOfFile: return false
    default: throw failure
    }
  }

  /// The entry's path in the archive; nil if the file is compressed alone.
  var name: String? {
    guard let entry, format != ArchiveLibrary.formatRaw else { return nil }
    let name = functions.entryPathUTF8(entry) ?? functions.entryPath(entry)
    return name.map { String(cString: $0) } ?? "an entry without a name"
  }

  /// Whether the entry is a file, not a folder or a link.
  var isFile: Bool {
    entry.map { functions.entryFileType($0) & S_IFMT == S_IFREG } ?? false
  }

  /// Reads bytes of the entry, at most 4096.
  ///
  /// - Returns: the number of bytes; zero at the end of the entry
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let count = functions.readData(archive, base, min(buffer.count, Self.pieceSize))
    guard count >= 0 else { throw failure }
    return count
  }

  private var failure: CaptureError {
    let number = functions.errorNumber(archive)
    guard !SystemError.isExhaustion(number) else { return CaptureError(.cannotCopy(number)) }
    return CaptureError(.cannotDecompress(Self.message(archive, functions)))
  }

  private static func message(
    _ archive: UnsafeMutableRawPointer, _ functions: ArchiveLibrary
  ) -> String {
    functions.errorString(archive).map { String(cString: $0) } ?? "the data is damaged"
  }
}
