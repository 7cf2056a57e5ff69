import Glibc
import TestSupport

/// A path in a folder of its own, which is removed with this object.
final class TemporaryStore {
  let folder: String
  var path: String { folder + "/rings.sqlite" }

  init() throws {
    var template = Array("/tmp/halo-store-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXFailure() }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Disk.remove(folder) }

  struct POSIXFailure: Error {
    var code = errno
  }
}
