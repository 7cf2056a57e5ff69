import Glibc

/// What is in folders and files.
package enum Disk {
  /// The names of what is in a folder, sorted; none if it can't be read.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The paths of the Swift files in a folder and in the folders below it, sorted.
  package static func swiftFiles(below folder: String) -> [String] {
    names(in: folder).flatMap { name in
      name.hasSuffix(".swift") ? ["\(folder)/\(name)"] : swiftFiles(below: "\(folder)/\(name)")
    }
  }

  /// The first MiB of a file; nil if it can't be read. Does not wait for the writer of a FIFO.
  package static func bytes(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(file, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// The same as text.
  package static func text(of path: String) -> String? {
    bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A rollback journal of SQLite that is played back: it puts zeros over the first page. Then SQLite deletes the file that it
  /// names, as its super-journal (https://sqlite.org/fileformat.html).
  package static func journal(naming superJournal: String) -> [UInt8] {
    func words(_ numbers: UInt32...) -> [UInt8] {
      numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let (sectorSize, pageSize) = (512, 4096)
    // One record, whose sum is that of zeros, and a file of one page.
    let header = magic + words(1, 0, 1, UInt32(sectorSize), UInt32(pageSize))
    let record = words(1) + [UInt8](repeating: 0, count: pageSize) + words(0)
    let name = Array(superJournal.utf8)
    let sum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
    return header + [UInt8](repeating: 0, count: sectorSize - header.count) + record
      + words(UInt32(0x4000_0000 / pageSize + 1)) + name + words(UInt32(name.count), sum) + magic
  }

  /// Removes a file, or a folder with all that is in it.
  package static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    Glibc.remove(path)
  }
}
