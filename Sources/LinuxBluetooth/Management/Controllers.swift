import BluetoothCore
import EventLoop
import HCI

/// The kernel's state of an adapter.
public struct ControllerState: Hashable, Sendable {
  public var index: AdapterIndex
  /// All zero if the controller has no public address, or was never up.
  public var address: BluetoothAddress
  /// Whether it is up. This is the case while the user channel is open.
  public var isUp: Bool
  /// The state from the management interface; nil if the kernel does not manage the adapter because a program uses the
  /// user channel, or if it does not answer.
  public var management: ReadControllerInformation.Response?
  /// Whether a program has opened the user channel.
  public var isTaken: Bool

  /// The kernel's name: `hci0`.
  public var name: String { index.description }
  /// Whether the management interface reports it as powered; nil if unknown.
  public var isPowered: Bool? { management.map { $0.currentSettings.contains(.powered) } }
}

/// The adapters of this machine. Listing requires no privilege.
@BluetoothActor
public enum Controllers {
  /// All adapters, ordered by number. Each command to the kernel has a deadline of three seconds; a task that is
  /// cancelled returns at once.
  ///
  /// - Parameter isDetailed: whether to read ``ControllerState/management``. The kernel treats any caller as a manager
  ///   of the adapter, and no longer accepts pairings automatically from then on. If the kernel does not answer, no
  ///   further adapter is read.
  public static func list(isDetailed: Bool = true) async throws(AdapterError) -> [ControllerState] {
    let devices = try HCIDevices.list()
    var information: [AdapterIndex: ReadControllerInformation.Response] = [:]
    // A kernel without the management interface still has devices.
    if isDetailed, let management = try? Management() {
      defer { management.close() }
      do throws(AdapterError) {
        for index in try await management.send(ReadControllerIndexList()) {
          do throws(AdapterError) {
            information[index] = try await management.send(ReadControllerInformation(), to: index)
          } catch {
            // An adapter that was removed since is skipped.
            if error.reason == .timedOut || error.reason == .cancelled { throw error }
          }
        }
      } catch {
        if error.reason == .cancelled { throw error }
      }
    }
    return devices.map { device in
      ControllerState(
        index: device.index, address: device.address, isUp: device.isUp,
        management: information[device.index], isTaken: HCIDevices.isTaken(device.index))
    }
  }
}
