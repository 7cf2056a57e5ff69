import Glibc

/// Why a file can't be read or written.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why it failed.
  package enum Reason: Hashable, Sendable, CustomStringConvertible {
    /// A system call failed with this error number.
    case system(Int32)
    /// A FIFO opened for writing has no reader.
    case noReader
    /// A FIFO or device provided no data in time.
    case noData
    /// A device, FIFO, socket or folder where a regular file is required.
    case notRegular
    /// Another user owns the file, link or folder, and could change it.
    case foreign
    /// Others than its owner can read the file, which has to be secret.
    case readableByOthers
    /// The file exceeds the size limit.
    case tooLarge(limit: Int)
    /// Another process holds the lock.
    case locked
    /// Another program is writing the file.
    case beingWritten
    /// A rollback journal, which would change the file beside it when that is opened.
    case journal
    /// The file can't be copied to a folder for temporary files, where it would be read; with the error number.
    case noCopy(in: String, Int32)
    /// The name is that of a file, where a folder is needed.
    case notFolder
    /// The file has data, which would be lost.
    case hasData

    package var description: String {
      switch self {
      case .system(let number): SystemError.text(number)
      case .noReader: "no process reads this FIFO; start the reader first"
      case .noData: "no data arrived in time"
      case .notRegular: "not a regular file"
      case .foreign: "it belongs to another user; use a file and a folder of your own"
      case .readableByOthers: "others can read it; take that from them: chmod 600"
      case .tooLarge(let limit): "larger than \(limit >> 10) KiB"
      case .locked: "another process holds its lock"
      case .notFolder: "the name of a file; a series of files needs a folder: end the name with /"
      case .beingWritten: "another program is writing it"
      case .journal:
        "a program was interrupted while it wrote to the file beside this journal, or somebody has put the journal there; "
          + "open the file with that program, or keep a copy of both and move the journal away"
      case .noCopy(let folder, let number):
        "it can't be copied to \(folder.printable) to be read there: \(SystemError.text(number)); "
          + "set TMPDIR to a folder with room for it"
      case .hasData: "it has data already"
      }
    }
  }

  /// The file or folder.
  package var path: String
  /// Why it failed.
  package var reason: Reason

  package init(_ path: String, _ reason: Reason) {
    self.path = path
    self.reason = reason
  }

  /// The error number of a failed system call.
  package var systemError: Int32? {
    switch reason {
    case .system(let number), .noCopy(_, let number): number
    default: nil
    }
  }

  /// Whether the disk, or a limit of space or of file sizes, is the cause, and not this file.
  package var isOfDisk: Bool {
    systemError.map { [ENOSPC, EDQUOT, EFBIG, EIO].contains($0) } ?? false
  }

  /// There is no such file, or no folder for it.
  package var isMissing: Bool { systemError == ENOENT || systemError == ENOTDIR }

  /// The rights of this user do not suffice.
  package var isForbidden: Bool { systemError == EACCES || systemError == EPERM }

  /// The error of the last system call.
  static func last(_ path: String) -> FileError { FileError(path, .system(errno)) }

  package var description: String { "\(path.printable): \(reason)" }
}

/// A descriptor that is closed with its owner.
final class FileDescriptor {
  private(set) var number: Int32

  /// - Returns: nil if `number` is negative; errno is that of the call that returned it
  init?(_ number: Int32) {
    guard number >= 0 else { return nil }
    self.number = number
  }

  deinit {
    if number >= 0 { close(number) }
  }

  /// Transfers the descriptor to the caller, which closes it.
  func take() -> Int32 {
    defer { number = -1 }
    return number
  }

  /// The file status from `fstat`.
  var status: stat? {
    var status = stat()
    return SystemCall.status(number, &status) == 0 ? status : nil
  }
}

extension stat {
  var kind: mode_t { st_mode & S_IFMT }
  var isRegular: Bool { kind == S_IFREG }
  /// A folder in which several users make files, such as `/tmp`.
  var isSharedFolder: Bool { st_mode & S_ISVTX != 0 && st_mode & (S_IWOTH | S_IWGRP) != 0 }
}
