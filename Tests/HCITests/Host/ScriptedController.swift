import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// A host controller, and the other end of its transport, played by a test. It is bytes on purpose: commands are answered
/// with what no good controller answers, and all that was sent can be looked at.
final class ScriptedController {
  static let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  static let peerBytes = "b2a1332211c0"
  static let random = BluetoothAddress(0xE0DE_ADBE_EF01, .random)

  /// What the controller can do, as its set-up tells.
  struct Abilities {
    var commands = SupportedCommands([LESetScanEnable.self, LECreateConnection.self])
    var features: LMPFeatures = .leSupportedController
    var leFeatures: LEFeatures = []
    var publicAddress = BluetoothAddress(0x0001_0203_0405, .public)
    var leBuffers: (length: UInt16, count: UInt8) = (27, 4)
    var sharedBuffers: (length: UInt16, count: UInt16) = (1021, 8)

    static let extended = Abilities(
      commands: SupportedCommands([
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
      ]))
  }

  let timers = Timers()
  let host: HostController
  var abilities: Abilities
  private(set) var outcome: Result<ControllerInformation, StackError>?
  private let out = Outbox()

  private final class Outbox {
    var packets: [[UInt8]] = []
  }

  init(_ abilities: Abilities = Abilities()) {
    self.abilities = abilities
    let out = self.out
    host = HostController(timers: timers, randomAddress: Self.random) { out.packets.append(Array($0)) }
  }

  deinit {
    // A timer that is due later keeps its link, which keeps the timers. Each of them ends within 45 s.
    timers.advance(by: .seconds(60))
  }

  /// A controller that is set up.
  static func ready(_ abilities: Abilities = Abilities()) -> ScriptedController {
    let controller = ScriptedController(abilities)
    controller.initialize()
    controller.answerAll()
    _ = controller.takeSent()
    return controller
  }

  func initialize() {
    host.initialize { self.outcome = $0 }
  }

  // MARK: What was sent

  private var taken: [String] = []

  /// All that was sent since the last call, in hexadecimal digits.
  func takeSent() -> [String] {
    defer {
      taken = []
      out.packets = []
    }
    return taken + out.packets.map { Hex.string($0) }
  }

  /// The opcodes of the commands that were sent since the last call; ACL data is left out.
  func takeOpcodes() -> [HCIOpcode] {
    takeSent().compactMap { packet in
      let bytes = hex(packet)
      return bytes[0] == 1 ? HCIOpcode(ofCommand: bytes) : nil
    }
  }

  // MARK: What comes

  func receive(_ packet: String) {
    let bytes = hex(packet)
    host.receive(bytes.span.bytes, at: Arrival(timers.now))
  }

  func receive(_ event: HCIEvent) {
    host.receive(event.packet.span.bytes, at: Arrival(timers.now))
  }

  /// Command Complete with success and no more, or with an error.
  func complete(_ opcode: HCIOpcode, _ status: HCIErrorCode = .success, credits: UInt8 = 1) {
    receive(.complete(opcode, [status.rawValue], credits: credits))
  }

  func status(_ opcode: HCIOpcode, _ status: HCIErrorCode = .success, credits: UInt8 = 1) {
    receive(.status(opcode, status, credits: credits))
  }

  /// Answers every command that was sent, and those that follow from the answers, with success.
  func answerAll() {
    while answerNext() {}
  }

  /// Answers one command with success.
  ///
  /// - Returns: false if there is none
  @discardableResult func answerNext() -> Bool {
    guard !out.packets.isEmpty else { return false }
    let packet = out.packets.removeFirst()
    taken.append(Hex.string(packet))
    if packet[0] == 1 { answer(HCIOpcode(ofCommand: packet)) }
    return true
  }

