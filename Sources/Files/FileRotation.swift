import Glibc
import SystemCalls

/// Decides when the next file of a series begins, and which are deleted. For the thread that writes to an `OutputQueue`.
public final class FileRotation {
  /// When a file ends.
  public enum Limit: Hashable, Sendable {
    /// At the first record after each multiple of this number of seconds since 1970-01-01 UTC.
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
  private let now: () -> Int
  /// When the present file ends, if time limits it; seconds since 1970-01-01 UTC.
  private var end = Int.max

  private static let descriptionEnding = ".json"

  /// - Parameters:
  ///   - series: the files
  ///   - limit: when a file ends; nil for a single file
  ///   - keepTime: files that ended more than this number of seconds ago are deleted when a file begins; nil for never
  ///   - now: the time in seconds since 1970-01-01 UTC
  public init(_ series: FileSeries, limit: Limit?, keepTime: Int?, now: @escaping () -> Int) {
    self.series = series
    self.limit = limit
    self.keepTime = keepTime
    self.now = now
  }

  /// Begins the first file. Waits for the disk.
  ///
  /// - Returns: its descriptor, which the caller closes
  public func begin() throws(FileError) -> Int32 { try next()() }

  /// The change of files before a record.
  ///
  /// - Parameter length: that of the file with the record
  /// - Returns: nil to go on with the same file
  public func change(_ length: Int) -> OutputQueue.FileChange? {
    switch limit {
    case .bytes(let most) where length > most: break
    case .seconds where now() >= end: break
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

  private func next() -> @Sendable () throws(FileError) -> Int32 {
    let start = now()
    if case .seconds(let period) = limit { end = (start / period + 1) * period }
    let series = self.series
    let beginning = self.beginning
    let description = self.description?()
    let oldest = keepTime.map { start - $0 }
    return { () throws(FileError) in
      if let oldest { series.removeFiles(before: oldest, beside: [Self.descriptionEnding]) }
      let descriptor = try series.next(at: start, beginning: beginning)
      if let description, let path = series.currentPath {
        _ = try OutputFile.replace(path + Self.descriptionEnding, with: description)
      }
      return descriptor
    }
  }
}
