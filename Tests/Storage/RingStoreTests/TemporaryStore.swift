import Glibc

/// A path in a folder of its own, which goes when this goes.
final class TemporaryStore {
  let folder: String
  var path: String { folder + "/rings.sqlite" }

  init() throws {
    var template = Array("/tmp/halo-store-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXFailure() }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    rmdir(folder)
  }

  struct POSIXFailure: Error {
    var code = errno
  }
}
