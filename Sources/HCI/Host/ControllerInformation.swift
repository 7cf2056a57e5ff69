import HaloBluetoothCore

/// The properties that a controller reported during setup.
package struct ControllerInformation: Hashable, Sendable {
  package var version: ReadLocalVersionInformation.Response
  package var supportedCommands: SupportedCommands
  package var features: LMPFeatures
  package var leFeatures: LEFeatures
  /// The address that stays: the controller's public one, or a random static one if it has none.
  package var address: BluetoothAddress
  /// The first private address, which is used on the air in the place of the one that stays; nil for none.
  package var privateAddress: BluetoothAddress?
  /// The maximum length of the data in an ACL packet to the controller, in bytes.
  package var aclDataLength: Int
  /// The number of ACL packet buffers in the controller.
  package var aclPackets: Int

  /// Whether to scan with the extended commands of Bluetooth 5.
  package var usesExtendedScan: Bool { supportedCommands.haveExtendedScan }

  /// Whether to connect with the extended commands. This has to match the scan commands, as controllers reject a
  /// mixture.
  package var usesExtendedConnect: Bool {
    usesExtendedScan && supportedCommands.contains(LEExtendedCreateConnection.self)
  }

  /// Whether it resolves addresses, with a choice of the privacy mode.
  var hasResolvingList: Bool {
    leFeatures.contains(.llPrivacy)
      && [
        LEAddDeviceToResolvingList.self, LEClearResolvingList.self, LEReadResolvingListSize.self,
        LESetAddressResolutionEnable.self, LESetPrivacyMode.self,
      ].allSatisfy { (command: any HCICommand.Type) in supportedCommands.contains(command) }
  }

  /// Whether to advertise with the extended commands. This has to match the scan commands, too.
  var usesExtendedAdvertising: Bool {
    usesExtendedScan && supportedCommands.contains(LESetExtendedAdvertisingParameters.self)
  }
}

/// The states that a link layer can have at the same time (Core Specification Vol 4, Part E, 7.8.27); those of which the host
/// makes a decision.
struct LEStates: OptionSet, Hashable {
  let rawValue: UInt64

  /// The combination of initiating a link and advertising.
  static func initiating(while advertising: Advertising.Kind) -> LEStates {
    let bit: UInt64 =
      switch advertising {
      case .nonConnectable: 16
      case .scannable: 17
      case .connectable: 32
      case .directed(_, isHighDuty: true): 33
      case .directed(_, isHighDuty: false): 34
      }
    return LEStates(rawValue: 1 << bit)
  }
}
