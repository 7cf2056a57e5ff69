import HaloCommandLine
import HaloSystem
import HaloStorage

/// The files that `stream` and `measure` write, line by line.
enum RecordFiles {
  private static let longestLine = 1 << 20

  /// The files of a session in a folder, in the order of their names, with the one that is being written. Only regular files:
  /// others can keep their reader waiting.
  static func all(in folder: String) -> [String] {
    SmallFile.names(in: folder).filter { name in
      [".csv", ".jsonl"].contains { FileSeries.complete(name).hasSuffix($0) }
    }.map { "\(folder)/\($0)" }.filter { FileIdentity(path: $0) != nil }
  }

  /// Reads a file; a last line without an end is left out, as its writer may have been killed.
  ///
  /// - Parameter mustBeRegular: whether anything but a file is left out, as it may keep its reader waiting
  static func readLines(
    of path: String, mustBeRegular: Bool, _ take: (ArraySlice<UInt8>) -> Void
  ) throws(Failure) {
    var rest: [UInt8] = []
    var lineIsTooLong = false
    do throws(FileError) {
      try InputFile.read(path, mustBeRegular: mustBeRegular) { bytes in
        rest += bytes
        var start = rest.startIndex
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
          take(rest[start..<end])
          start = end + 1
        }
        rest.removeSubrange(..<start)
        lineIsTooLong = rest.count >= longestLine
        return !lineIsTooLong
      }
    } catch {
      throw Failure(.cannotOpenFile, "cannot read \(error)")
    }
    guard !lineIsTooLong else {
      throw Failure(
        .badData, "\(path.printable) is not text: a line is longer than \(longestLine >> 20) MiB")
    }
  }
}
