import BluetoothCore
import HCI

extension VirtualController {
  /// The commands that set the controller up and read its properties.
  static let controllerCommands: [VirtualCommand] = [
    .complete(Reset.self) { controller, _ in
      controller.reset()
      return .success(.init())
    },
    .complete(SetEventMask.self) { controller, command in
      controller.eventMask = command.mask
      return .success(.init())
    },
    .complete(LESetEventMask.self) { controller, command in
      controller.leEventMask = command.mask
      return .success(.init())
    },
    .complete(LESetRandomAddress.self) { controller, command in
      // It must not change while in use (7.8.4).
      guard !controller.scan.isOn, controller.initiation == nil else { return .failure(.commandDisallowed) }
      controller.randomAddress = command.address
      return .success(.init())
    },
    .complete(ReadLocalVersionInformation.self) { controller, _ in
      let version = CoreVersion(rawValue: controller.options.bluetooth5 ? 9 : 8)
      return .success(
        .init {
          $0.hciVersion = version
          $0.hciSubversion = 1
          $0.lmpVersion = version
          $0.manufacturer = CompanyIdentifier(rawValue: 0xFFFF)
          $0.lmpSubversion = 1
        })
    },
    .complete(ReadLocalSupportedCommands.self) { controller, _ in .success(controller.supportedCommands) },
    .constant(ReadLocalSupportedFeatures.self) {
      $0.features = [.brEDRNotSupported, .leSupportedController]
    },
    .complete(LEReadLocalSupportedFeatures.self) { controller, _ in
      .success(.init { $0.features = controller.features })
    },
    .constant(ReadBDADDR.self) { $0.address = BluetoothAddress(0x001A_7DDA_7113, .public) },
    // Zero: this controller has no buffers for BR/EDR, and the LE ones count.
    .constant(ReadBufferSize.self),
    .complete(LEReadBufferSize.self) { controller, _ in .success(controller.buffers) },
    .complete(LEReadBufferSizeV2.self, .version5) { controller, _ in
      .success(.init { $0.acl = controller.buffers })
    },
    .constant(LEReadMaximumDataLength.self) {
      $0.transmit = DataLength(octets: 251, time: 2120)
      $0.receive = $0.transmit
    },
    .complete(LEWriteSuggestedDefaultDataLength.self) { controller, command in
      controller.suggestedDataLength = command.transmit
      return .success(.init())
    },
  ]

  private var buffers: LEReadBufferSize.Response {
    .init {
      $0.aclDataLength = options.aclLength
      $0.aclPackets = options.aclPackets
    }
  }

  /// The features that both ends of the link support.
  private var features: LEFeatures {
    var features: LEFeatures = [
      .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
      .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
    ]
    if options.bluetooth5 { features.formUnion([.llPrivacy, .phy2M, .extendedAdvertising]) }
    return features
  }
}

extension VirtualController {
  /// The capacity of the accept list and the resolving list.
  static let acceptListSize: UInt8 = 8

  /// The commands that hosts send while they bring an adapter up, and that read a constant or set a value without effect
  /// on a ring. No device receives the advertising of this controller.
  static let sideCommands: [VirtualCommand] = [
    .constant(LESetAdvertisingParameters.self, .legacy),
    .constant(LEReadAdvertisingPhysicalChannelTxPower.self),
    .constant(LESetAdvertisingData.self, .legacy), .constant(LESetScanResponseData.self, .legacy),
    .constant(LESetAdvertisingEnable.self, .legacy),
    .constant(LEReadFilterAcceptListSize.self) { $0.size = acceptListSize },
    .constant(LESetHostChannelClassification.self),
    // All 37 data channels are in use.
    .ofLink(LEReadChannelMap.self) { response, _ in response.channelMap = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F] },
    .complete(LERand.self) { controller, _ in .success(.init { $0.number = controller.nextRandomNumber() }) },
    .constant(LEReadSupportedStates.self) { $0.states = 0x03FF_FFFF_FFFF },
    .complete(LEReadSuggestedDefaultDataLength.self) { controller, _ in
      .success(controller.suggestedDataLength)
    },
    .ofLink(ReadTransmitPowerLevel.self), .constant(SetEventMaskPage2.self),
    .complete(LEAddDeviceToResolvingList.self, .version5) { controller, command in
      controller.addToResolvingList(command.identity)
    },
    .complete(LERemoveDeviceFromResolvingList.self, .version5) { controller, command in
      controller.resolvingList.remove(command.identity) == nil
        ? .failure(.unknownConnectionIdentifier) : .success(.init())
    },
    .complete(LEClearResolvingList.self, .version5) { controller, _ in
      controller.resolvingList = []
      return .success(.init())
    },
    .constant(LEReadResolvingListSize.self, .version5) { $0.size = acceptListSize },
    // The ring keeps one address.
    .constant(LESetAddressResolutionEnable.self, .version5),
    .constant(LESetResolvablePrivateAddressTimeout.self, .version5),
    .constant(LESetDefaultPHY.self, .version5),
    .constant(LESetAdvertisingSetRandomAddress.self, .version5),
    .constant(LESetExtendedAdvertisingParameters.self, .extended),
    .constant(LESetExtendedAdvertisingData.self, .extended),
    .constant(LESetExtendedScanResponseData.self, .extended),
    .constant(LESetExtendedAdvertisingEnable.self, .extended),
    .constant(LEReadMaximumAdvertisingDataLength.self, .version5) { $0.length = 1650 },
    .constant(LEReadNumberOfSupportedAdvertisingSets.self, .version5) { $0.count = 4 },
    .constant(LERemoveAdvertisingSet.self, .extended), .constant(LEClearAdvertisingSets.self, .extended),
    .constant(LESetPrivacyMode.self, .version5),
  ]

  private func nextRandomNumber() -> UInt64 {
    randomNumbers &+= 1
    return SplitMix.mix(options.seed &+ SplitMix.mix(randomNumbers))
  }

  private func addToResolvingList(_ address: BluetoothAddress) -> Result<NoReturnParameters, HCIErrorCode> {
    guard !resolvingList.contains(address) else { return .failure(.invalidCommandParameters) }
    guard resolvingList.count < Int(Self.acceptListSize) else { return .failure(.memoryCapacityExceeded) }
    resolvingList.insert(address)
    return .success(.init())
  }
}
