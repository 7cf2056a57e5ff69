import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import RingLink

/// The automatic measurements of rings that this program switched off, in a file for each ring until they are restored.
/// If the program is killed, the next run restores them. The process that switched them off holds a lock beside the file:
/// while it runs, no other process restores them.
@BluetoothActor
final class PausedMeasurements {
  private let folder: String?
  private let report: (String) -> Void
  private var locks: [BluetoothAddress: FileLock] = [:]

  /// - Parameters:
  ///   - folder: nil stores nothing
  ///   - report: takes messages for the user
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

  /// Stores the settings to restore.
  ///
  /// - Returns: whether they are stored
  func keep(_ saved: SavedMeasurements, of ring: BluetoothAddress) -> Bool {
    guard let file = file(of: ring) else { return true }
    let contents = JSONValue.object([
      "ring": .string(ring.description),
      "settings": .object(saved.settings.mapValues { .object($0.mapValues { .integer($0) }) }),
    ])
    guard let lock = try? lock(ring) else { return false }
    do throws(FileError) {
      guard try OutputFile.replace(file.path, with: Array(contents.text.utf8)) == nil else {
        return false
      }
    } catch {
      return false
    }
    locks[ring] = lock
    return true
  }

  /// Takes over the settings that an earlier run switched off and did not restore.
  ///
  /// - Returns: nil if there are none, or if that run has not ended
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
      // The previous holder of the lock may have restored them.
      guard let bytes else {
        lock.remove()
        return nil
      }
      guard let settings = Self.settings(in: bytes) else {
        report(
          "cannot read the automatic measurements to restore; check the ring's settings; the file is now "
            + (try file.setAside()).printable)
        lock.remove()
        return nil
      }
      locks[ring] = lock
      return SavedMeasurements(settings)
    } catch {
      report("cannot restore automatic measurements: \(error)")
      return nil
    }
  }

  /// The settings in a file, of a plausible size; the values are checked when they are written to the ring.
  private static func settings(in bytes: [UInt8]) -> [String: [String: Int]]? {
    let settings = try? JSONValue(parsing: bytes).member("settings", as: [String: [String: Int]].self)
    guard let settings, settings.count <= 64, settings.values.allSatisfy({ $0.count <= 64 }) else {
      return nil
    }
    return settings
  }

  /// Removes the file after the settings are restored.
  func drop(of ring: BluetoothAddress) {
    guard let file = file(of: ring) else { return }
    unlink(file.path)
    locks.removeValue(forKey: ring)?.remove()
  }

  /// Releases the lock without restoring, so that the next process can.
  func release(_ ring: BluetoothAddress) {
    locks[ring] = nil
  }

  /// Whether there are settings to restore.
  func isKept(for ring: BluetoothAddress) -> Bool {
    file(of: ring).map { access($0.path, F_OK) == 0 } ?? false
  }
}
