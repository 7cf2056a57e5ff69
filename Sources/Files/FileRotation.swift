import Glibc
import SystemCalls

/// The time on the two clocks that a series of files needs.
public struct FileTime: Hashable, Sendable {
  /// Seconds since 1970-01-01 UTC. The clock can be set, by an hour or by forty days.
  public var unix: Int
  /// Seconds on a clock that is never set.
  public var steady: Int

  public init(unix: Int, steady: Int) {
    (self.unix, self.steady) = (unix, steady)
  }
}

/// Decides when the next file of a series begins, and which are deleted. For the thread that writes to an `OutputQueue`.
public final class FileRotation {
  /// When a file ends.
  public enum Limit: Hashable, Sendable {
    /// At the first record after each multiple of this number of seconds since 1970-01-01 UTC; if the clock is set back,
    /// no later than without that.
    case seconds(Int)
    /// Before the record with which it would be longer than this number of bytes.
    case bytes(Int)
  }

  /// The files.
  public let series: FileSeries
  /// What each file begins with. Set it before the first change of files.
  public var beginning: [UInt8] = []
  /// The contents of the file beside each file, `FILE.json`, when it begins; nil for none.
  public var description: (() -> [UInt8])?

  private let limit: Limit?
  /// In seconds.
  private let keepTime: Int?
  private let now: () -> FileTime
  private let begun: FileTime
  /// When the present file ends, if time limits it: at the first of both times.
  private var end = FileTime(unix: .max, steady: .max)

  private static let descriptionEnding = ".json"

  /// - Parameters:
  ///   - series: the files
  ///   - limit: when a file ends; nil for a single file
  ///   - keepTime: files that ended more than this number of seconds ago are deleted when a file begins; nil for never. It counts
  ///     by the clock that is never set, and those of earlier runs by the time of day when this object is made
  ///   - now: the time
  public init(_ series: FileSeries, limit: Limit?, keepTime: Int?, now: @escaping () -> FileTime) {
    self.series = series
    self.limit = limit
    self.keepTime = keepTime
    self.now = now
    begun = now()
  }

  /// Begins the first file. Waits for the disk.
  ///
  /// - Returns: its descriptor, which the caller closes
  public func begin() throws(FileError) -> Int32 { try next()() }

  /// The change of files before a record.
  ///
  /// - Parameter length: that of the file with the record, without its ``beginning``
  /// - Returns: nil to go on with the same file
  public func change(_ length: Int) -> OutputQueue.FileChange? {
    switch limit {
    case .bytes(let most) where beginning.count + length > most: break
    case .seconds where isDue: break
    default: return nil
    }
    let next = next()
    return { () throws(SystemError) in
      do throws(FileError) {
        return try next()
      } catch {
        throw SystemError("open", errno: error.systemError ?? EPERM)
      }
    }
  }

  private var isDue: Bool {
    let now = now()
    return now.unix >= end.unix || now.steady >= end.steady
  }

  private func next() -> @Sendable () throws(FileError) -> Int32 {
    let start = now()
    if case .seconds(let period) = limit {
      end.unix = (start.unix / period + 1) * period
      end.steady = start.steady + end.unix - start.unix
    }
    let series = self.series
    let beginning = self.beginning
    let description = self.description?()
    let keepTime = self.keepTime
    let unset = FileTime(unix: begun.unix + start.steady - begun.steady, steady: start.steady)
    return { () throws(FileError) in
      if let keepTime {
        series.removeFiles(olderThan: keepTime, at: unset, beside: [Self.descriptionEnding])
      }
      let descriptor = try series.next(at: start, beginning: beginning)
      if let description, let path = series.currentPath {
        _ = try OutputFile.replace(path + Self.descriptionEnding, with: description)
      }
      return descriptor
    }
  }
}
