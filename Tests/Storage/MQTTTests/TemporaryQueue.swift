import Glibc
import TestSupport
import Testing

/// A path in a folder that is removed with all that is in it.
final class TemporaryQueue {
  let folder: String
  var path: String { folder + "/broker.queue" }

  init() throws {
    var template = Array("/tmp/halo-queue-XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Disk.remove(folder) }
}
