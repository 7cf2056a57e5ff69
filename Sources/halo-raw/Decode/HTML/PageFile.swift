import BluetoothCore
import Files

/// The file that a page is written to, while the capture is read: what there is of it when the program is ended stays.
final class PageFile {
  let path: String
  var descriptor: Int32 { file.descriptor }
  private let file: OutputFile

  /// Opens the file, and empties it if there is one.
  init(path: String) throws(Failure) {
    self.path = path
    do throws(FileError) {
      file = try OutputFile(path: path)
      try file.truncate()
    } catch {
      throw Failure(.cannotOpenFile, "cannot make the page \(path.printable): \(error.reason)")
    }
  }
}
