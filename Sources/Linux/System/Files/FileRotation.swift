import Glibc

/// The time on the two clocks that a series of files needs.
package struct FileTime: Hashable, Sendable {
  /// Seconds since 1970-01-01 UTC. The clock can be set, by an hour or by forty days.
  package var unix: Int
  /// Seconds on a clock that is never set.
  package var steady: Int

  package init(unix: Int, steady: Int) {
    (self.unix, self.steady) = (unix, steady)
  }
}

/// The files that records go to, one after the other: a series in a folder, or one file that is opened anew when another
/// program has moved it away. For the thread that writes to an `OutputQueue`, except where it says otherwise.
package final class FileRotation {
  /// When a file of a series ends.
  package enum Limit: Hashable, Sendable {
    /// At the first record after each multiple of this number of seconds since 1970-01-01 UTC; if the clock is set back,
    /// no later than without that.
    case seconds(Int)
    /// Before the record with which it would be longer than this number of bytes.
    case bytes(Int)
  }

  /// The outcome of the removal of old files.
  package struct Removal: Hashable, Sendable {
    /// The names of those that were deleted, in the order of their times.
    package var deleted: [String] = []
    /// How many of earlier runs were not, because the time of day is not known to be right.
    package var undecided = 0
  }

  private enum Target {
    case series(FileSeries, keepTime: Int?)
    case file(KeptFile)
  }

  /// The beginning of each file. Set it before the first change of files.
  package var beginning: [UInt8] {
    get { sharedBeginning.withLock(\.self) }
    set { sharedBeginning.withLock { $0 = newValue } }
  }
  /// The contents of the file beside each file, `FILE.json`, when it begins; nil for none.
  package var description: (() -> [UInt8])?
  /// Called on the thread that changes files when some are deleted, or would be.
  package var onRemoval: @Sendable (Removal) -> Void = { _ in }

  private let target: Target
  private let limit: Limit?
  private let now: () -> FileTime
  private let synchronizedTime: () -> Int?
  private let begun: FileTime
  private let sharedBeginning = LockedValue<[UInt8]>([])
  private let wantsNext = LockedValue(false)
  /// When the present file ends, if time limits it: at the first of both times.
  private var end = FileTime(unix: .max, steady: .max)

  private static let descriptionEnding = ".json"

  /// A series of files.
  ///
  /// - Parameters:
  ///   - series: the files
  ///   - limit: when a file ends; nil for a single file
  ///   - keepTime: files that ended more than this number of seconds ago are deleted when a file begins; nil for never.
  ///     It counts by the clock that is never set. Those of earlier runs are deleted if they are that old by the time of day
  ///     now, and also if the clock has not been set since this object was made
  ///   - now: the time
  ///   - synchronizedTime: the time of day now, in seconds since 1970-01-01 UTC, if it is known to be right: without it, no
  ///     file of an earlier run is deleted
  package init(
    _ series: FileSeries, limit: Limit?, keepTime: Int?, now: @escaping () -> FileTime,
    synchronizedTime: @escaping () -> Int?
  ) {
    target = .series(series, keepTime: keepTime)
    self.limit = limit
    self.now = now
    self.synchronizedTime = synchronizedTime
    begun = now()
  }

  /// One file.
  package init(file path: String) {
    target = .file(KeptFile(path))
    limit = nil
    now = { FileTime(unix: 0, steady: 0) }
    synchronizedTime = { nil }
    begun = now()
  }

  /// The folder of the series, or the file.
  package var path: String {
    switch target {
    case .series(let series, _): series.path
    case .file(let file): file.path
    }
  }

  /// The path of the file that is being written, when it is complete; nil if there is none. From any thread.
  package var currentPath: String? {
    switch target {
    case .series(let series, _): series.currentPath
    case .file(let file): file.path
    }
  }

  /// Opens the first file. Waits for the disk.
  ///
  /// - Parameter existing: the treatment of the data of a single file
  /// - Returns: its descriptor, which the caller closes
  package func begin(existing: OutputFile.ExistingData = .refuse) throws(FileError) -> Int32 {
    try next(existing)()
  }

  /// The next record goes to the next file of the series, or to the file that has the path then. From any thread.
  package var beginNext: @Sendable () -> Void {
    let wantsNext = wantsNext
    return { wantsNext.withLock { $0 = true } }
  }

  /// The beginning of a file that another program has emptied. From any thread.
  package var afterEmptying: @Sendable () -> [UInt8] {
    let beginning = sharedBeginning
    return { beginning.withLock(\.self) }
  }

  /// The last file of a series gets its name. Waits for the disk; from any thread.
  package var completion: @Sendable () throws(FileError) -> Void {
    guard case .series(let series, _) = target else { return {} }
    return { () throws(FileError) in try series.complete() }
  }

  /// The change of files before a record.
  ///
  /// - Parameter length: that of the file with the record, without its ``beginning``
  /// - Returns: nil to go on with the same file
  package func change(_ length: Int) -> OutputQueue.FileChange? {
    guard isDue(length) else { return nil }
    wantsNext.withLock { $0 = false }
    let next = next(.keep)
    return { () throws(SystemError) in
      do throws(FileError) {
        return try next()
      } catch {
        throw SystemError("open", errno: error.systemError ?? EPERM)
      }
    }
  }

  private func isDue(_ length: Int) -> Bool {
    if wantsNext.withLock(\.self) { return true }
    switch limit {
    case .bytes(let most): return beginning.count + length > most
    case .seconds:
      let now = now()
      return now.unix >= end.unix || now.steady >= end.steady
    case nil: return false
    }
  }

  private func next(_ existing: OutputFile.ExistingData) -> @Sendable () throws(FileError) -> Int32 {
    let beginning = self.beginning
    let description = self.description?()
    let open: @Sendable () throws(FileError) -> (file: Int32, path: String?)
    switch target {
    case .series(let series, let keepTime):
      let next = next(of: series, keepTime, beginning)
      open = { () throws(FileError) in (try next(), series.currentPath) }
    case .file(let file):
      open = { () throws(FileError) in (try file.open(existing, beginning: beginning), file.path) }
    }
    return { () throws(FileError) in
      let (file, path) = try open()
      if let description, let path {
        _ = try OutputFile.replace(path + Self.descriptionEnding, with: description)
      }
      return file
    }
  }

  private func next(
    of series: FileSeries, _ keepTime: Int?, _ beginning: [UInt8]
  ) -> @Sendable () throws(FileError) -> Int32 {
    let start = now()
    if case .seconds(let period) = limit {
      end.unix = (start.unix / period + 1) * period
      // Both are whole seconds: without one more, this clock could be a second early.
      end.steady = start.steady + end.unix - start.unix + 1
    }
    let unset = begun.unix + start.steady - begun.steady
    let (synchronized, onRemoval) = (synchronizedTime(), onRemoval)
    return { () throws(FileError) in
      if let keepTime {
        let time = FileTime(unix: min(unset, synchronized ?? unset), steady: start.steady)
        let removal = series.removeFiles(
          olderThan: keepTime, at: time, isSynchronized: synchronized != nil, beside: [Self.descriptionEnding]
        )
        if removal != Removal() { onRemoval(removal) }
      }
      return try series.next(at: start, beginning: beginning)
    }
  }
}
