import BluetoothCore
import HCI

/// A command that hosts send while they bring an adapter up, and that is answered at once: it reads a constant, or sets
/// a value without effect on a ring.
struct SideCommand: Sendable {
  /// Answers the parameters with a status and return parameters, or refuses them.
  fileprivate typealias Answer = @Sendable (VirtualController, RawSpan) -> Result<[UInt8], HCIErrorCode>

  var type: any HCICommand.Type
  /// Whether only a controller of Core Specification 5 supports it.
  var isOfVersion5: Bool
  fileprivate var answer: Answer
}

extension SideCommand {
  private init<Command: HCICompletingCommand>(
    _ type: Command.Type, isOfVersion5: Bool,
    _ answer: @escaping @Sendable (VirtualController, Command) -> Result<Command.Response, HCIErrorCode>
  ) {
    self.type = type
    self.isOfVersion5 = isOfVersion5
    self.answer = { controller, parameters in
      var reader = ByteReader(parameters)
      guard let command = try? Command(parsing: &reader), reader.isAtEnd else {
        return .failure(.invalidCommandParameters)
      }
      return answer(controller, command).map { $0.encoded() }
    }
  }

  /// A command that always gets the same answer: all zero except for the values that `set` sets.
  private static func legacy<Command: HCICompletingCommand>(
    _ type: Command.Type, _ set: @escaping @Sendable (inout Command.Response) -> Void = { _ in }
  ) -> SideCommand {
    SideCommand(type, isOfVersion5: false) { _, _ in .success(.init(set)) }
  }

  private static func version5<Command: HCICompletingCommand>(
    _ type: Command.Type, _ set: @escaping @Sendable (inout Command.Response) -> Void = { _ in }
  ) -> SideCommand {
    SideCommand(type, isOfVersion5: true) { _, _ in .success(.init(set)) }
  }

  /// A command that reads the state of a link.
  private static func ofLink<Command: HCICompletingCommand & HCILinkFields>(
    _ type: Command.Type, _ set: @escaping @Sendable (inout Command.Response) -> Void = { _ in }
  ) -> SideCommand where Command.Response: HCILinkFields {
    SideCommand(type, isOfVersion5: false) { controller, command in
      guard controller.link?.handle == command.handle else { return .failure(.unknownConnectionIdentifier) }
      return .success(
        .init {
          $0.handle = command.handle
          set(&$0)
        })
    }
  }

  /// No device receives the advertising of this controller: its commands are accepted without effect.
  private static let all: [SideCommand] = [
    legacy(LESetAdvertisingParameters.self), legacy(LEReadAdvertisingPhysicalChannelTxPower.self),
    legacy(LESetAdvertisingData.self), legacy(LESetScanResponseData.self),
    legacy(LESetAdvertisingEnable.self),
    legacy(LEReadFilterAcceptListSize.self) { $0.size = VirtualController.acceptListSize },
    legacy(LESetHostChannelClassification.self),
    // All 37 data channels are in use.
    ofLink(LEReadChannelMap.self) { $0.channelMap = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F] },
    SideCommand(LERand.self, isOfVersion5: false) { controller, _ in
      .success(.init { $0.number = controller.nextRandomNumber() })
    },
    legacy(LEReadSupportedStates.self) { $0.states = 0x03FF_FFFF_FFFF },
    SideCommand(LEReadSuggestedDefaultDataLength.self, isOfVersion5: false) { controller, _ in
      .success(controller.suggestedDataLength)
    },
    ofLink(ReadTransmitPowerLevel.self), legacy(SetEventMaskPage2.self),
    SideCommand(LEAddDeviceToResolvingList.self, isOfVersion5: true) { controller, command in
      controller.addToResolvingList(command.identity)
    },
    SideCommand(LERemoveDeviceFromResolvingList.self, isOfVersion5: true) { controller, command in
      controller.removeFromResolvingList(command.identity)
    },
    SideCommand(LEClearResolvingList.self, isOfVersion5: true) { controller, _ in
      controller.resolvingList = []
      return .success(.init())
    },
    version5(LEReadResolvingListSize.self) { $0.size = VirtualController.acceptListSize },
    // The ring keeps one address.
    version5(LESetAddressResolutionEnable.self), version5(LESetResolvablePrivateAddressTimeout.self),
    version5(LESetDefaultPHY.self), version5(LESetAdvertisingSetRandomAddress.self),
    version5(LESetExtendedAdvertisingParameters.self), version5(LESetExtendedAdvertisingData.self),
    version5(LESetExtendedScanResponseData.self), version5(LESetExtendedAdvertisingEnable.self),
    version5(LEReadMaximumAdvertisingDataLength.self) { $0.length = 1650 },
    version5(LEReadNumberOfSupportedAdvertisingSets.self) { $0.count = 4 },
    version5(LERemoveAdvertisingSet.self), version5(LEClearAdvertisingSets.self),
    version5(LESetPrivacyMode.self),
  ]

  static let table = Dictionary(uniqueKeysWithValues: all.map { ($0.type.opcode, $0) })
}

extension VirtualController {
  /// The capacity of the accept list and the resolving list.
  static let acceptListSize: UInt8 = 8

  /// Answers a command of the table; false if it is not there, or of a later version than this controller's.
  func answerSideCommand(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    guard let command = SideCommand.table[opcode], options.bluetooth5 || !command.isOfVersion5 else {
      return false
    }
    let parameters = reader.readRest()
    let result: Result<[UInt8], HCIErrorCode> =
      if !admits(opcode) {
        .failure(.commandDisallowed)
      } else {
        command.answer(self, parameters)
      }
    let returned: [UInt8] =
      switch result {
      case .success(let parameters): [HCIErrorCode.success.rawValue] + parameters
      case .failure(let status): [status.rawValue]
      }
    post(
      .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode, returnParameters: returned)))
    return true
  }

  fileprivate func nextRandomNumber() -> UInt64 {
    randomNumbers &+= 1
    return SplitMix.mix(options.seed &+ SplitMix.mix(randomNumbers))
  }

  // MARK: The resolving list

  fileprivate func addToResolvingList(_ address: BluetoothAddress) -> Result<NoReturnParameters, HCIErrorCode>
  {
    guard !resolvingList.contains(address) else { return .failure(.invalidCommandParameters) }
    guard resolvingList.count < Int(Self.acceptListSize) else { return .failure(.memoryCapacityExceeded) }
    resolvingList.insert(address)
    return .success(.init())
  }

  fileprivate func removeFromResolvingList(
    _ address: BluetoothAddress
  ) -> Result<NoReturnParameters, HCIErrorCode> {
    resolvingList.remove(address) == nil ? .failure(.unknownConnectionIdentifier) : .success(.init())
  }
}
