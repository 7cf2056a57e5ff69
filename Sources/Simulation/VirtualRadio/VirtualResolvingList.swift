import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// The devices whose private addresses a controller resolves (Core Specification Vol 6, Part B, 6).
struct VirtualResolvingList {
  struct Entry {
    let identity: BluetoothAddress
    /// The ciphers with the keys; nil for a key of zeros.
    let peer: (any BlockCipher)?
    let own: (any BlockCipher)?
    /// Whether the device may also use the address that stays.
    var allowsIdentity = false
  }

  var entries: [Entry] = []
  var isOn = false

  subscript(identity: BluetoothAddress) -> Entry? { entries.first { $0.identity == identity.plain } }

  /// The device that has made an address; nil if it is not known, or nothing is resolved.
  func device(at address: BluetoothAddress) -> Entry? { isOn ? maker(of: address, \.peer) : nil }

  /// Whether this side's address has been made for it by a device of the list.
  func isOwn(_ address: BluetoothAddress) -> Bool { isOn && maker(of: address, \.own) != nil }

  private func maker(of address: BluetoothAddress, _ key: KeyPath<Entry, (any BlockCipher)?>) -> Entry? {
    guard let parts = ResolvableAddress(address) else { return nil }
    return entries.first { entry in
      guard let cipher = entry[keyPath: key] else { return false }
      return (try? ResolvableAddress(random: parts.random, cipher)) == parts
    }
  }

  /// Whether packets of a device at this address are ignored: it has a key, and must not show who it is.
  func ignores(_ address: BluetoothAddress) -> Bool {
    self[address].map { $0.peer != nil && !$0.allowsIdentity } ?? false
  }
}

extension VirtualController {
  /// The commands of the resolving list.
  static let privacyCommands: [VirtualCommand] = [
    .complete(LEAddDeviceToResolvingList.self, .version5) { $0.addToResolvingList($1) },
    .complete(LERemoveDeviceFromResolvingList.self, .version5) { controller, command in
      guard controller.resolvingListMayChange else { return .failure(.commandDisallowed) }
      let count = controller.resolvingList.entries.count
      controller.resolvingList.entries.removeAll { $0.identity == command.identity }
      return controller.resolvingList.entries.count == count
        ? .failure(.unknownConnectionIdentifier) : .success(.init())
    },
    .complete(LEClearResolvingList.self, .version5) { controller, _ in
      guard controller.resolvingListMayChange else { return .failure(.commandDisallowed) }
      controller.resolvingList.entries = []
      return .success(.init())
    },
    .constant(LEReadResolvingListSize.self, .version5) { $0.size = acceptListSize },
    .complete(LESetAddressResolutionEnable.self, .version5) { controller, command in
      guard !controller.isInUse else { return .failure(.commandDisallowed) }
      controller.resolvingList.isOn = command.isEnabled
      return .success(.init())
    },
    .constant(LESetResolvablePrivateAddressTimeout.self, .version5),
    .complete(LESetPrivacyMode.self, .version5) { controller, command in
      guard controller.resolvingListMayChange else { return .failure(.commandDisallowed) }
      let entries = controller.resolvingList.entries
      guard let index = entries.firstIndex(where: { $0.identity == command.identity }) else {
        return .failure(.unknownConnectionIdentifier)
      }
      controller.resolvingList.entries[index].allowsIdentity = command.mode == 1
      return .success(.init())
    },
  ]

  private var isInUse: Bool { scan.isOn || initiation != nil || advertising.isOn }

  /// While addresses are resolved and the list is in use, it must not change (Vol 4, Part E, 7.8.38).
  private var resolvingListMayChange: Bool { !resolvingList.isOn || !isInUse }

  private func addToResolvingList(
    _ command: LEAddDeviceToResolvingList
  ) -> Result<NoReturnParameters, HCIErrorCode> {
    guard resolvingListMayChange else { return .failure(.commandDisallowed) }
    guard resolvingList[command.identity] == nil else { return .failure(.invalidCommandParameters) }
    guard resolvingList.entries.count < Int(Self.acceptListSize) else {
      return .failure(.memoryCapacityExceeded)
    }
    resolvingList.entries.append(
      VirtualResolvingList.Entry(
        identity: command.identity, peer: cipher(command.peerIRK), own: cipher(command.localIRK)))
    return .success(.init())
  }

  private func cipher(_ key: [UInt8]) -> (any BlockCipher)? {
    key.contains { $0 != 0 } ? try? medium.cryptography?.blockCipher(key: key.reversed()) : nil
  }

  /// A new private address.
  func makeAddress(_ cipher: any BlockCipher) -> BluetoothAddress? {
    let random = UInt32(truncatingIfNeeded: nextRandomNumber())
    return (try? ResolvableAddress(random: random, cipher))?.address
  }

  /// The private address that the controller makes for a peer, if the host has chosen that; nil if it uses another one.
  func madeAddress(_ type: OwnAddressType, for peer: BluetoothAddress?) -> BluetoothAddress? {
    guard type.rawValue & 2 == 2, let peer, let own = resolvingList[peer]?.own else { return nil }
    return makeAddress(own)
  }
}

extension BluetoothAddress {
  /// The address that stays, of a device whose address was resolved.
  var resolved: BluetoothAddress {
    BluetoothAddress(value, kind == .public ? .publicIdentity : .randomIdentity)
  }
}