  private func answer(_ opcode: HCIOpcode) {
    switch opcode {
    case ReadLocalVersionInformation.opcode: receive(.version)
    case ReadLocalSupportedCommands.opcode: respond(ReadLocalSupportedCommands.self, abilities.commands)
    case ReadLocalSupportedFeatures.opcode:
      respond(ReadLocalSupportedFeatures.self, .init { $0.features = abilities.features })
    case LEReadLocalSupportedFeatures.opcode:
      respond(LEReadLocalSupportedFeatures.self, .init { $0.features = abilities.leFeatures })
    case LEReadBufferSize.opcode:
      respond(
        LEReadBufferSize.self,
        .init {
          $0.aclDataLength = abilities.leBuffers.length
          $0.aclPackets = abilities.leBuffers.count
        })
    case ReadBufferSize.opcode:
      respond(
        ReadBufferSize.self,
        .init {
          $0.aclDataLength = abilities.sharedBuffers.length
          $0.aclPackets = abilities.sharedBuffers.count
        })
    case ReadBDADDR.opcode: respond(ReadBDADDR.self, .init { $0.address = abilities.publicAddress })
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode, LEReadRemoteFeatures.opcode,
      Disconnect.opcode, LEConnectionUpdate.opcode, LESetPHY.opcode:
      status(opcode)
    case LESetDataLength.opcode: respond(LESetDataLength.self, LinkOnly(handle: handle(0x40)))
    default: complete(opcode)
    }
  }

  private func respond<Command: HCICompletingCommand>(_ command: Command.Type, _ response: Command.Response) {
    receive(.complete(command, response))
  }

  // MARK: Links

  /// How a wish for a link ended. The links of one that succeeded count what comes over them.
  final class Attempt {
    fileprivate(set) var results: [Result<LEConnection, StackError>] = []
    fileprivate(set) var data: [String] = []
    fileprivate(set) var losses: [HCIErrorCode] = []
    fileprivate(set) var parameters: [LinkParameters] = []
    fileprivate(set) var changes: [LEConnection.Change] = []
    fileprivate(set) var giveUp: () -> Void = {}

    var link: LEConnection? { try? results.first?.get() }
    var error: StackError? {
      if results.count == 1, case .failure(let error) = results[0] { error } else { nil }
    }
  }

  func connect(
    _ peer: BluetoothAddress = ScriptedController.peer, policy: ParameterPolicy = .accept,
    deadline: Duration = .seconds(30), preferences: LinkPreferences? = nil,
    parameters: ConnectionParameters = .fast
  ) -> Attempt {
    let attempt = Attempt()
    var request = ConnectionRequest(
      peer: peer, parameters: parameters, parameterPolicy: policy, deadline: deadline)
    request.preferences = preferences
    attempt.giveUp = host.connect(request) { result in
      attempt.results.append(result)
      guard case .success(let link) = result else { return }
      link.onData = { data, isStart, _ in
        attempt.data.append((isStart ? "" : "+") + Hex.string(Array(data)))
      }
      link.onDisconnected = { attempt.losses.append($0) }
      link.onChange = { change in
        attempt.changes.append(change)
        if case .parameters(let parameters) = change { attempt.parameters.append(parameters) }
      }
    }
    return attempt
  }

  /// LE Connection Complete.
  func connectionComplete(
    _ number: UInt16 = 0x40, _ status: HCIErrorCode = .success,
    peer: BluetoothAddress = ScriptedController.peer, role: LERole = .central
  ) {
    receive(
      .leConnectionComplete(
        LEConnectionComplete {
          $0.status = status
          $0.handle = handle(number)
          $0.role = role
          $0.peerAddress = peer
          $0.parameters.interval = interval(12)
          $0.parameters.supervisionTimeout = timeout(400)
        }))
  }

  func featuresComplete(
    _ number: UInt16 = 0x40, _ status: HCIErrorCode = .success, _ features: LEFeatures = .encryption
  ) {
    receive(
      .leReadRemoteFeaturesComplete(
        LEReadRemoteFeaturesComplete {
          $0.status = status
          $0.handle = handle(number)
          $0.features = features
        }))
  }

  func disconnected(_ number: UInt16 = 0x40, _ reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    receive(
      .disconnectionComplete(DisconnectionComplete(status: .success, handle: handle(number), reason: reason)))
  }

  func completedPackets(_ number: UInt16, _ count: UInt16) {
    receive(
      .numberOfCompletedPackets(NumberOfCompletedPackets([.init(handle: handle(number), count: count)])))
  }

  /// A link that is established; nothing of its making is left to be looked at.
  func established(
    _ number: UInt16 = 0x40, peer: BluetoothAddress = ScriptedController.peer,
    policy: ParameterPolicy = .accept, parameters: ConnectionParameters = .fast
  ) -> Attempt {
    let attempt = connect(peer, policy: policy, parameters: parameters)
    answerAll()
    connectionComplete(number, peer: peer)
    answerAll()
    featuresComplete(number)
    answerAll()
    _ = takeSent()
    return attempt
  }
}
