import Glibc
import Testing

@testable import halo_raw

/// A folder that is made for a test.
struct Folder {
  let path: String

  init() throws {
    var template = Array("/tmp/halo-raw-test.XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func write(_ name: String, _ text: String) {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o700)
    }
    guard let file = fopen("\(path)/\(name)", "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in SmallFile.names(in: path) { remove("\(path)/\(name)") }
    Glibc.remove(path)
  }
}
