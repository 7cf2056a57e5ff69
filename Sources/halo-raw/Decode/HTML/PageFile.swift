import BluetoothCore
import Files

/// The file that a report is written to while the capture is read. If the program ends early, the file keeps what was
/// written so far.
final class PageFile {
  let path: String
  var descriptor: Int32 { file.descriptor }
  private let file: OutputFile

  /// Opens the file, and truncates it if it exists.
  ///
  /// - Throws: if the file cannot be created or truncated
  init(path: String) throws(Failure) {
    self.path = path
    do throws(FileError) {
      file = try OutputFile(path: path)
      try file.truncate()
    } catch {
      throw Failure(.cannotOpenFile, "cannot create the report \(path.printable): \(error.reason)")
    }
  }
}
