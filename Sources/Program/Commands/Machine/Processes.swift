import Glibc
import HaloCommandLine

/// The running programs, from /proc.
enum Processes {
  /// Whether a program with this name runs. The kernel keeps 15 bytes of a name.
  static func isRunning(_ name: String) -> Bool {
    numbers.contains { SmallFile.line("/proc/\($0)/comm") == name }
  }

  /// The names of the other programs that hold HCI sockets and may have taken an adapter. Without privileges, only the
  /// user's own programs are visible.
  static func holdingHCISockets() -> [String] {
    guard let table = SmallFile.text("/proc/net/hci") else { return [] }
    let sockets = Set(socketNumbers(inTable: table).map { "socket:[\($0)]" })
    let own = String(getpid())
    var names: Set<String> = []
    for number in numbers where number != own && !sockets.isEmpty {
      let holds = SmallFile.names(in: "/proc/\(number)/fd").contains { descriptor in
        SmallFile.target(of: "/proc/\(number)/fd/\(descriptor)").map { sockets.contains($0) } ?? false
      }
      if holds, let name = SmallFile.line("/proc/\(number)/comm") { names.insert(name) }
    }
    return names.sorted()
  }

  /// The inode numbers in the text of `/proc/net/hci`: the sixth column, after a heading.
  static func socketNumbers(inTable text: String) -> [UInt64] {
    text.split(separator: "\n").dropFirst().compactMap { line in
      let columns = line.split(separator: " ", omittingEmptySubsequences: true)
      return columns.count > 5 ? UInt64(columns[5]) : nil
    }
  }

  private static var numbers: [String] {
    SmallFile.names(in: "/proc").filter { $0.allSatisfy(\.isNumber) }
  }
}
