import BluetoothCore
import EventLoop
import FoundationEssentials
import Glibc
import RingLink

/// The measurements that rings make by themselves and that this program has switched off: kept in a file for each ring
/// until they are restored, so that a program that was killed leaves nothing behind for good. Who has switched them off
/// holds a lock on the file: as long as it runs, nobody else restores them.
@BluetoothActor
final class PausedMeasurements {
  /// What the file holds.
  private struct Contents: Codable {
    var ring: String
    var settings: [String: [String: Int]]
  }

  private let folder: String?
  private var locks: [BluetoothAddress: Int32] = [:]

  /// - Parameter folder: nil keeps nothing beyond this process
  init(folder: String?) {
    self.folder = folder
  }

  private func path(of ring: BluetoothAddress) -> String? {
    folder.map { "\($0)/\(ring.description.replacing(":", with: "-"))-\(ring.kind).json" }
  }

  /// Keeps what has to be restored, safe from here on.
  ///
  /// - Returns: whether it could be kept
  func keep(_ saved: SavedMeasurements, of ring: BluetoothAddress) -> Bool {
    guard let folder, let path = path(of: ring) else { return true }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    guard let data = try? encoder.encode(Contents(ring: ring.description, settings: saved.settings)) else {
      return false
    }
    try? FileManager.default.createDirectory(
      at: URL(filePath: folder, directoryHint: .isDirectory), withIntermediateDirectories: true)
    let draft = "\(path).\(getpid())"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    let count = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == data.count, fsync(descriptor) == 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0,
      rename(draft, path) == 0
    else {
      unlink(draft)
      close(descriptor)
      return false
    }
    hold(descriptor, for: ring)
    return true
  }

  /// What an earlier run has switched off and could not restore; it is ours from here on.
  ///
  /// - Returns: nil if there is none, or if the one who has switched it off still runs
  func claim(of ring: BluetoothAddress) -> SavedMeasurements? {
    guard let path = path(of: ring), locks[ring] == nil else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    hold(descriptor, for: ring)
    guard let data = try? Data(contentsOf: URL(filePath: path)),
      let contents = try? JSONDecoder().decode(Contents.self, from: data)
    else {
      // Nobody can restore anything with it.
      drop(of: ring)
      return nil
    }
    return SavedMeasurements(contents.settings)
  }

  /// They are restored.
  func drop(of ring: BluetoothAddress) {
    if let path = path(of: ring) { unlink(path) }
    release(ring)
  }

  /// They are not restored: the next one may.
  func release(_ ring: BluetoothAddress) {
    if let descriptor = locks.removeValue(forKey: ring) { close(descriptor) }
  }

  /// Whether something has still to be restored.
  func isKept(for ring: BluetoothAddress) -> Bool {
    path(of: ring).map { access($0, F_OK) == 0 } ?? false
  }

  private func hold(_ descriptor: Int32, for ring: BluetoothAddress) {
    release(ring)
    locks[ring] = descriptor
  }
}
