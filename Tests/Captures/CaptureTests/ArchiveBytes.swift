/// Archives, put down byte by byte; what they hold is stored, not compressed.
enum ArchiveBytes {
  /// A gzip file (RFC 1952) whose blocks are stored (RFC 1951, 3.2.4).
  static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var blocks: [UInt8] = []
    for start in stride(from: 0, to: max(bytes.count, 1), by: 65_535) {
      let block = bytes[start..<min(start + 65_535, bytes.count)]
      let length = UInt16(block.count)
      blocks += [block.endIndex == bytes.count ? 1 : 0] + integer(length, big: false)
      blocks += integer(~length, big: false) + block
    }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + blocks + integer(checksum(bytes), big: false)
      + integer(UInt32(bytes.count), big: false)
  }

  /// A zip file (APPNOTE.TXT, 4.3).
  static func zip(_ entries: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    var files: [UInt8] = []
    var directory: [UInt8] = []
    for (name, bytes) in entries {
      let size = integer(UInt32(bytes.count), big: false)
      let common =
        [20, 0] + [UInt8](repeating: 0, count: 8) + integer(checksum(bytes), big: false) + size + size
        + integer(UInt16(name.utf8.count), big: false) + [0, 0]
      directory += Array("PK\u{1}\u{2}".utf8) + [20, 0] + common + [UInt8](repeating: 0, count: 10)
      directory += integer(UInt32(files.count), big: false) + Array(name.utf8)
      files += Array("PK\u{3}\u{4}".utf8) + common + Array(name.utf8) + bytes
    }
    let count = integer(UInt16(entries.count), big: false)
    return files + directory + Array("PK\u{5}\u{6}".utf8) + [0, 0, 0, 0] + count + count
      + integer(UInt32(directory.count), big: false) + integer(UInt32(files.count), big: false) + [0, 0]
  }

  /// A tar file (POSIX.1-1988, ustar). A name that ends with a slash is a folder.
  static func tar(_ entries: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    var file: [UInt8] = []
    for (name, bytes) in entries {
      var header = [UInt8](repeating: 0, count: 512)
      func put(_ text: String, at place: Int) {
        header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
      }
      func octal(_ value: Int, _ digits: Int) -> String {
        let text = String(value, radix: 8)
        return String(repeating: "0", count: digits - text.count) + text
      }
      put(name, at: 0)
      put(octal(0o644, 7), at: 100)
      for place in [108, 116] { put(octal(0, 7), at: place) }
      put(octal(bytes.count, 11), at: 124)
      put(octal(0, 11), at: 136)
      put("        ", at: 148)
      put(name.hasSuffix("/") ? "5" : "0", at: 156)
      put("ustar\0" + "00", at: 257)
      put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\0", at: 148)
      file += header + bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
    }
    return file + [UInt8](repeating: 0, count: 1024)
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
  }

  /// CRC-32, as both formats have it.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    let table = table
    var sum: UInt32 = ~0
    for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
    return ~sum
  }
}
