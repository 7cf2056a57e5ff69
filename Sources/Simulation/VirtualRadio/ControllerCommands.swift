import HCI
import HaloBluetoothCore

/// The properties of a ``VirtualController``. The same options produce the same behaviour at the same times, bit for bit.
package struct ControllerOptions: Hashable, Sendable {
  /// Decides its random numbers, and the times of its advertising events.
  package var seed: UInt64 = 1
  /// BD_ADDR.
  package var address = BluetoothAddress(0x001A_7DDA_7113, .public)
  /// The strength with which the others hear it, in dBm.
  package var rssi: Int8 = -50
  /// Whether it supports the extended commands of Core Specification 5.
  package var bluetooth5 = true
  /// The most data in an ACL packet, in bytes, either way.
  package var aclLength: UInt16 = 251
  /// How many ACL packets it accepts before it has sent one.
  package var aclPackets: UInt8 = 8
  /// It never answers.
  package var staysSilent = false
  /// To stop a scan that does not run is refused (0x0C), as some Raspberry Pi chips do.
  package var refusesIdleScanDisable = false
  /// It can't initiate a link while it advertises, nor the other way round. Its LE Supported States report this, unless
  /// ``refusesWithoutStates`` is set.
  package var cannotInitiateWhileAdvertising = false
  /// It can't scan while it advertises, nor the other way round.
  package var cannotScanWhileAdvertising = false
  /// Its LE Supported States have all combinations, whatever it refuses.
  package var refusesWithoutStates = false
  /// The faults of a bad radio at random (docs/links.md), drawn with this seed; nil for none.
  package var faultSeed: UInt64?

  package init() {}
}

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
      guard !controller.scan.isOn, controller.initiation == nil, !controller.advertising.usesRandomAddress
      else { return .failure(.commandDisallowed) }
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
    .complete(ReadBDADDR.self) { controller, _ in
      .success(.init { $0.address = controller.options.address })
    },
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

  /// The capacity of the accept list and the resolving list.
  static let acceptListSize: UInt8 = 8

  /// The commands that hosts send while they bring an adapter up, and that read a constant or set a value without effect.
  static let sideCommands: [VirtualCommand] = [
    .constant(LEReadAdvertisingPhysicalChannelTxPower.self),
    .constant(LEReadFilterAcceptListSize.self) { $0.size = acceptListSize },
    .constant(LESetHostChannelClassification.self),
    // All 37 data channels are in use.
    .ofLink(LEReadChannelMap.self) { response, _, _ in
      response.channelMap = ChannelMap([0xFF, 0xFF, 0xFF, 0xFF, 0x1F])
    },
    .complete(LERand.self) { controller, _ in .success(.init { $0.number = controller.nextRandomNumber() }) },
    .complete(LEReadSupportedStates.self) { controller, _ in
      // Without those of initiating and advertising, bits 16, 17 and 32 to 34.
      let isExclusive =
        controller.options.cannotInitiateWhileAdvertising && !controller.options.refusesWithoutStates
      return .success(.init { $0.states = isExclusive ? 0x03F8_FFFC_FFFF : 0x03FF_FFFF_FFFF })
    },
    .complete(LEReadSuggestedDefaultDataLength.self) { controller, _ in
      .success(controller.suggestedDataLength)
    },
    .ofLink(ReadTransmitPowerLevel.self), .constant(SetEventMaskPage2.self),
    .constant(LESetDefaultPHY.self, .version5),
  ]

  func nextRandomNumber() -> UInt64 {
    randomNumbers &+= 1
    return SplitMix.mix(options.seed &+ SplitMix.mix(randomNumbers))
  }
}
