import BluetoothCore
import HCI

extension VirtualController {
  /// Executes a command; false if this controller does not support it.
  func carryOut(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    if !options.bluetooth5, Self.opcodesOfVersion5.contains(opcode) { return false }
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
        // It must not change while in use (7.8.4).
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

  /// The commands implemented here, in addition to those of ``SideCommand``.
  private static let commands: [any HCICommand.Type] = [
    Disconnect.self, ReadRemoteVersionInformation.self, SetEventMask.self, Reset.self,
    ReadLocalVersionInformation.self, ReadLocalSupportedFeatures.self, ReadBufferSize.self, ReadBDADDR.self,
    ReadRSSI.self, LESetEventMask.self, LEReadBufferSize.self, LEReadLocalSupportedFeatures.self,
    LESetRandomAddress.self, LESetScanParameters.self, LESetScanEnable.self, LECreateConnection.self,
    LECreateConnectionCancel.self, LEClearFilterAcceptList.self, LEAddDeviceToFilterAcceptList.self,
    LERemoveDeviceFromFilterAcceptList.self, LEConnectionUpdate.self, LEReadRemoteFeatures.self,
    LERemoteConnectionParameterRequestReply.self, LERemoteConnectionParameterRequestNegativeReply.self,
    LESetDataLength.self, LEWriteSuggestedDefaultDataLength.self, LEReadMaximumDataLength.self,
  ]

  /// Those that only a controller of Core Specification 5 supports.
  private static let commandsOfVersion5: [any HCICommand.Type] = [
    LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
    LEReadBufferSizeV2.self, LEReadPHY.self, LESetPHY.self,
  ]

  private static let opcodesOfVersion5 = Set(commandsOfVersion5.map { $0.opcode })

  /// Commands that only read.
  private func tell(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    switch opcode {
    case ReadLocalVersionInformation.opcode:
      complete(ReadLocalVersionInformation.self, &reader) { _ in
        let version = CoreVersion(rawValue: options.bluetooth5 ? 9 : 8)
        return .success(
          .init {
            $0.hciVersion = version
            $0.hciSubversion = 1
            $0.lmpVersion = version
            $0.manufacturer = CompanyIdentifier(rawValue: 0xFFFF)
            $0.lmpSubversion = 1
          })
      }
    case ReadLocalSupportedCommands.opcode:
      complete(ReadLocalSupportedCommands.self, &reader) { _ in .success(supportedCommands) }
    case ReadLocalSupportedFeatures.opcode:
      complete(ReadLocalSupportedFeatures.self, &reader) { _ in
        .success(.init { $0.features = [.brEDRNotSupported, .leSupportedController] })
      }
    case LEReadLocalSupportedFeatures.opcode:
      complete(LEReadLocalSupportedFeatures.self, &reader) { _ in .success(.init { $0.features = features }) }
    case ReadBDADDR.opcode:
      complete(ReadBDADDR.self, &reader) { _ in
        .success(.init { $0.address = BluetoothAddress(0x001A_7DDA_7113, .public) })
      }
    case ReadBufferSize.opcode:
      // Zero: this controller has no buffers for BR/EDR, and the LE ones count.
      complete(ReadBufferSize.self, &reader) { _ in
        .success(.init())
      }
    case LEReadBufferSize.opcode:
      complete(LEReadBufferSize.self, &reader) { _ in
        .success(buffers)
      }
    case LEReadBufferSizeV2.opcode:
      complete(LEReadBufferSizeV2.self, &reader) { _ in
        .success(.init { $0.acl = buffers })
      }
    case LEReadMaximumDataLength.opcode:
      complete(LEReadMaximumDataLength.self, &reader) { _ in
        let longest = DataLength(octets: 251, time: 2120)
        return .success(
          .init {
            $0.transmit = longest
            $0.receive = longest
          })
      }
    case LEWriteSuggestedDefaultDataLength.opcode:
      complete(LEWriteSuggestedDefaultDataLength.self, &reader) {
        suggestedDataLength = $0.transmit
        return .success(.init())
      }
    default: return false
    }
    return true
  }

  private var buffers: LEReadBufferSize.Response {
    .init {
      $0.aclDataLength = options.aclLength
      $0.aclPackets = options.aclPackets
    }
  }

  /// The features that both ends of the link support.
  var features: LEFeatures {
    var features: LEFeatures = [
      .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
      .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
    ]
    if options.bluetooth5 { features.formUnion([.llPrivacy, .phy2M, .extendedAdvertising]) }
    return features
  }

  private var supportedCommands: SupportedCommands {
    var commands = SupportedCommands(Self.commands)
    if options.bluetooth5 { for command in Self.commandsOfVersion5 { commands.insert(command.info) } }
    for command in SideCommand.table.values where options.bluetooth5 || !command.isOfVersion5 {
      commands.insert(command.type.info)
    }
    return commands
  }
}
