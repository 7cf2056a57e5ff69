import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The record that an adapter was up before this program opened it, kept in a file in case the program is killed or
/// loses power before it restores the adapter.
///
/// The file is in a private folder, so that no other user can hold its lock, read or change it. It contains the boot
/// ID, since an adapter's state does not survive a reboot, and the adapter's address, since numbers are reassigned. It
/// is locked (`flock`) while its writer runs; an unlocked file is left over.
@BluetoothActor
package final class TakenAdapter {
  /// The timeout for bringing up adapters left down by an earlier run.
  private static let restoreDeadline = Duration.seconds(20)

  private let path: String
  private var descriptor: Int32

  /// Records that an adapter is up, before it is brought down.
  ///
  /// - Parameter folders: the folder for the file: the first that this user can write; if empty, there is no file
  init(_ index: AdapterIndex, address: BluetoothAddress, in folders: [String]) throws(StackError) {
    guard !folders.isEmpty else {
      path = ""
      descriptor = -1
      return
    }
    let text = Self.text(boot: Self.bootID, address: address)
    var last = SystemError("open", errno: ENOENT)
    for directory in folders {
      do throws(SystemError) {
        let path = "\(directory)/taken-\(index)"
        descriptor = try Self.write(text, to: path, in: directory)
        self.path = path
        return
      } catch {
        last = error
      }
    }
    throw StackError("note that \(index) was up", .system(last))
  }

  /// Deletes the record, when the adapter is up again.
  func forget() {
    guard descriptor >= 0 else { return }
    // Also truncated: a process that has changed its user may not be permitted to remove it.
    _ = SystemCall.truncate(descriptor, 0)
    unlink(path)
    leave()
  }

  /// Leaves the record to the next run, if the adapter could not be brought up.
  func leave() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  /// Brings up adapters that an earlier run of this program has opened and not restored, because it was killed or because the
  /// controller did not answer. A task that is cancelled returns at once; calls that have begun go on.
  ///
  /// - Parameter folders: where these runs may have recorded them
  /// - Returns: the adapters that are up again
  @discardableResult
  package static func restoreAll(recordedIn folders: [String]) async -> [AdapterIndex] {
    await offTheLoop(deadline: restoreDeadline, privileges: .ofTheLoop) {
      var restored: [AdapterIndex] = []
      for device in (try? HCIDevices.list()) ?? [] {
        for directory in folders where restoreLeftover("\(directory)/taken-\(device.index)", device) {
          restored.append(device.index)
        }
      }
      return restored
    } ?? []
  }

  /// Brings up an adapter if `path` is the record of a run that has ended.
  ///
  /// - Parameter bringUp: has the kernel do it
  /// - Returns: whether it is up again
  nonisolated static func restoreLeftover(
    _ path: String, _ device: HCIDevices.Device,
    bringUp: (AdapterIndex) throws(StackError) -> Void = HCIDevices.bringUp
  ) -> Bool {
    let descriptor = SystemCall.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // Only this user's records: those of other users are neither used nor truncated.
    var status = stat()
    guard SystemCall.status(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid(),
      status.st_nlink == 1
    else { return false }
    // Its writer is still running.
    guard SystemCall.lock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = SystemCall.read(descriptor, &buffer, buffer.count)
    let isOurs =
      String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
      == text(
        boot: bootID, address: device.address)
    if isOurs {
      do throws(StackError) { try bringUp(device.index) } catch { return false }
    }
    _ = SystemCall.truncate(descriptor, 0)
    unlink(path)
    return isOurs
  }

  // MARK: The file

  /// Two lines: the boot ID, and the adapter's address.
  nonisolated static func text(boot: String, address: BluetoothAddress) -> String {
    "\(boot)\n\(address)\n"
  }

  nonisolated static var bootID: String {
    var buffer = [UInt8](repeating: 0, count: 64)
    let descriptor = SystemCall.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    let count = SystemCall.read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)).prefix { $0 > 32 }, as: UTF8.self)
  }

  /// Writes a temporary file, locks it, and renames it: it is never incomplete or unlocked.
  private static func write(
    _ text: String, to path: String, in directory: String
  ) throws(SystemError) -> Int32 {
    do throws(FileError) {
      try PrivateFolder.make(directory)
    } catch {
      throw SystemError("open", errno: error.systemError ?? EACCES)
    }
    let draft = "\(path).\(getpid())"
    let flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW
    let descriptor = try retryingInterrupts("open") { SystemCall.open(draft, flags, mode: 0o600) }
    do throws(SystemError) {
      try retryingInterrupts("flock") { SystemCall.lock(descriptor, LOCK_EX | LOCK_NB) }
      let bytes = Array(text.utf8)
      let count = try retryingInterrupts("write") { SystemCall.write(descriptor, bytes, bytes.count) }
      guard count == bytes.count else { throw SystemError("write", errno: ENOSPC) }
      try retryingInterrupts("rename") { SystemCall.rename(draft, to: path) }
      return descriptor
    } catch {
      unlink(draft)
      close(descriptor)
      throw error
    }
  }
}
