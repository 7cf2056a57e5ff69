import BluetoothCore
import HCI

/// A command that hosts give while they bring an adapter up, and that is answered at once: it asks for a constant,
/// or it sets what no ring can notice.
struct SideCommand: Sendable {
  /// What is answered: return parameters behind the status, or a refusal.
  typealias Answer = @Sendable (VirtualController, RawSpan) -> Result<[UInt8], HCIErrorCode>

  var place: SupportedCommands.Bit
  /// How many bytes of parameters it may have.
  var lengths: ClosedRange<Int>
  /// Whether only a controller with the commands of Core Specification 5 knows it.
  var isOfVersion5: Bool
  var answer: Answer
}

extension SideCommand {
  /// A row of the table below: the opcode, the octet and bit of its place, the lengths of its parameters.
  fileprivate typealias Row = (UInt16, (Int, Int), ClosedRange<Int>, Answer)

  /// A command that always gets the same answer.
  private static func fixed(_ parameters: UInt8...) -> Answer {
    { _, _ in .success(parameters) }
  }

  /// A command whose return parameters stand behind the handle of the link that it asks about.
  private static func ofLink(_ parameters: UInt8...) -> Answer {
    { controller, command in
      guard let link = controller.link, let low = command.byte(at: 0), let high = command.byte(at: 1),
        link.handle.rawValue == UInt16(high) << 8 | UInt16(low)
      else { return .failure(.unknownConnectionIdentifier) }
      return .success([low, high] + parameters)
    }
  }

  /// The advertising of this controller is heard by nobody: these commands are accepted, and that is all.
  private static let legacy: [Row] = [
    // LE Set Advertising Parameters; Read Advertising Physical Channel Tx Power (0 dBm).
    (0x2006, (25, 5), 15...15, fixed()), (0x2007, (25, 6), 0...0, fixed(0)),
    // LE Set Advertising Data, Scan Response Data, Advertising Enable.
    (0x2008, (25, 7), 32...32, fixed()), (0x2009, (26, 0), 32...32, fixed()),
    (0x200A, (26, 1), 1...1, fixed()),
    // LE Read Filter Accept List Size.
    (0x200F, (26, 6), 0...0, fixed(VirtualController.acceptListSize)),
    // LE Set Host Channel Classification; Read Channel Map: all 37 data channels are in use.
    (0x2014, (27, 3), 5...5, fixed()), (0x2015, (27, 4), 2...2, ofLink(0xFF, 0xFF, 0xFF, 0xFF, 0x1F)),
    // LE Rand.
    (0x2018, (27, 7), 0...0, { controller, _ in .success(controller.nextRandomBytes()) }),
    // LE Read Supported States: all.
    (0x201C, (28, 3), 0...0, fixed(0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0)),
    // LE Read Suggested Default Data Length.
    (
      0x2023, (33, 7), 0...0,
      { controller, _ in
        var writer = ByteWriter(capacity: 4)
        controller.suggestedDataLength.write(into: &writer)
        return .success(writer.bytes)
      }
    ),
    // Read Transmit Power Level: 0 dBm, now and at most.
    (0x0C2D, (10, 2), 3...3, ofLink(0)),
    // Set Event Mask Page 2: nothing on it concerns this controller.
    (0x0C63, (22, 2), 8...8, fixed()),
  ]

