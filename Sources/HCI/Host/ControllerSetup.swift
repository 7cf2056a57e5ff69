import HaloBluetoothCore

/// The commands that take a controller from any state to one that can scan and connect, as a value: responses in,
/// commands out. It does no I/O; ``HostController`` runs it.
package struct ControllerSetup {
  package enum Step {
    /// The next command; ``next(_:)`` takes its response.
    case send(any HCICompletingCommand)
    case done(Result<ControllerInformation, StackError>)
  }

  private let randomAddress: BluetoothAddress
  private let prefersRandomAddress: Bool
  private let makePrivateAddress: PrivateAddressMaker?
  private var sent = Reset.opcode
  private var eventMask = EventMask.host
  private var information = ControllerInformation(
    version: .init(), supportedCommands: SupportedCommands(), features: [], leFeatures: [], address: .zero,
    aclDataLength: 0, aclPackets: 0)

  /// - Parameters:
  ///   - randomAddress: the address to use if the controller has no public one
  ///   - prefersRandomAddress: whether it is used in any case
  ///   - makePrivateAddress: makes the address that is used on the air; nil if that is the one that stays
  package init(
    randomAddress: BluetoothAddress, prefersRandomAddress: Bool = false,
    makePrivateAddress: PrivateAddressMaker? = nil
  ) {
    self.randomAddress = randomAddress
    self.prefersRandomAddress = prefersRandomAddress
    self.makePrivateAddress = makePrivateAddress
  }

  /// The first step.
  package mutating func start() -> Step { send(Reset()) }

  /// The step after the response to the last command.
  ///
  /// - Parameter response: the return parameters after the status
  package mutating func next(_ response: Result<[UInt8], StackError>) -> Step {
    do throws(StackError) {
      return try step(after: try response.get())
    } catch {
      return stepAfterRefusal(error)
    }
  }

  /// The step after a refused command that the set-up can do without; every other failure ends the set-up.
  private mutating func stepAfterRefusal(_ error: StackError) -> Step {
    switch error.command {
    case SetEventMask.opcode where error.refusal != nil && eventMask != .host.maskable:
      eventMask = .host.maskable
      return send(SetEventMask { $0.mask = eventMask })
    case WriteLEHostSupport.opcode where error.code != .malformedResponse:
      return send(LEReadLocalSupportedFeatures())
    default: return .done(.failure(error))
    }
  }

  private mutating func step(after parameters: [UInt8]) throws(StackError) -> Step {
    switch sent {
    case Reset.opcode: return send(ReadLocalVersionInformation())
    case ReadLocalVersionInformation.opcode:
      information.version = try ReadLocalVersionInformation.response(parameters)
      return send(ReadLocalSupportedCommands())
    case ReadLocalSupportedCommands.opcode:
      information.supportedCommands = try ReadLocalSupportedCommands.response(parameters)
      return send(ReadLocalSupportedFeatures())
    case ReadLocalSupportedFeatures.opcode:
      information.features = try ReadLocalSupportedFeatures.response(parameters).features
      // Some LE-only controllers do not set the LE bit, but support the commands.
      guard
        information.features.contains(.leSupportedController)
          || information.supportedCommands.contains(LESetScanEnable.self)
      else { throw .lowEnergyNotSupported }
      // Controllers for BR/EDR and LE may refuse LE commands until the host announces its support of LE; a Reset takes that
      // back.
      guard information.supportedCommands.contains(WriteLEHostSupport.self) else {
        return send(LEReadLocalSupportedFeatures())
      }
      return send(WriteLEHostSupport { $0.isSupported = true })
    case WriteLEHostSupport.opcode: return send(LEReadLocalSupportedFeatures())
    case LEReadLocalSupportedFeatures.opcode:
      information.leFeatures = try LEReadLocalSupportedFeatures.response(parameters).features
      return send(SetEventMask { $0.mask = eventMask })
    case SetEventMask.opcode:
      return send(LESetEventMask { $0.mask = .host(information.leFeatures) })
    case LESetEventMask.opcode: return send(LEReadBufferSize())
    case LEReadBufferSize.opcode:
      let buffers = try LEReadBufferSize.response(parameters)
      information.aclDataLength = Int(buffers.aclDataLength)
      information.aclPackets = Int(buffers.aclPackets)
      // The controller may have no separate LE buffers: the BR/EDR ones are shared (4.1.1).
      return hasDataBuffers ? send(ReadBDADDR()) : send(ReadBufferSize())
    case ReadBufferSize.opcode:
      let buffers = try ReadBufferSize.response(parameters)
      information.aclDataLength = Int(buffers.aclDataLength)
      information.aclPackets = Int(buffers.aclPackets)
      guard hasDataBuffers else { throw .noDataBuffers }
      return send(ReadBDADDR())
    case ReadBDADDR.opcode:
      information.address = try ReadBDADDR.response(parameters).address
      // All zeros and all ones mean that there is no address.
      let usesRandomAddress =
        prefersRandomAddress || information.address.value == 0
        || information.address.value == 0xFFFF_FFFF_FFFF
      if usesRandomAddress { information.address = randomAddress }
      if let makePrivateAddress {
        guard let address = makePrivateAddress(information.address) else { throw .noPrivateAddress }
        information.privateAddress = address
        return send(LESetRandomAddress { $0.address = address })
      }
      if usesRandomAddress { return send(LESetRandomAddress { $0.address = randomAddress }) }
    default: break
    }
    return .done(.success(information))
  }

  private var hasDataBuffers: Bool { information.aclDataLength > 0 && information.aclPackets > 0 }

  private mutating func send<Command: HCICompletingCommand>(_ command: Command) -> Step {
    sent = Command.opcode
    return .send(command)
  }
}

