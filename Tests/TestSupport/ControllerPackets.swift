import HCI
import HaloBluetoothCore

/// What controllers that tests play take and send.
extension HCIEvent {
  /// The packet, H4 type byte first.
  package var packet: [UInt8] {
    var writer = ByteWriter()
    packet(into: &writer)
    return writer.bytes
  }

  /// Command Complete.
  ///
  /// - Parameter parameters: the status and what follows it
  package static func complete(_ opcode: HCIOpcode, _ parameters: [UInt8], credits: UInt8 = 1) -> HCIEvent {
    .commandComplete(CommandComplete(commandCredits: credits, opcode: opcode, returnParameters: parameters))
  }

  /// Command Complete with success.
  package static func complete<Command: HCICompletingCommand>(
    _ command: Command.Type, _ response: Command.Response
  ) -> HCIEvent {
    .commandComplete(CommandComplete(command, response: response))
  }

  package static func status(
    _ opcode: HCIOpcode, _ status: HCIErrorCode = .success, credits: UInt8 = 1
  ) -> HCIEvent {
    .commandStatus(CommandStatus(status: status, commandCredits: credits, opcode: opcode))
  }

  /// The answer of a Bluetooth 5.0 controller to Read Local Version Information.
  package static let version = complete(
    ReadLocalVersionInformation.self,
    .init {
      $0.hciVersion = CoreVersion(rawValue: 9)
      $0.hciSubversion = 1
      $0.lmpVersion = CoreVersion(rawValue: 9)
      $0.manufacturer = CompanyIdentifier(rawValue: 15)
      $0.lmpSubversion = 2
    })
}

extension HCIOpcode {
  /// - Parameter packet: of a command, H4 type byte first
  package init(ofCommand packet: [UInt8]) {
    self.init(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[1]))
  }
}
