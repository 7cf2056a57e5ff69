import GAP
import HaloBluetoothCore
import HaloDevices
import HaloLinuxBluetooth

/// Which radio to use, as a person writes it.
///
/// | text | radio |
/// | --- | --- |
/// | `hci0` | an adapter that the kernel drives; an empty text is the first one that is up |
/// | `user:hci0` | the adapter for this program alone: needed to advertise |
/// | `tcp:HOST:PORT`, `unix:PATH`, `serial:PATH@BAUD` | a controller or a simulation that speaks H4 |
/// | `virtual`, `virtual:OPTIONS` | a ring in memory; with the option `fast`, a minute takes milliseconds |
/// | `virtual:air=NAME` | a radio that the others of this name in this process hear, in virtual time: for tests of both roles |
/// | `replay:FILE` | a recording, which answers as the device did |
public struct RadioSelector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text; it is checked when the radio is opened.
  public let description: String

  /// - Parameter text: one of the forms above; whether it is one is checked when the radio is opened
  public init(_ text: String) { description = text }

  public init(stringLiteral text: String) { self.init(text) }

  /// The first adapter of this machine.
  public static let standard = RadioSelector("")

  func specification() throws(AdapterSpecificationError) -> AdapterSpecification {
    description.isEmpty ? .kernel(nil) : try AdapterSpecification(description)
  }
}

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

  /// The address with which it connects and advertises; with private addresses, the one that stays.
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
