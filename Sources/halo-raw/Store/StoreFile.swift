import BluetoothCore
import EventLoop
import Files
import Glibc
import RingStore

/// The file in which what rings have stored is kept.
enum StoreFile {
  static let option = OptionSpec(
    "--store", value: "FILE",
    help: "the SQLite file; default $XDG_DATA_HOME/halo-raw/rings.sqlite, else ~/.local/share/...")

  /// Opens the file that the options name. Folders are only made for the one that is used without the option.
  ///
  /// - Parameter makes: whether it is made if it is not there
  static func open(_ invocation: Invocation, makes: Bool) throws(Failure) -> RingStore {
    let named = invocation.text("--store")
    guard let path = named ?? UserFolders.data.map({ $0 + "/rings.sqlite" }) else {
      throw .usage("there is no home directory for the store; name a file with --store FILE")
    }
    if makes, named == nil, let folder = UserFolders.data {
      do throws(FileError) {
        try PrivateFolder.make(folder)
      } catch {
        throw Failure(
          .cannotOpenFile, "cannot make a folder for the store: \(error); name a file with --store FILE")
      }
    } else if !makes, access(path, F_OK) != 0, errno == ENOENT {
      throw Failure(.cannotOpenFile, "there is no store \(path.printable) yet; halo-raw sync makes one")
    }
    return try storeFailure { () throws(StoreError) in
      try RingStore(path: path, access: makes ? .writing : .reading)
    }
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

/// The same on another thread, as a disk may be slow; while another process has the store locked, it is tried again for
/// ten seconds. The loop goes on. If the task is cancelled, nobody waits for what the disk does.
@BluetoothActor
func storeRetry<Value: Sendable>(
  _ work: @escaping () throws(StoreError) -> Value
) async throws(Failure) -> Value {
  nonisolated(unsafe) let work = work
  let deadline = SystemClock.monotonic + .seconds(10)
  while true {
    let result = await offTheLoop { Result { () throws(StoreError) in try work() } }
    switch result {
    case .success(let value): return value
    case .failure(.busy) where SystemClock.monotonic < deadline:
      await EventLoop.shared.sleep(for: .milliseconds(50))
    case .failure(let error): throw Failure(error)
    case nil: throw Failure(.interrupted, "the store was not written in time")
    }
  }
}
