import GAP
import HaloBluetoothCore
import HaloDevices
import HaloLinuxBluetooth

/// An adapter of this machine.
public struct RadioInformation: Hashable, Sendable {
  /// The selector that opens it: `hci0`.
  public let selector: RadioSelector
  /// Its public address; all zero if it has none, or was never switched on.
  public let address: BluetoothAddress
  /// Why it can't be opened: it is switched off, or another program has it; nil if it can.
  public let obstacle: String?
}

extension Radio {
  /// The adapters of this machine, in the order of their numbers. It needs no privilege.
  ///
  /// - **Cancelled**: `.cancelled`.
  ///
  /// - Throws: `.radioUnavailable` if the kernel does not answer; a kernel without Bluetooth has none
  public nonisolated static func list() async throws -> [RadioInformation] {
    do throws(StackError) {
      return try await Controllers.list(isDetailed: false).map { adapter in
        RadioInformation(
          selector: RadioSelector(adapter.name), address: adapter.address,
          obstacle: (adapter.obstacle ?? (adapter.isUp ? nil : .adapterDown(adapter.index)))?.description)
      }
    } catch {
      if error.code == .noBluetooth || error.code == .noAdapters { return [] }
      throw BluetoothError(error)
    }
  }

  /// The address with which it connects and advertises.
  public var address: BluetoothAddress { central.information?.address ?? .zero }

  /// The reason for which the radio can't be used: first the current one, then one after each change; nil while it can. During
  /// the iteration, a radio that was lost is recovered, whether it is in use or not.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The radio is closed**: the iteration ends.
  public nonisolated var obstacles: Values<BluetoothError?> {
    Values(keepingNewest: 16) { feed throws(BluetoothError) in
      guard !self.isClosed else {
        feed.finish()
        return {}
      }
      feed.send(self.failure)
      let observation = self.managed.observe { [weak self] _ in feed.send(self?.failure) }
      let id = self.watchers.add(feed)
      return {
        observation.cancel()
        self.watchers.remove(id)
      }
    }
  }

  /// The devices that this radio has a link to, whichever side has made it, and whichever part of the program uses it.
  public var connectedDevices: [BluetoothAddress] { managed.links.peers.map(\.address) }
}
