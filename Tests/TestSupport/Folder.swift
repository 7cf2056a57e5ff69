import Glibc

/// A folder that is made for a test.
package struct Folder {
  package let path: String

  private struct Failure: Error {}

  package init() throws {
    var template = Array("/tmp/halo-raw-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure() }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package func write(_ name: String, _ text: String) {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o700)
    }
    guard let file = fopen("\(path)/\(name)", "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  package func remove() { Disk.remove(path) }

  /// The names of what is in a folder below, sorted.
  package func names(in folder: String) -> [String] { Disk.names(in: "\(path)/\(folder)") }

  /// The permissions of a file; nil if it does not exist.
  package func mode(of name: String) -> mode_t? {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : nil
  }

  /// The contents of a file; nil if it can't be read.
  package func text(of name: String) -> String? { Disk.text(of: "\(path)/\(name)") }
}
