import BluetoothCore
import HCI

/// There are legacy and extended commands for scanning and connecting, and a controller accepts only one kind between
/// two resets (Core Specification Vol 4, Part E, 3.1.1).
enum CommandFamily {
  case legacy
  case extended

  /// Nil for commands that belong to neither.
  init?(_ opcode: HCIOpcode) {
    guard let family = Self.members[opcode] else { return nil }
    self = family
  }

  private static let members: [HCIOpcode: CommandFamily] = {
    let legacy: [any HCICommand.Type] = [
      LESetAdvertisingParameters.self, LESetAdvertisingData.self, LESetScanResponseData.self,
      LESetAdvertisingEnable.self, LESetScanParameters.self, LESetScanEnable.self, LECreateConnection.self,
    ]
    let extended: [any HCICommand.Type] = [
      LESetExtendedAdvertisingParameters.self, LESetExtendedAdvertisingData.self,
      LESetExtendedScanResponseData.self, LESetExtendedAdvertisingEnable.self, LERemoveAdvertisingSet.self,
      LEClearAdvertisingSets.self, LESetExtendedScanParameters.self, LESetExtendedScanEnable.self,
      LEExtendedCreateConnection.self,
    ]
    return Dictionary(
      uniqueKeysWithValues: legacy.map { ($0.opcode, .legacy) } + extended.map { ($0.opcode, .extended) })
  }()
}

extension VirtualController {
  /// Parses a command's header and dispatches the command.
  func receiveCommand(_ reader: inout ByteReader) {
    guard let opcode = try? HCIOpcode(parsing: &reader), let length = try? reader.readUInt8(),
      reader.remaining == Int(length)
    else {
      counters.malformedPackets += 1
      return
    }
    counters.commands += 1
    guard carryOut(opcode, &reader) else {
      counters.unknownCommands += 1
      acknowledge(opcode, .unknownCommand)
      return
    }
  }

  /// Answers a command with Command Complete. Refusals and commands that cannot be read are answered with the
  /// status alone.
  ///
  /// - Parameter then: runs when the answer has been sent
  func complete<Command: HCICompletingCommand>(
    _ type: Command.Type, _ reader: inout ByteReader, then: ((VirtualController) -> Void)? = nil,
    _ body: (Command) -> Result<Command.Response, HCIErrorCode>
  ) {
    let result: Result<Command.Response, HCIErrorCode> = read(type, &reader).flatMap(body)
    switch result {
    case .success(let response):
      post(.commandComplete(CommandComplete(type, response: response)))
      if let then { later(Self.commandDelay, then) }
    case .failure(let status):
      post(
        .commandComplete(
          CommandComplete(commandCredits: 1, opcode: Command.opcode, returnParameters: [status.rawValue])))
    }
  }

  /// Answers a command with Command Status; if it is accepted, `then` carries it out afterwards.
  func begin<Command: HCIStatusCommand>(
    _ type: Command.Type, _ reader: inout ByteReader, check: (Command) -> HCIErrorCode,
    then: @escaping (VirtualController, Command) -> Void
  ) {
    switch read(type, &reader) {
    case .success(let command):
      let status = check(command)
      acknowledge(Command.opcode, status)
      if status == .success { later(Self.commandDelay) { then($0, command) } }
    case .failure(let status): acknowledge(Command.opcode, status)
    }
  }

  private func acknowledge(_ opcode: HCIOpcode, _ status: HCIErrorCode) {
    post(.commandStatus(CommandStatus(status: status, commandCredits: 1, opcode: opcode)))
  }

  /// Whether the command fits to those given before; from its first use on, one family excludes the other.
  func admits(_ opcode: HCIOpcode) -> Bool {
    guard let needed = CommandFamily(opcode) else { return true }
    guard family == nil || family == needed else { return false }
    family = needed
    return true
  }

  private func read<Command: HCICommand>(
    _ type: Command.Type, _ reader: inout ByteReader
  ) -> Result<Command, HCIErrorCode> {
    guard admits(Command.opcode) else { return .failure(.commandDisallowed) }
    guard let command = try? Command(parsing: &reader), reader.isAtEnd else {
      return .failure(.invalidCommandParameters)
    }
    return .success(command)
  }
}
