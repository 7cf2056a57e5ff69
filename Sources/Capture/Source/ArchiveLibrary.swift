import Glibc
import SystemCalls

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
  // Of an entry.
  let entryPathUTF8: Text
  let entryPath: Text
  let entryFileType: @convention(c) (UnsafeMutableRawPointer) -> mode_t

  /// Nil if the library is not installed, or lacks a function.
  static let shared = ArchiveLibrary()

  private init?() {
    let kinds = [
      "filter_gzip", "filter_bzip2", "filter_xz", "filter_zstd", "filter_lz4", "format_zip", "format_tar",
      "format_raw",
    ]
    guard let library = LoadedLibrary("libarchive.so.13"),
      let readNew = library.function("archive_read_new", as: (@convention(c) () -> Archive?).self),
      let readFree = library.function("archive_read_free", as: Call.self),
      let readOpen = library.function(
        "archive_read_open_fd", as: (@convention(c) (Archive, Int32, Int) -> Int32).self),
      let readNextHeader = library.function(
        "archive_read_next_header",
        as: (@convention(c) (Archive, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32).self),
      let readData = library.function(
        "archive_read_data", as: (@convention(c) (Archive, UnsafeMutableRawPointer, Int) -> Int).self),
      let format = library.function("archive_format", as: Call.self),
      let errorString = library.function("archive_error_string", as: Text.self),
      let entryPathUTF8 = library.function("archive_entry_pathname_utf8", as: Text.self),
      let entryPath = library.function("archive_entry_pathname", as: Text.self),
      let entryFileType = library.function(
        "archive_entry_filetype", as: (@convention(c) (UnsafeMutableRawPointer) -> mode_t).self)
    else { return nil }
    self.readNew = readNew
    self.readFree = readFree
    supports = kinds.compactMap { library.function("archive_read_support_\($0)", as: Call.self) }
    guard supports.count == kinds.count else { return nil }
    self.readOpen = readOpen
    self.readNextHeader = readNextHeader
    self.readData = readData
    self.format = format
    self.errorString = errorString
    self.entryPathUTF8 = entryPathUTF8
    self.entryPath = entryPath
    self.entryFileType = entryFileType
  }
}
