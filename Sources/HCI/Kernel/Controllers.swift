import BluetoothCore
import EventLoop

/// An adapter as the kernel sees it.
public struct ControllerState: Hashable, Sendable {
  public var index: AdapterIndex
  /// All zero if the controller has no public address, or was never up.
  public var address: BluetoothAddress
  /// Whether it is up. One that a program has taken is.
  public var isUp: Bool
  /// What the management interface says; nil if the kernel does not manage the adapter, as a program has taken it,
  /// or if it does not answer.
  public var management: ReadControllerInformation.Response?
  /// Whether a program has taken it, through the user channel.
  public var isTaken: Bool

  /// The kernel's name: `hci0`.
  public var name: String { index.description }
  /// Whether the management interface has it on; nil if unknown.
  public var isPowered: Bool? { management.map { $0.currentSettings.contains(.powered) } }
}

/// The adapters of this machine. Asking takes no privilege.
@BluetoothActor
public enum Controllers {
  /// All adapters, in the order of their numbers.
  ///
  /// - Parameter isDetailed: whether to ask for ``ControllerState/management``. The kernel takes who asks for somebody
  ///   who manages the adapter, and from then on no longer accepts pairings by itself. A kernel that does not answer is
  ///   asked no more.
  public static func list(isDetailed: Bool = true) async throws(KernelError) -> [ControllerState] {
    let devices = try HCIDevices.list()
    var information: [AdapterIndex: ReadControllerInformation.Response] = [:]
    // A kernel without management still has devices.
    if isDetailed, let management = try? Management() {
      defer { management.close() }
      do throws(KernelError) {
        for index in try await management.send(ReadControllerIndexList()) {
          do throws(KernelError) {
            information[index] = try await management.send(ReadControllerInformation(), to: index)
          } catch {
            // One that has gone since is no reason to end.
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
