import Glibc
import HaloSystem

/// Files of the kernel's file systems.
package enum SmallFile {
  /// The text of a file; nil if it can't be read.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - limit: in bytes; the rest is left out
  package static func text(_ path: String, limit: Int = 1 << 16) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The first line, without the spaces at its ends.
  package static func line(_ path: String) -> String? {
    guard let line = text(path)?.split(separator: "\n").first else { return nil }
    let start = line.drop { $0.isWhitespace }
    let end = start.lastIndex { !$0.isWhitespace }
    return end.map { String(start[...$0]) }
  }

  /// The names in a folder, sorted; none if it can't be read.
  ///
  /// - Parameters:
  ///   - path: the folder
  ///   - limit: how many are read
  package static func names(in path: String, limit: Int = .max) -> [String] {
    FolderNames.read(path, limit: limit).sorted()
  }

  /// The target of a symbolic link.
  package static func target(of path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
