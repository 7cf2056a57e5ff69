import Glibc

/// The names in a folder, without `.` and `..`, in the order in which the file system has them; none if it can't be read.
package enum FolderNames {
  /// - Parameters:
  ///   - path: the folder
  ///   - limit: how many are read
  package static func read(_ path: String, limit: Int = .max) -> [String] {
    read(opendir(path), limit)
  }

  /// The same for a folder that has to be there.
  ///
  /// - Throws: the kernel's error, if it can't be opened
  package static func readable(_ path: String, limit: Int) throws(FileError) -> [String] {
    guard let folder = FileDescriptor(SystemCall.open(path, O_RDONLY | O_DIRECTORY)) else {
      throw .last(path)
    }
    return read(fdopendir(folder.take()), limit)
  }

  /// The same for an open folder.
  ///
  /// - Parameter descriptor: is closed. The position in a folder belongs to the open file: it has to be one of its own.
  package static func read(taking descriptor: Int32) -> [String] {
    read(fdopendir(descriptor), .max)
  }

  private static func read(_ folder: OpaquePointer?, _ limit: Int) -> [String] {
    guard let folder else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while names.count < limit, let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
