import HaloBluetoothCore
import HaloSystem

/// The state of one of a program's managers, stored for its next run. The managers of all programs of a user share a file for
/// each role.
package protocol RestorationRecord: StoredEntry, Equatable {
  /// The role of the managers, for messages: central, peripheral.
  static var role: String { get }
  /// The name of the file.
  static var fileName: String { get }
  /// The name of the program.
  var program: String { get }
  /// The manager, among those of the program.
  var identifier: String { get }
  var isEmpty: Bool { get }

  init(program: String, identifier: String)
}

extension RestorationRecord {
  /// The number of managers that are kept: the ones that were stored last.
  package static var limit: Int { 64 }

  private static func file(_ path: String) -> VersionedFile<Self> {
    VersionedFile(path: path, of: "managers to restore", in: "managers", keeping: limit)
  }

  /// Locks the record of a manager for one that runs, until the lock is released or the process ends, for any reason.
  ///
  /// - Parameters:
  ///   - program: the name of the program
  ///   - identifier: the manager
  ///   - folder: where the file with the records is; it is made if it is missing
  /// - Returns: nil if another one that runs has it, in this process or in another
  /// - Throws: if nothing can be stored there
  package static func hold(program: String, identifier: String, folder: String) throws(FileError) -> FileLock?
  {
    let running = folder + "/running"
    // Before anything is made in a folder of another user.
    try PrivateFolder.make(folder)
    try PrivateFolder.make(running)
    // A name of any length and with any characters has a file of its own.
    let hash = FNV1a.hash("\(program)\0\(identifier)".utf8)
    return try FileLock.attempt("\(running)/\(role).\(String(hash, radix: 16))")
  }

  /// The record of a manager; nil for none.
  ///
  /// - Parameters:
  ///   - program: the name of the program
  ///   - identifier: the manager
  ///   - path: the file; it may be missing
  ///   - report: takes messages for the user
  package static func stored(
    program: String, identifier: String, path: String, report: (String) -> Void
  ) -> Self? {
    file(path).read(report).last { $0.program == program && $0.identifier == identifier }
  }

  /// Stores it, in place of the earlier record of this manager. Blocks for the time of a few writes, or for the lock.
  ///
  /// - Parameters:
  ///   - path: the file, which is made if it is missing
  ///   - report: takes messages for the user
  package func store(path: String, report: (String) -> Void) {
    do throws(VersionedFileError) {
      try Self.file(path).update(report) { all in
        let before = all
        all.removeAll { $0.program == program && $0.identifier == identifier }
        if !isEmpty { all.append(self) }
        return all != before
      }
    } catch {
      report("cannot store what the \(Self.role) manager does: \(error)")
    }
  }
}
