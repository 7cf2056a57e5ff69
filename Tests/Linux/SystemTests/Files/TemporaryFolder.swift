import Glibc
import HaloSystem
import TestSupport
import Testing

/// A folder that is removed with all that is in it.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/halo-files-XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Disk.remove(path) }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a file with these contents and this mode.
  func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
    let file = open(self(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
    fchmod(file, mode)
  }

  /// The contents of a file; nil if it can't be read.
  func read(_ name: String) -> String? { Disk.text(of: self(name)) }

  func status(_ name: String) throws -> stat {
    var status = stat()
    try #require(lstat(self(name), &status) == 0)
    return status
  }

  /// The names of what is in the folder.
  var names: [String] { Disk.names(in: path) }
}

/// What a throwing call fails with; nil if it does not.
func failure(_ work: () throws -> Void) -> FileError.Reason? {
  do {
    try work()
    return nil
  } catch let error as FileError {
    return error.reason
  } catch {
    return nil
  }
}
