import BluetoothCore
import EventLoop
import Files
import FoundationEssentials
import Glibc
import RingLink

/// The measurements that rings make by themselves and that this program has switched off: kept in a file for each ring
/// until they are restored, so that a program that was killed leaves nothing behind for good. Who has switched them off
/// holds a lock beside the file: as long as it runs, no other process restores them.
@BluetoothActor
final class PausedMeasurements {
  /// What the file holds.
  private struct Contents: Codable {
    var ring: String
    var settings: [String: [String: Int]]

    /// Whether there can be such settings; what fields may hold is known where they are written.
    var isPlausible: Bool { settings.count <= 64 && settings.values.allSatisfy { $0.count <= 64 } }
  }

  private let folder: String?
  private let report: (String) -> Void
  private var locks: [BluetoothAddress: FileLock] = [:]

  /// - Parameters:
  ///   - folder: nil keeps nothing beyond this process
  ///   - report: what to do with a line for the user
  init(folder: String?, report: @escaping (String) -> Void = { Console.error("halo-raw: \($0)") }) {
    self.folder = folder
    self.report = report
  }

  private func file(of ring: BluetoothAddress) -> StateFile? {
    folder.map {
      StateFile(
        path: "\($0)/\(ring.description.replacing(":", with: "-"))-\(ring.kind).json", limit: 64 << 10)
    }
  }

  /// Takes the ring's lock, unless another process has it.
  private func lock(_ ring: BluetoothAddress) throws(FileError) -> FileLock? {
    if let lock = locks[ring] { return lock }
    guard let folder, let file = file(of: ring) else { return nil }
    try PrivateFolder.make(folder)
    return try FileLock.attempt(file.path + ".lock")
  }

  /// Keeps what has to be restored, safe from here on.
  ///
  /// - Returns: whether it could be kept
  func keep(_ saved: SavedMeasurements, of ring: BluetoothAddress) -> Bool {
    guard let file = file(of: ring) else { return true }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    guard let data = try? encoder.encode(Contents(ring: ring.description, settings: saved.settings)),
      let lock = try? lock(ring)
    else { return false }
    do throws(FileError) {
      guard try OutputFile.replace(file.path, with: Array(data)) == nil else { return false }
    } catch {
      return false
    }
    locks[ring] = lock
    return true
  }

  /// What an earlier run has switched off and could not restore; it is ours from here on.
  ///
  /// - Returns: nil if there is none, or if the one who has switched it off still runs
  func claim(of ring: BluetoothAddress) -> SavedMeasurements? {
    guard let file = file(of: ring), access(file.path, F_OK) == 0, locks[ring] == nil else { return nil }
    do throws(FileError) {
      guard let lock = try lock(ring) else { return nil }
      let bytes: [UInt8]?
      do throws(FileError) {
        bytes = try file.read()
      } catch {
        guard case .tooLarge = error.reason else { throw error }
        bytes = []
      }
      // Its holder may have restored it before the lock was free.
      guard let bytes else {
        lock.remove()
        return nil
      }
      guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)), contents.isPlausible
      else {
        report(
          "what an earlier run has switched off can't be read, and so not be restored; it is kept as "
            + (try file.setAside()).printable)
        lock.remove()
        return nil
      }
      locks[ring] = lock
      return SavedMeasurements(contents.settings)
    } catch {
      report("what an earlier run has switched off is not restored: \(error)")
      return nil
    }
  }

  /// They are restored.
  func drop(of ring: BluetoothAddress) {
    guard let file = file(of: ring) else { return }
    unlink(file.path)
    locks.removeValue(forKey: ring)?.remove()
  }

  /// They are not restored: the next one may.
  func release(_ ring: BluetoothAddress) {
    locks[ring] = nil
  }

  /// Whether something has still to be restored.
  func isKept(for ring: BluetoothAddress) -> Bool {
    file(of: ring).map { access($0.path, F_OK) == 0 } ?? false
  }
}
