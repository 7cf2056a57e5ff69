import Glibc

/// A folder that is made for a test.
public struct Folder {
  public let path: String

  private struct Failure: Error {}

  public init() throws {
    var template = Array("/tmp/halo-raw-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure() }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public func write(_ name: String, _ text: String) {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o700)
    }
    guard let file = fopen("\(path)/\(name)", "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  public func remove() { Self.remove(path) }

  /// The names of what is in a folder below, sorted.
  public func names(in folder: String) -> [String] { Self.names(in: "\(path)/\(folder)").sorted() }

  /// The contents of a file; nil if it can't be read.
  public func text(of name: String) -> String? {
    guard let file = fopen("\(path)/\(name)", "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    Glibc.remove(path)
  }
}
