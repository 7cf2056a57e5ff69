import FoundationEssentials
import RingStore

/// The file in which what rings have stored is kept.
enum StoreFile {
  static let option = OptionSpec(
    "--store", value: "FILE",
    help: "the SQLite file; default $XDG_DATA_HOME/halo-raw/rings.sqlite, else ~/.local/share/...")

  /// Opens the file that the options name.
  ///
  /// - Parameter makes: whether it is made if it is not there
  static func open(_ invocation: Invocation, makes: Bool) throws(Failure) -> RingStore {
    guard let path = invocation.text("--store") ?? UserFolders.data.map({ $0 + "/rings.sqlite" }) else {
      throw .usage("where is the store? There is no home directory; name a file with --store FILE")
    }
    let file = URL(filePath: path)
    if makes {
      try? FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    } else if !FileManager.default.fileExists(atPath: path) {
      throw Failure(.cannotOpenFile, "there is no store \(path) yet; halo-raw sync makes one")
    }
    return try storeFailure { () throws(StoreError) in try RingStore(path: path) }
  }
}

/// Runs something that fails with a ``StoreError``, and tells it as the program's failure.
func storeFailure<Value>(_ work: () throws(StoreError) -> Value) throws(Failure) -> Value {
  do throws(StoreError) {
    return try work()
  } catch {
    throw Failure(error)
  }
}
