import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import HaloSystem
import HaloViews

/// What earlier runs have written into the folder of `--output` in the last day, read on another thread.
@BluetoothActor
final class EarlierRecords {
  /// By the addresses of the rings.
  private var logs: [String: DayLog] = [:]
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
      let logs = await withTaskCancellationHandler {
        await offTheLoop { Self.read(folder, epoch: epoch, now: now, until: isCancelled) }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
      guard let self else { return }
      self.logs = logs ?? [:]
      isReading = false
      done()
    }
  }

  /// The log of a ring, once.
  func take(_ ring: String) -> DayLog? { logs.removeValue(forKey: ring) }

  func cancel() { task?.cancel() }

  private nonisolated static func read(
    _ folder: String, epoch: Double, now: Double, until isCancelled: LockedValue<Bool>
  ) -> [String: DayLog] {
    var reader = DayReader(epoch: epoch, now: now)
    let earliest = epoch + now - Double(DayLog.length)
    for path in RecordFiles.all(in: folder) where isNewer(path, than: earliest) {
      guard !isCancelled.withLock(\.self) else { return [:] }
      reader.beginFile()
      // A file that can't be read, or is damaged, is missing on the page, and nothing else.
      try? RecordFiles.readLines(of: path, mustBeRegular: true) { reader.add($0) }
    }
    return reader.logs
  }

  private nonisolated static func isNewer(_ path: String, than seconds: Double) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && Double(status.st_mtim.tv_sec) >= seconds
  }
}
