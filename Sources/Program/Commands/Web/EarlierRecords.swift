import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import HaloSystem
import HaloViews

/// What earlier runs have written into the folder of `--output` in the last day, read on another thread.
@BluetoothActor
final class EarlierRecords {
  /// What was found.
  private struct Found: Sendable {
    /// By the addresses of the rings.
    var logs: [String: DayLog] = [:]
    var marks: [DayReader.Mark] = []
  }

  private var found = Found()
  private(set) var isReading = true
  private var task: Task<Void, Never>?

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - folder: that of `--output`
  ///   - epoch: in seconds since 1970: the time 0 of the logs
  ///   - now: on the clock of the logs
  ///   - done: called when everything is read
  init(in folder: String, epoch: Double, now: Double, done: @escaping @BluetoothActor () -> Void) {
    let isCancelled = LockedValue(false)
    task = BluetoothActor.run { [weak self] in
      let found = await withTaskCancellationHandler {
        await offTheLoop { Self.read(folder, epoch: epoch, now: now, until: isCancelled) }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
      guard let self else { return }
      self.found = found ?? Found()
      isReading = false
      done()
    }
  }

  /// The log of a ring and its marks, once.
  func take(_ ring: String) -> (log: DayLog, marks: [DayReader.Mark])? {
    found.logs.removeValue(forKey: ring).map { log in (log, found.marks.filter { $0.ring == ring }) }
  }

  func cancel() { task?.cancel() }

  private nonisolated static func read(
    _ folder: String, epoch: Double, now: Double, until isCancelled: LockedValue<Bool>
  ) -> Found {
    var reader = DayReader(epoch: epoch, now: now)
    let earliest = epoch + now - Double(DayLog.length)
    for path in RecordFiles.all(in: folder) where isNewer(path, than: earliest) {
      guard !isCancelled.withLock(\.self) else { return Found() }
      reader.beginFile()
      // A file that can't be read, or is damaged, is missing on the page, and nothing else.
      try? RecordFiles.readLines(of: path, mustBeRegular: true) { reader.add($0) }
    }
    return Found(logs: reader.logs, marks: reader.marks)
  }

  private nonisolated static func isNewer(_ path: String, than seconds: Double) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && Double(status.st_mtim.tv_sec) >= seconds
  }
}
