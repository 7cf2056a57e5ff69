import HCI

/// A command that the virtual controller supports, and its answer. A row in one of the tables is sufficient:
/// ``VirtualController/controllerCommands``, `discoveryCommands`, `advertisingCommands`, `linkCommands`,
/// `encryptionCommands`, `privacyCommands` and `sideCommands`.
struct VirtualCommand: Sendable {
  /// Which controllers support a command, and which others they accept beside it.
  enum Kind {
    case common
    /// For scanning, advertising and connecting, of controllers before Core Specification 5.
    case legacy
    /// Only controllers of Core Specification 5 have it.
    case version5
    /// The same, for scanning, advertising and connecting. Between two resets a controller accepts either these or the
    /// legacy ones (Core Specification Vol 4, Part E, 3.1.1).
    case extended

    var isOfVersion5: Bool { self == .version5 || self == .extended }
  }

  let type: any HCICommand.Type
  let kind: Kind
  fileprivate let answer: @Sendable (VirtualController, borrowing CommandPacket) -> Void

  /// Answered with Command Complete. Refusals and commands that cannot be read are answered with the status alone.
  ///
  /// - Parameter then: runs when the answer has been sent
  static func complete<Command: HCICompletingCommand>(
    _ type: Command.Type, _ kind: Kind = .common, then: (@Sendable (VirtualController) -> Void)? = nil,
    _ answer: @escaping @Sendable (VirtualController, Command) -> Result<Command.Response, HCIErrorCode>
  ) -> VirtualCommand {
    VirtualCommand(type: type, kind: kind) { controller, packet in
      switch controller.read(type, kind, packet).flatMap({ answer(controller, $0) }) {
      case .success(let response):
        controller.post(.commandComplete(CommandComplete(type, response: response)))
        if let then { controller.later(VirtualController.commandDelay, then) }
      case .failure(let status):
        controller.post(
          .commandComplete(CommandComplete(opcode: Command.opcode, returnParameters: [status.rawValue])))
      }
    }
  }

  /// Always answered alike: all zero except for the values that `set` sets.
  static func constant<Command: HCICompletingCommand>(
    _ type: Command.Type, _ kind: Kind = .common,
    _ set: @escaping @Sendable (inout Command.Response) -> Void = { _ in }
  ) -> VirtualCommand {
    complete(type, kind) { _, _ in .success(.init(set)) }
  }

  /// Reads the state of the link.
  static func ofLink<Command: HCICompletingCommand & HCILinkFields>(
    _ type: Command.Type, _ kind: Kind = .common,
    _ set: @escaping @Sendable (inout Command.Response, SimulatedLink, any SimulatedDevice) -> Void = {
      _, _, _ in
    }
  ) -> VirtualCommand where Command.Response: HCILinkFields {
    complete(type, kind) { controller, command in
      guard let link = controller.link(command.handle), let peer = controller.peer(command.handle) else {
        return .failure(.unknownConnectionIdentifier)
      }
      var response = Command.Response(handle: command.handle)
      set(&response, link, peer)
      return .success(response)
    }
  }

  /// Answered with Command Status. If it is accepted, `then` executes it afterwards.
  static func begin<Command: HCIStatusCommand>(
    _ type: Command.Type, _ kind: Kind = .common,
    check: @escaping @Sendable (VirtualController, Command) -> HCIErrorCode,
    then: @escaping @Sendable (VirtualController, Command) -> Void
  ) -> VirtualCommand {
    VirtualCommand(type: type, kind: kind) { controller, packet in
      switch controller.read(type, kind, packet) {
      case .success(let command):
        let status = check(controller, command)
        controller.acknowledge(Command.opcode, status)
        if status == .success { controller.later(VirtualController.commandDelay) { then($0, command) } }
      case .failure(let status): controller.acknowledge(Command.opcode, status)
      }
    }
  }

  /// The same for a command that only needs the link to exist.
  static func beginOnLink<Command: HCIStatusCommand & HCILinkFields>(
    _ type: Command.Type, _ kind: Kind = .common,
    then: @escaping @Sendable (VirtualController, Command) -> Void
  ) -> VirtualCommand {
    begin(type, kind, check: { $0.check($1.handle) }, then: then)
  }

  fileprivate static let table = Dictionary(
    uniqueKeysWithValues: (VirtualController.controllerCommands + VirtualController.discoveryCommands
      + VirtualController.advertisingCommands + VirtualController.linkCommands
      + VirtualController.encryptionCommands + VirtualController.privacyCommands
      + VirtualController.sideCommands).map { ($0.type.opcode, $0) })
}

extension VirtualController {
  /// Parses a command, and answers it.
  func receiveCommand(_ bytes: RawSpan) {
    guard let packet = try? CommandPacket(bytes) else {
      counters.malformedPackets += 1
      return
    }
    counters.commands += 1
    guard let command = VirtualCommand.table[packet.opcode], supports(command) else {
      counters.unknownCommands += 1
      return acknowledge(packet.opcode, .unknownCommand)
    }
    if let status = faults?.refusal(of: packet.opcode) {
      guard !(command.type is any HCIStatusCommand.Type) else { return acknowledge(packet.opcode, status) }
      return post(
        .commandComplete(CommandComplete(opcode: packet.opcode, returnParameters: [status.rawValue])))
    }
    command.answer(self, packet)
  }

  private func supports(_ command: VirtualCommand) -> Bool {
    options.bluetooth5 || !command.kind.isOfVersion5
  }

  var supportedCommands: SupportedCommands {
    SupportedCommands(VirtualCommand.table.values.filter(supports).map(\.type))
  }

  fileprivate func acknowledge(_ opcode: HCIOpcode, _ status: HCIErrorCode) {
    post(.commandStatus(CommandStatus(status: status, opcode: opcode)))
  }

  fileprivate func read<Command: HCICommand>(
    _ type: Command.Type, _ kind: VirtualCommand.Kind, _ packet: borrowing CommandPacket
  ) -> Result<Command, HCIErrorCode> {
    if kind == .legacy || kind == .extended {
      // From its first use on, one family excludes the other.
      guard family == nil || family == kind else { return .failure(.commandDisallowed) }
      family = kind
    }
    guard let command = try? packet.decode(type) else { return .failure(.invalidCommandParameters) }
    return .success(command)
  }
}
