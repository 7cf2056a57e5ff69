import Glibc
import HaloSystemCalls

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
