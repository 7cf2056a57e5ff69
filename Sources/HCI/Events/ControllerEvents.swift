import BluetoothCore

/// A command has been carried out, or was refused (Core Specification Vol 4, Part E, 7.7.14).
public struct CommandComplete: PacketFields {
  /// How many commands the host may send now.
  public var commandCredits: UInt8 = 1
  public var opcode = HCIOpcode.noOperation
  /// The status, and after it what the command answers. Too few bytes are common when the status is an error; with
  /// ``HCIOpcode/noOperation`` there are none at all.
  public var returnParameters: [UInt8] = []

  public init() {}

  public init(commandCredits: UInt8 = 1, opcode: HCIOpcode, returnParameters: [UInt8]) {
    self.commandCredits = commandCredits
    self.opcode = opcode
    self.returnParameters = returnParameters
  }

  /// The answer to a command that was carried out.
  public init<Command: HCICompletingCommand>(
    _ command: Command.Type, response: Command.Response, commandCredits: UInt8 = 1
  ) {
    self.init(
      commandCredits: commandCredits, opcode: Command.opcode,
      returnParameters: [HCIErrorCode.success.rawValue] + response.encoded())
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
    try fields.rest("return parameters", &returnParameters)
  }

  /// The first return parameter; nil if none.
  public var status: HCIErrorCode? {
    returnParameters.first.map(HCIErrorCode.init)
  }

  /// What stands after the status, as the answer to `command`. Bytes after the answer are ignored: later versions of
  /// the specification may append fields.
  public func response<Command: HCICompletingCommand>(
    to command: Command.Type
  ) throws(DecodeError) -> Command.Response {
    try returnParameters.withReader { reader throws(DecodeError) in
      try reader.skip(1)
      return try Command.Response(parsing: &reader)
    }
  }
}

/// A command is pending, or was refused; its outcome follows as another event (7.7.15).
public struct CommandStatus: PacketFields {
  public var status = HCIErrorCode.success
  /// How many commands the host may send now.
  public var commandCredits: UInt8 = 1
  public var opcode = HCIOpcode.noOperation

  public init() {}

  public init(status: HCIErrorCode, commandCredits: UInt8 = 1, opcode: HCIOpcode) {
    self.status = status
    self.commandCredits = commandCredits
    self.opcode = opcode
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
  }
}

/// The controller has failed, and needs a reset (7.7.16).
public struct HardwareError: PacketFields {
  /// Vendor-specific.
  public var code: UInt8 = 0

  public init() {}

  public init(code: UInt8) {
    self.code = code
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("code", &code, .hex)
  }
}

/// Packets that the controller has sent, or dropped with their link: as much room has become free (7.7.19).
public struct NumberOfCompletedPackets: PacketFields {
  public struct Item: HCILinkFields, Hashable {
    public var handle = ConnectionHandle()
    public var count: UInt16 = 0

    public init() {}

    public init(handle: ConnectionHandle, count: UInt16) {
      self.handle = handle
      self.count = count
    }

    public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("packets completed", &count)
    }
  }

  public var items: [Item] = []

  public init() {}

  public init(_ items: [Item]) {
    self.items = items
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    // As many as an event can hold.
    try fields.list("links", &items, limit: 63)
  }
}
