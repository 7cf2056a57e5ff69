import Glibc
import HaloSystem

/// Reads the contents of a compressed file or an archive, one entry after the other, with libarchive: zip, tar and single
/// files, compressed with gzip, bzip2, xz, zstd or lz4.
struct ArchiveReader: ~Copyable {
  /// The number of bytes read from an entry at once: when the library finds damage, it drops the data of the same call.
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
    // A format that this build of the library lacks is reported when the file is opened.
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

  /// Whether entries can be skipped without reading them.
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

  private static func message(_ archive: UnsafeMutableRawPointer, _ functions: ArchiveLibrary) -> String {
    functions.errorString(archive).map { String(cString: $0) } ?? "the data is damaged"
  }
}

/// The functions of libarchive that are used, as archive.h and archive_entry.h declare them. It is loaded when a
/// compressed capture is opened, as most programs never need it. Its interface has been stable for more than ten years,
/// so a build needs no headers of it.
struct ArchiveLibrary: Sendable {
  // Results of functions.
  static let endOfFile: Int32 = 1
  static let ok: Int32 = 0
  static let warning: Int32 = -20
  // Formats of archives.
  static let formatMask: Int32 = 0xFF0000
  static let formatZip: Int32 = 0x50000
  static let formatRaw: Int32 = 0x90000

  typealias Archive = UnsafeMutableRawPointer
  typealias Call = @convention(c) (Archive) -> Int32
  typealias Text = @convention(c) (Archive) -> UnsafePointer<CChar>?

  let readNew: @convention(c) () -> Archive?
  let readFree: Call
  /// The functions that make it read each kind of compression and archive.
  let supports: [Call]
  let readOpen: @convention(c) (Archive, Int32, Int) -> Int32
  let readNextHeader: @convention(c) (Archive, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32
  let readData: @convention(c) (Archive, UnsafeMutableRawPointer, Int) -> Int
  let format: Call
  let errorString: Text
  let errorNumber: Call
  // Functions on an entry.
  let entryPathUTF8: Text
  let entryPath: Text
  let entryFileType: @convention(c) (UnsafeMutableRawPointer) -> mode_t

  /// The library, loaded at the first use.
  static let shared = Result { () throws(LibraryError) in try ArchiveLibrary() }

  private init() throws(LibraryError) {
    let library = try LoadedLibrary("libarchive.so.13")
    let kinds = [
      "filter_gzip", "filter_bzip2", "filter_xz", "filter_zstd", "filter_lz4", "format_zip", "format_tar",
      "format_raw",
    ]
    readNew = try library.required("archive_read_new")
    readFree = try library.required("archive_read_free")
    supports = try kinds.map { kind throws(LibraryError) in
      try library.required("archive_read_support_\(kind)")
    }
    readOpen = try library.required("archive_read_open_fd")
    readNextHeader = try library.required("archive_read_next_header")
    readData = try library.required("archive_read_data")
    format = try library.required("archive_format")
    errorString = try library.required("archive_error_string")
    errorNumber = try library.required("archive_errno")
    entryPathUTF8 = try library.required("archive_entry_pathname_utf8")
    entryPath = try library.required("archive_entry_pathname")
    entryFileType = try library.required("archive_entry_filetype")
  }
}
