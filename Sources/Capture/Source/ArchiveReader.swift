import CCompression
import Glibc

/// Reads what a compressed file or an archive holds, one entry after the other, with libarchive: zip, tar and single files,
/// compressed with gzip, bzip2, xz, zstd or lz4.
struct ArchiveReader: ~Copyable {
  /// Loaded when it is first needed; nil if it is not installed. Never changed, and kept until the end of the process.
  private nonisolated(unsafe) static let library: UnsafePointer<halo_archive>? = {
    let functions = UnsafeMutablePointer<halo_archive>.allocate(capacity: 1)
    guard halo_archive_load(functions) == 0 else {
      functions.deallocate()
      return nil
    }
    return UnsafePointer(functions)
  }()

  /// The number of bytes read from an entry at once: when the library finds damage, it drops what the same call has read.
  private static let pieceSize = 4096
  /// The number of bytes read from the file at once.
  private static let blockSize = 1 << 16

  private let archive: UnsafeMutableRawPointer
  private let functions: UnsafePointer<halo_archive>
  /// The entry of the last header.
  private var entry: UnsafeMutableRawPointer?

  /// Opens an archive.
  ///
  /// - Parameters:
  ///   - descriptor: a regular file at its first byte
  ///   - format: how it is compressed
  static func open(_ descriptor: Int32, _ format: CompressionFormat) throws(CaptureError) -> ArchiveReader {
    guard let functions = library else { throw CaptureError(.noArchiveLibrary(format)) }
    guard let archive = functions.pointee.read_new() else {
      throw CaptureError(.cannotDecompress("no memory"))
    }
    let prepare = [
      functions.pointee.read_support_filter_gzip, functions.pointee.read_support_filter_bzip2,
      functions.pointee.read_support_filter_xz, functions.pointee.read_support_filter_zstd,
      functions.pointee.read_support_filter_lz4, functions.pointee.read_support_format_zip,
      functions.pointee.read_support_format_tar, functions.pointee.read_support_format_raw,
    ]
    // What this build of the library lacks is reported when the file is opened.
    for function in prepare { _ = function(archive) }
    guard functions.pointee.read_open_fd(archive, descriptor, blockSize) == HALO_ARCHIVE_OK else {
      let why = message(archive, functions)
      _ = functions.pointee.read_free(archive)
      throw CaptureError(.cannotDecompress(why))
    }
    return ArchiveReader(archive, functions)
  }

  private init(_ archive: UnsafeMutableRawPointer, _ functions: UnsafePointer<halo_archive>) {
    self.archive = archive
    self.functions = functions
  }

  deinit {
    _ = functions.pointee.read_free(archive)
  }

  /// Whether entries can be passed over without reading them.
  var canSkip: Bool { format == HALO_ARCHIVE_FORMAT_ZIP }

  private var format: Int32 { functions.pointee.format(archive) & HALO_ARCHIVE_FORMAT_BASE_MASK }

  /// Advances to the next entry.
  ///
  /// - Returns: whether there is one
  mutating func advance() throws(CaptureError) -> Bool {
    switch functions.pointee.read_next_header(archive, &entry) {
    case HALO_ARCHIVE_OK, HALO_ARCHIVE_WARN: return true
    case HALO_ARCHIVE_EOF: return false
    default: throw failure
    }
  }

  /// The entry's path in the archive; nil if the file is compressed alone.
  var name: String? {
    guard let entry, format != HALO_ARCHIVE_FORMAT_RAW else { return nil }
    let name = functions.pointee.entry_pathname_utf8(entry) ?? functions.pointee.entry_pathname(entry)
    return name.map { String(cString: $0) } ?? "an entry without a name"
  }

  /// Whether the entry is a file, not a folder or a link.
  var isFile: Bool {
    entry.map { functions.pointee.entry_filetype($0) & S_IFMT == S_IFREG } ?? false
  }

  /// Reads bytes of the entry, at most 4096.
  ///
  /// - Returns: the number of bytes; zero at the end of the entry
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let count = functions.pointee.read_data(archive, base, min(buffer.count, Self.pieceSize))
    guard count >= 0 else { throw failure }
    return count
  }

  private var failure: CaptureError { CaptureError(.cannotDecompress(Self.message(archive, functions))) }

  private static func message(
    _ archive: UnsafeMutableRawPointer, _ functions: UnsafePointer<halo_archive>
  ) -> String {
    functions.pointee.error_string(archive).map { String(cString: $0) } ?? "the data is damaged"
  }
}
