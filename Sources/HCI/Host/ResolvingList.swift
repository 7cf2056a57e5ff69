import HaloBluetoothCore

/// A device whose private addresses the controller resolves.
package struct ResolvableDevice: Hashable, Sendable {
  /// The address that stays.
  package let identity: BluetoothAddress
  /// Its Identity Resolving Key: 16 bytes, the least significant first.
  package let key: [UInt8]
  /// This side's key that the device has; zeros if it has none.
  package let ownKey: [UInt8]

  package init(_ identity: BluetoothAddress, key: [UInt8], ownKey: [UInt8]?) {
    (self.identity, self.key) = (identity.plain, key)
    self.ownKey = ownKey ?? [UInt8](repeating: 0, count: 16)
  }
}

/// The devices that the controller resolves itself (Core Specification Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77): it reports
/// them under the address that stays, connects to them under that, and calls them at private addresses.
///
/// Devices that the list has no room for, and all of a controller without it, are resolved by the host. These cases from public
/// reports are handled here:
/// - network privacy, the mode of a new entry, ignores a device that shows the address that stays, as many do at times: all get
///   device privacy (philips-software/amp-hal-st 146);
/// - a controller with that mode is given the address that stays as it is, without the note that it was resolved
///   (apache/mynewt-core 476);
/// - a controller takes the list, and resolves nothing, as the virtual one of Bumble 0.0.236: it is believed when it has
///   resolved an address;
/// - a device in the list is not connected to while resolution is off (zephyrproject-rtos/zephyr 24731): a list that is not
///   loaded as a whole is emptied.
final class ResolvingList {
  private let commands: CommandQueue
  private let quiet: QuietCommands
  private let isSupported: Bool
  private var wanted: [ResolvableDevice] = []
  /// What the controller has, once it was told.
  private(set) var loaded: [ResolvableDevice] = []
  /// Nil until it is read.
  private var capacity: Int?
  private var isBusy = false
  /// Whether the controller has resolved an address.
  private var isProven = false

  init(_ commands: CommandQueue, _ quiet: QuietCommands, _ controller: ControllerInformation) {
    (self.commands, self.quiet) = (commands, quiet)
    isSupported = controller.hasResolvingList
  }

  func contains(_ identity: BluetoothAddress) -> Bool { loaded.contains { $0.identity == identity.plain } }

  /// Whether the controller resolves the addresses of a device, as far as is known.
  func resolves(_ identity: BluetoothAddress) -> Bool { isProven && contains(identity) }

  /// The controller has reported a device at this address.
  func heard(_ address: BluetoothAddress) {
    if address.kind == .publicIdentity || address.kind == .randomIdentity { isProven = true }
  }

  /// - Parameter devices: the most important first, each key once
  func set(_ devices: [ResolvableDevice]) {
    guard isSupported, devices != wanted else { return }
    wanted = devices
    reconcile()
  }

  private func reconcile() {
    guard !isBusy else { return }
    guard let capacity else { return readCapacity() }
    let next = Array(wanted.prefix(capacity))
    guard next != loaded else { return }
    isBusy = true
    // From the first of the commands on, the controller has less.
    quiet.run(Self.loading(next)) { [weak self] result in
      guard let self else { return }
      guard case .failure = result else {
        loaded = next
        isBusy = false
        return reconcile()
      }
      // What it refuses once, it would refuse again.
      self.capacity = 0
      loaded = []
      quiet.run([LEClearResolvingList()]) { [weak self] _ in self?.isBusy = false }
    }
  }

  private func readCapacity() {
    guard !wanted.isEmpty else { return }
    isBusy = true
    commands.send(LEReadResolvingListSize()) { [weak self] result in
      guard let self else { return }
      capacity = (try? result.get()).map { Int($0.size) } ?? 0
      isBusy = false
      reconcile()
    }
  }

  private static func loading(_ devices: [ResolvableDevice]) -> [any HCICompletingCommand] {
    var list: [any HCICompletingCommand] = [LEClearResolvingList()]
    for device in devices {
      list.append(
        LEAddDeviceToResolvingList {
          $0.identity = device.identity
          $0.peerIRK = device.key
          $0.localIRK = device.ownKey
        })
      list.append(
        LESetPrivacyMode {
          $0.identity = device.identity
          $0.mode = 1
        })
    }
    list.append(LESetAddressResolutionEnable { $0.isEnabled = !devices.isEmpty })
    return list
  }
}