extension HCICompletingCommand {
  /// Decodes the return parameters after the status.
  static func response(_ parameters: [UInt8]) throws(StackError) -> Response {
    do throws(DecodeError) {
      return try parameters.withReader { reader throws(DecodeError) in try Response(parsing: &reader) }
    } catch {
      throw .malformedResponse(opcode, error)
    }
  }
}

extension EventMask {
  /// The events that the stack handles, with those that no mask should keep from it: a controller that masks Number Of
  /// Completed Packets nevertheless gets no packet after its buffers are full (google/bumble 946).
  static let host: EventMask = [
    .disconnectionComplete, .encryptionChange, .encryptionKeyRefreshComplete,
    .readRemoteVersionInformationComplete, .commandComplete, .commandStatus, .hardwareError,
    .numberOfCompletedPackets, .leMeta,
  ]

  /// The same without those whose bits are reserved (7.3.1).
  var maskable: EventMask {
    subtracting([.commandComplete, .commandStatus, .numberOfCompletedPackets])
  }
}

extension LEEventMask {
  /// The events that the stack handles. Some controllers reject bits of features that they do not support.
  package static func host(_ features: LEFeatures) -> LEEventMask {
    var mask: LEEventMask = [
      .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
    ]
    // Without this event, a link to a central that encrypts it is lost after 40 s (nrfconnect/sdk-nrf 3695).
    if features.contains(.encryption) { mask.insert(.longTermKeyRequest) }
    if features.contains(.connectionParametersRequestProcedure) {
      mask.insert(.remoteConnectionParameterRequest)
    }
    if features.contains(.dataPacketLengthExtension) { mask.insert(.dataLengthChange) }
    if features.contains(.llPrivacy) { mask.insert(.enhancedConnectionComplete) }
    if !features.isDisjoint(with: [.phy2M, .phyCoded]) { mask.insert(.phyUpdateComplete) }
    if features.contains(.extendedAdvertising) {
      mask.insert(.extendedAdvertisingReport)
      mask.insert(.advertisingSetTerminated)
      mask.insert(.enhancedConnectionComplete)
    }
    if features.contains(.channelSelectionAlgorithm2) { mask.insert(.channelSelectionAlgorithm) }
    return mask
  }
}