  private static let version5: [Row] = [
    // LE Add Device To Resolving List and Remove Device, each with the peer's identity address.
    (
      0x2027, (34, 3), 39...39,
      { controller, command in controller.resolve(command) { $0.addToResolvingList($1) } }
    ),
    (
      0x2028, (34, 4), 7...7,
      { controller, command in controller.resolve(command) { $0.removeFromResolvingList($1) } }
    ),
    // LE Clear Resolving List, Read Resolving List Size.
    (
      0x2029, (34, 5), 0...0,
      { controller, _ in
        controller.resolvingList = []
        return .success([])
      }
    ),
    (0x202A, (34, 6), 0...0, fixed(VirtualController.acceptListSize)),
    // LE Set Address Resolution Enable, Set Resolvable Private Address Timeout. The ring keeps one address.
    (0x202D, (35, 1), 1...1, fixed()), (0x202E, (35, 2), 2...2, fixed()),
    // LE Set Default PHY.
    (0x2031, (35, 5), 3...3, fixed()),
    // LE Set Advertising Set Random Address, Extended Advertising Parameters (0 dBm were chosen), Data, Scan
    // Response Data, Enable.
    (0x2035, (36, 1), 7...7, fixed()), (0x2036, (36, 2), 25...25, fixed(0)),
    (0x2037, (36, 3), 4...255, fixed()), (0x2038, (36, 4), 4...255, fixed()),
    (0x2039, (36, 5), 2...255, fixed()),
    // LE Read Maximum Advertising Data Length (1650), Number of Supported Advertising Sets.
    (0x203A, (36, 6), 0...0, fixed(0x72, 0x06)), (0x203B, (36, 7), 0...0, fixed(4)),
    // LE Remove Advertising Set, Clear Advertising Sets.
    (0x203C, (37, 0), 1...1, fixed()), (0x203D, (37, 1), 0...0, fixed()),
    // LE Set Privacy Mode.
    (0x204E, (39, 2), 8...8, fixed()),
  ]

  /// All of them.
  static let table: [HCIOpcode: SideCommand] = {
    var table: [HCIOpcode: SideCommand] = [:]
    for (rows, isOfVersion5) in [(legacy, false), (version5, true)] {
      for (opcode, place, lengths, answer) in rows {
        table[HCIOpcode(rawValue: opcode)] = SideCommand(
          place: .init(octet: place.0, bit: place.1), lengths: lengths, isOfVersion5: isOfVersion5,
          answer: answer)
      }
    }
    return table
  }()
}

extension VirtualController {
  /// How many devices the accept list and the resolving list hold.
  static let acceptListSize: UInt8 = 8

  /// Answers a command of the table; false if it is not there, or of a later version than this controller's.
  func answerSideCommand(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    guard let command = SideCommand.table[opcode], options.bluetooth5 || !command.isOfVersion5 else {
      return false
    }
    let parameters = reader.readRest()
    let result: Result<[UInt8], HCIErrorCode> =
      if !admits(opcode) {
        .failure(.commandDisallowed)
      } else if !command.lengths.contains(parameters.byteCount) {
        .failure(.invalidCommandParameters)
      } else {
        command.answer(self, parameters)
      }
    let returned: [UInt8] =
      switch result {
      case .success(let parameters): [HCIErrorCode.success.rawValue] + parameters
      case .failure(let status): [status.rawValue]
      }
    post(
      .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode, returnParameters: returned)))
    return true
  }

  func nextRandomBytes() -> [UInt8] {
    randomNumbers &+= 1
    var writer = ByteWriter(capacity: 8)
    writer.write(SplitMix.mix(options.seed &+ SplitMix.mix(randomNumbers)))
    return writer.bytes
  }

  // MARK: The resolving list

  fileprivate func resolve(
    _ command: RawSpan, _ change: (VirtualController, BluetoothAddress) -> HCIErrorCode
  ) -> Result<[UInt8], HCIErrorCode> {
    var reader = ByteReader(command)
    guard let kind = try? reader.readUInt8(),
      let address = try? BluetoothAddress(parsing: &reader, kind: .init(rawValue: kind))
    else { return .failure(.invalidCommandParameters) }
    let status = change(self, address)
    return status == .success ? .success([]) : .failure(status)
  }

  fileprivate func addToResolvingList(_ address: BluetoothAddress) -> HCIErrorCode {
    guard !resolvingList.contains(address) else { return .invalidCommandParameters }
    guard resolvingList.count < Int(Self.acceptListSize) else { return .memoryCapacityExceeded }
    resolvingList.insert(address)
    return .success
  }

  fileprivate func removeFromResolvingList(_ address: BluetoothAddress) -> HCIErrorCode {
    resolvingList.remove(address) == nil ? .unknownConnectionIdentifier : .success
  }
}
