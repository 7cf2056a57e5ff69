import Foundation
internal import HaloBluetoothCore
internal import HaloRaw
internal import HaloStorage
internal import HaloSystem

/// The peripherals of a manager: one object for each, which is held while it connects and while it is connected. Changes of
/// their connections are made here, from any thread, and the loop gets their effects in their order.
final class PeripheralTable: Sendable {
  private struct Shared {
    /// All objects that the program or this table holds.
    var known: [PeerIdentity: Weak] = [:]
    /// The peripherals with a connection.
    var held: [PeerIdentity: CBPeripheral] = [:]
  }

  private struct Weak {
    weak var value: CBPeripheral?
  }

  private let shared = LockedValue(Shared())
  private let core: CentralCore
  private let store: PeripheralStore
  private let callbacks: CallbackQueue

  init(_ core: CentralCore, _ store: PeripheralStore, _ callbacks: CallbackQueue) {
    self.core = core
    self.store = store
    self.callbacks = callbacks
  }

  /// The peripherals that are connected, being connected, or whose link is about to end.
  var held: [CBPeripheral] { shared.withLock { Array($0.held.values) } }

  func holds(_ peer: PeerIdentity) -> Bool { shared.withLock { $0.held[peer] != nil } }

  /// The object of a peripheral: the one that exists, or a new one with the stored name, or with another one if none is
  /// stored.
  func peripheral(at peer: PeerIdentity, named name: String? = nil) -> CBPeripheral {
    if let known = shared.withLock({ $0.known[peer]?.value }) { return known }
    let made = CBPeripheral(peer, name: name ?? store.name(of: peer), callbacks)
    return shared.withLock { shared in
      if let known = shared.known[peer]?.value { return known }
      // Objects that the program has not kept are gone.
      if shared.known.count >= 2 * shared.held.count + 64 {
        shared.known = shared.known.filter { $0.value.value != nil }
      }
      shared.known[peer] = Weak(value: made)
      return made
    }
  }

  /// Stores the name of a peripheral, for its next object.
  func remember(_ peripheral: CBPeripheral) {
    store.remember(peripheral.peer, name: peripheral.name)
  }

  /// Changes the connection of a peripheral, and hands the resulting commands to the loop.
  ///
  /// - Returns: the reports for the delegate
  func change(
    _ peripheral: CBPeripheral,
    _ body: (inout CBPeripheral.Shared) -> (ManagedConnection.Command?, ManagedConnection.Report?)
  ) -> ManagedConnection.Report? {
    let peer = peripheral.peer
    return peripheral.observers.changing {
      shared.withLock { shared in
        let (command, report, isIdle, isNamed) = peripheral.shared.withLock { state in
          let (command, report) = body(&state)
          return (command, report, state.connection.isIdle, state.name != nil)
        }
        shared.known[peer] = Weak(value: peripheral)
        shared.held[peer] = isIdle ? nil : peripheral
        // Under the lock, so that commands have the order of the changes.
        switch command {
        case .begin(let link, let options):
          BluetoothActor.run { [core] in core.begin(link, to: peer, options, isNamed: isNamed) }
        case .end(let link): BluetoothActor.run { [core] in core.end(link) }
        case nil: break
        }
        return report
      }
    }
  }

  /// The manager is gone, and the loop ends its links: the program sees its peripherals as disconnected.
  func release() {
    let peripherals = shared.withLock { shared in
      defer { shared = Shared() }
      return shared.known.values.compactMap(\.value)
    }
    for peripheral in peripherals {
      peripheral.observers.changing {
        peripheral.shared.withLock { state in
          state.connection = ManagedConnection()
          state.detach()
        }
      }
    }
  }
}

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
