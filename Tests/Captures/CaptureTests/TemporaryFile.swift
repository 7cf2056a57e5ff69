import Glibc

/// A file that goes with its owner.
final class TemporaryFile {
  let path: String

  init(_ bytes: [UInt8] = []) {
    var template = Array("/tmp/halo-capture-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  deinit {
    unlink(path)
  }

  func append(_ bytes: [UInt8]) {
    let descriptor = open(path, O_WRONLY | O_APPEND)
    write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  var bytes: [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return all }
      all += buffer[..<count]
    }
  }
}
