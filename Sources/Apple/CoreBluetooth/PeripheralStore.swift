import Foundation
internal import HaloSystem
internal import HaloStorage
internal import HaloBluetoothCore
internal import HaloRaw

/// The names of peripherals that were connected, in a file that all programs of a user share. It is read when it is first
/// needed, and written off the queues of the program.
package final class PeripheralStore: Sendable {
  /// Where the files of programs with this adapter are: `$XDG_STATE_HOME/halo-raw`, else below `~/.local/state`. Nil
  /// without a home, and for an adapter whose devices end with the process.
  package static func folder(for choice: AdapterChoice) -> String? {
    guard (try? choice.specification().isReal) ?? false else { return nil }
    return UserFolders.state
  }

  private let path: String?
  private let known = LockedValue<KnownPeripherals?>(nil)
  private static let writing = DispatchQueue(label: "corebluetooth.peripherals", qos: .utility)
  /// The end of the program waits for writes, but not for a disk that does not answer.
  private static let finishesAtExit = atexit {
    let finished = DispatchSemaphore(value: 0)
    writing.async { finished.signal() }
    _ = finished.wait(timeout: .now() + 2)
  }

  init(path: String?) {
    self.path = path
  }

  /// The file in a folder.
  package convenience init(folder: String?) {
    self.init(path: folder.map { $0 + "/peripherals.json" })
  }

  /// Runs changes of stored data one after the other, off the queues of the program.
  static func write(_ change: @escaping @Sendable () -> Void) {
    _ = finishesAtExit
    writing.async(execute: change)
  }

  /// Returns when everything is written.
  package static func finishWriting() { writing.sync {} }

  func name(of peer: PeerIdentity) -> String? {
    guard let path else { return nil }
    return known.withLock { known in
      if known == nil {
        // Another store of this process, that of a picker, may have changed the file just now.
        Self.finishWriting()
        known = KnownPeripherals(path: path) { reportMisuse($0) }
      }
      return known?[peer]?.name
    }
  }

  package func remember(_ identifier: UUID, name: String?) {
    if let peer = identifier.peer { remember(peer, name: name) }
  }

  func remember(_ peer: PeerIdentity, name: String?) {
    guard let path, let name else { return }
    guard self.name(of: peer) != name else { return }
    known.withLock { $0?.set(KnownPeripheral(peer: peer, name: name)) }
    Self.write {
      KnownPeripherals.store(KnownPeripheral(peer: peer, name: name), path: path) { reportMisuse($0) }
    }
  }
}
