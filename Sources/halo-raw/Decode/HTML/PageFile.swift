import EventLoop
import Glibc

/// The file that a page is written to.
final class PageFile {
  let path: String
  let descriptor: Int32

  /// Opens the file, and empties it if there is one.
  ///
  /// - Parameter input: what is read meanwhile; it is not to be emptied
  init(path: String, butNot input: Int32) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw Failure(.cannotOpenFile, "cannot make the page \(path): \(SystemError.last("open").reason)")
    }
    var output = stat()
    var source = stat()
    guard fstat(descriptor, &output) == 0, fstat(input, &source) == 0,
      (output.st_dev, output.st_ino) != (source.st_dev, source.st_ino)
    else {
      close(descriptor)
      throw .usage("--html \(path): this is the capture itself; name another file for the page")
    }
    // Pipes and devices have no size to set.
    _ = ftruncate(descriptor, 0)
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
