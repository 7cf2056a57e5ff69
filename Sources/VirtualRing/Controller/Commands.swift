import BluetoothCore
import HCI

extension VirtualController {
  /// Carries a command out; false if this controller does not know it.
  func carryOut(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    if !options.bluetooth5, Self.commandsOfVersion5.contains(opcode) { return false }
    switch opcode {
    case Reset.opcode:
      complete(Reset.self, &reader) { _ in
        reset()
        return .success(.init())
      }
    case SetEventMask.opcode:
      complete(SetEventMask.self, &reader) {
        eventMask = $0.mask
        return .success(.init())
      }
    case LESetEventMask.opcode:
      complete(LESetEventMask.self, &reader) {
        leEventMask = $0.mask
        return .success(.init())
      }
    case LESetRandomAddress.opcode:
      complete(LESetRandomAddress.self, &reader) {
        // It may not change under way (7.8.4).
        guard !scan.isOn, initiation == nil else { return .failure(.commandDisallowed) }
        randomAddress = $0.address
        return .success(.init())
      }
    default:
      return tell(opcode, &reader) || carryOutDiscovery(opcode, &reader) || carryOutLink(opcode, &reader)
        || answerSideCommand(opcode, &reader)
    }
    return true
  }

  private static let commandsOfVersion5: Set<HCIOpcode> = [
    LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
    LEReadBufferSizeV2.opcode, LEReadPHY.opcode, LESetPHY.opcode,
  ]

  /// Commands that only ask.
  private func tell(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    switch opcode {
    case ReadLocalVersionInformation.opcode:
      complete(ReadLocalVersionInformation.self, &reader) { _ in
        let version = CoreVersion(rawValue: options.bluetooth5 ? 9 : 8)
        return .success(
          .init(
            hciVersion: version, hciSubversion: 1, lmpVersion: version,
            manufacturer: CompanyIdentifier(rawValue: 0xFFFF), lmpSubversion: 1))
      }
    case ReadLocalSupportedCommands.opcode:
      complete(ReadLocalSupportedCommands.self, &reader) { _ in .success(supportedCommands) }
    case ReadLocalSupportedFeatures.opcode:
      complete(ReadLocalSupportedFeatures.self, &reader) { _ in
        .success([.brEDRNotSupported, .leSupportedController])
      }
    case LEReadLocalSupportedFeatures.opcode:
      complete(LEReadLocalSupportedFeatures.self, &reader) { _ in .success(features) }
    case ReadBDADDR.opcode:
      complete(ReadBDADDR.self, &reader) { _ in
        .success(.init(address: BluetoothAddress(0x001A_7DDA_7113, .public)))
      }
    case ReadBufferSize.opcode:
      // Zero: this controller has no buffers for BR/EDR, and the LE ones count.
      complete(ReadBufferSize.self, &reader) { _ in
        .success(.init(aclDataLength: 0, synchronousDataLength: 0, aclPackets: 0, synchronousPackets: 0))
      }
    case LEReadBufferSize.opcode:
      complete(LEReadBufferSize.self, &reader) { _ in
        .success(.init(aclDataLength: options.aclLength, aclPackets: options.aclPackets))
      }
    case LEReadBufferSizeV2.opcode:
      complete(LEReadBufferSizeV2.self, &reader) { _ in
        .success(
          .init(
            aclDataLength: options.aclLength, aclPackets: options.aclPackets, isochronousDataLength: 0,
            isochronousPackets: 0))
      }
    case LEReadMaximumDataLength.opcode:
      complete(LEReadMaximumDataLength.self, &reader) { _ in
        .success(.init(maxTxOctets: 251, maxTxTime: 2120, maxRxOctets: 251, maxRxTime: 2120))
      }
    case LEWriteSuggestedDefaultDataLength.opcode:
      complete(LEWriteSuggestedDefaultDataLength.self, &reader) {
        suggestedDataLength = $0
        return .success(.init())
      }
    default: return false
    }
    return true
  }

  /// What both ends of the link can do.
  var features: LEFeatures {
    var features: LEFeatures = [
      .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
      .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
    ]
    if options.bluetooth5 { features.formUnion([.llPrivacy, .phy2M, .extendedAdvertising]) }
    return features
  }

  private var supportedCommands: SupportedCommands {
    var commands: SupportedCommands = [
      .disconnect, .readRemoteVersionInformation, .setEventMask, .reset, .readLocalVersionInformation,
      .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask,
      .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress, .leSetScanParameters,
      .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel, .leClearFilterAcceptList,
      .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
      .leReadRemoteFeatures, .leRemoteConnectionParameterRequestReply,
      .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength,
      .leWriteSuggestedDefaultDataLength, .leReadMaximumDataLength,
    ]
    if options.bluetooth5 {
      for bit in [
        .leReadPHY, .leSetPHY, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
        .leExtendedCreateConnection, .leReadBufferSizeV2,
      ] as [SupportedCommands.Bit] {
        commands.insert(bit)
      }
    }
    for command in SideCommand.table.values where options.bluetooth5 || !command.isOfVersion5 {
      commands.insert(command.place)
    }
    return commands
  }
}
