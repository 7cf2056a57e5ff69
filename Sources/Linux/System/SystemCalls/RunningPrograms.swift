import Glibc

/// The running programs, from /proc.
package enum RunningPrograms {
  /// The numbers of the processes, as the names of their folders.
  package static var numbers: [String] { FolderNames.read("/proc").filter { $0.allSatisfy(\.isNumber) } }

  /// Whether a program with this name runs. The kernel keeps 15 bytes of a name.
  package static func contains(_ name: String) -> Bool { numbers.contains { Self.name(of: $0) == name } }

  /// The name of a process; nil if it has ended.
  package static func name(of number: String) -> String? {
    let descriptor = SystemCall.open("/proc/\(number)/comm", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = SystemCall.read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
