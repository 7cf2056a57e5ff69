import Files
import Glibc

extension MessageQueue {
  /// Opens or creates a queue. A file that can't be read as one is kept under another name, and a new one takes its
  /// place.
  ///
  /// - Parameters:
  ///   - path: the file; its folder must exist
  ///   - limit: the number of bytes of messages to keep
  ///   - isDamaged: whether that is known of the file already
  /// - Returns: the queue, and the new path of the damaged file; nil if it is not damaged
  package static func openOrReplace(
    path: String, limit: Int = standardLimit, isDamaged: Bool = false
  ) throws(QueueError) -> (queue: MessageQueue, damaged: String?) {
    do throws(QueueError) {
      if isDamaged { throw .damaged(path) }
      return (try MessageQueue(path: path, limit: limit), nil)
    } catch {
      guard error.isOfContents else { throw error }
    }
    let moved = try setAside(damaged: path)
    return (try MessageQueue(path: path, limit: limit), moved)
  }

  /// The end of the names of damaged files, with a number if there are several.
  package static let damagedSuffix = ".damaged"
  private static let mostDamaged = 9

  /// Gives a file another name. Of too many, the last is replaced.
  private static func setAside(damaged path: String) throws(QueueError) -> String {
    do throws(FileError) {
      guard let lock = try FileLock.attempt(path + ".lock") else { throw FileError(path, .locked) }
      defer { withExtendedLifetime(lock) {} }
      let names = [path + damagedSuffix] + (2...mostDamaged).map { "\(path)\(damagedSuffix)-\($0)" }
      let target = names.first { access($0, F_OK) != 0 } ?? names[names.count - 1]
      guard rename(path, target) == 0 else { throw FileError(path, .system(errno)) }
      // What belongs to the file must not be taken for a part of the new one.
      if rename(path + "-wal", target + "-wal") != 0 { unlink(path + "-wal") }
      unlink(path + "-shm")
      return target
    } catch {
      throw error.reason == .locked ? .busy : .file(error)
    }
  }
}
