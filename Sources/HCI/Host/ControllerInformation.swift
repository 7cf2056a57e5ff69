import BluetoothCore

/// The properties that a controller reported during setup.
public struct ControllerInformation: Hashable, Sendable {
  public var version: ReadLocalVersionInformation.Response
  public var supportedCommands: SupportedCommands
  public var features: LMPFeatures
  public var leFeatures: LEFeatures
  /// The address for scanning and connecting: the controller's public one, or a random static one if it has none.
  public var address: BluetoothAddress
  /// The maximum length of the data in an ACL packet to the controller, in bytes.
  public var aclDataLength: Int
  /// The number of ACL packet buffers in the controller.
  public var aclPackets: Int

  /// Whether to scan with the extended commands of Bluetooth 5.
  public var usesExtendedScan: Bool { supportedCommands.haveExtendedScan }

  /// Whether to connect with the extended commands. This has to match the scan commands, as controllers reject a
  /// mixture.
  public var usesExtendedConnect: Bool {
    usesExtendedScan && supportedCommands.contains(LEExtendedCreateConnection.self)
  }

  var ownAddressType: OwnAddressType { address.kind == .random ? .random : .public }
}

/// The command sequence that takes a controller from any state to one that can scan and connect.
final class ControllerSetup {
  private weak var host: HostController?
  private let randomAddress: BluetoothAddress
  private let completion: (Result<ControllerInformation, HCIError>) -> Void
  private var information = ControllerInformation(
    version: .init(), supportedCommands: SupportedCommands(), features: [], leFeatures: [], address: .zero,
    aclDataLength: 0, aclPackets: 0)

  /// - Parameter randomAddress: the address to use if the controller has no public one
  init(
    _ host: HostController, randomAddress: BluetoothAddress,
    completion: @escaping (Result<ControllerInformation, HCIError>) -> Void
  ) {
    self.host = host
    self.randomAddress = randomAddress
    self.completion = completion
  }

  private func step<Command: HCICompletingCommand>(
    _ command: Command, then next: @escaping (Command.Response) -> Void
  ) {
    host?.send(command) { [completion] result in
      switch result {
      case .success(let response): next(response)
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  func start() {
    step(Reset()) { _ in self.readIdentity() }
  }

  private func readIdentity() {
    step(ReadLocalVersionInformation()) { version in
      self.information.version = version
      self.step(ReadLocalSupportedCommands()) { commands in
        self.information.supportedCommands = commands
        self.step(ReadLocalSupportedFeatures()) { response in
          self.information.features = response.features
          // Some LE-only controllers do not set the LE bit, but support the commands.
          guard response.features.contains(.leSupportedController) || commands.contains(LESetScanEnable.self)
          else {
            return self.completion(.failure(.lowEnergyNotSupported))
          }
          self.readLE()
        }
      }
    }
  }

  private func readLE() {
    step(LEReadLocalSupportedFeatures()) { response in
      self.information.leFeatures = response.features
      self.setMasks()
    }
  }

  private func setMasks() {
    step(SetEventMask { $0.mask = .host }) { _ in
      self.step(LESetEventMask { $0.mask = .host(self.information.leFeatures) }) { _ in self.readBuffers() }
    }
  }

  private func readBuffers() {
    step(LEReadBufferSize()) { buffers in
      self.information.aclDataLength = Int(buffers.aclDataLength)
      self.information.aclPackets = Int(buffers.aclPackets)
      if buffers.aclDataLength == 0 || buffers.aclPackets == 0 {
        self.readSharedBuffers()
      } else {
        self.readAddress()
      }
    }
  }

  /// The controller has no separate LE buffers: the BR/EDR ones are shared (4.1.1).
  private func readSharedBuffers() {
    step(ReadBufferSize()) { buffers in
      self.information.aclDataLength = Int(buffers.aclDataLength)
      self.information.aclPackets = Int(buffers.aclPackets)
      // Without either kind of buffer, no data could be sent.
      guard buffers.aclDataLength > 0, buffers.aclPackets > 0 else {
        return self.completion(.failure(.noDataBuffers))
      }
      self.readAddress()
    }
  }

  private func readAddress() {
    step(ReadBDADDR()) { response in
      // All zeros and all ones mean that there is no address.
      guard response.address.value == 0 || response.address.value == 0xFFFF_FFFF_FFFF else {
        self.information.address = response.address
        return self.completion(.success(self.information))
      }
      self.information.address = self.randomAddress
      self.step(LESetRandomAddress { $0.address = self.randomAddress }) { _ in
        self.completion(.success(self.information))
      }
    }
  }
}

extension EventMask {
  /// The events that the stack handles.
  static let host: EventMask = [
    .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
    .leMeta,
  ]
}

extension LEEventMask {
  /// The events that the stack handles. Some controllers reject bits of features that they do not support.
  static func host(_ features: LEFeatures) -> LEEventMask {
    var mask: LEEventMask = [
      .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
    ]
    if features.contains(.connectionParametersRequestProcedure) {
      mask.insert(.remoteConnectionParameterRequest)
    }
    if features.contains(.dataPacketLengthExtension) { mask.insert(.dataLengthChange) }
    if features.contains(.llPrivacy) { mask.insert(.enhancedConnectionComplete) }
    if !features.isDisjoint(with: [.phy2M, .phyCoded]) { mask.insert(.phyUpdateComplete) }
    if features.contains(.extendedAdvertising) {
      mask.insert(.extendedAdvertisingReport)
      mask.insert(.enhancedConnectionComplete)
    }
    if features.contains(.channelSelectionAlgorithm2) { mask.insert(.channelSelectionAlgorithm) }
    return mask
  }
}
