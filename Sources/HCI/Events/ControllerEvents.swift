import HaloBluetoothCore

/// A command has completed, or was rejected (Core Specification Vol 4, Part E, 7.7.14).
public struct CommandComplete: PacketFields {
  /// The number of commands that the host may send now.
  public var commandCredits: UInt8 = 1
  public var opcode = HCIOpcode.noOperation
  /// The status, followed by the response to the command. It is often truncated when the status is an error; with
  /// ``HCIOpcode/noOperation`` it is empty.
  public var returnParameters: [UInt8] = []

  public init() {}

  public init(commandCredits: UInt8 = 1, opcode: HCIOpcode, returnParameters: [UInt8]) {
    self.commandCredits = commandCredits
    self.opcode = opcode
    self.returnParameters = returnParameters
  }

  /// The response to a successful command.
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

  /// The return parameters after the status, as the response to `command`. Bytes after the response are ignored: later
  /// versions of the specification may append fields.
  public func response<Command: HCICompletingCommand>(
    to command: Command.Type
  ) throws(DecodeError) -> Command.Response {
    try returnParameters.withReader { reader throws(DecodeError) in
      try reader.skip(1)
      return try Command.Response(parsing: &reader)
    }
  }
}

/// A command is pending, or was rejected; its result follows as another event (7.7.15).
public struct CommandStatus: PacketFields {
  public var status = HCIErrorCode.success
  /// The number of commands that the host may send now.
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

/// The controller has failed, and requires a reset (7.7.16).
public struct HardwareError: PacketFields {
  /// Vendor-specific.
  public var code: UInt8 = 0

  public init() {}

  public init(code: UInt8) { self.code = code }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("code", &code, .hex)
  }
}

/// Packets that the controller has sent, or dropped with their link, so that their buffers are free again (7.7.19).
public struct NumberOfCompletedPackets: PacketFields {
  /// The packets completed on one link.
  public struct Item: HCILinkFields, Hashable {
    public var handle = ConnectionHandle()
    /// The number of packets since the last event.
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

  /// One for each link.
  public var items: [Item] = []

  public init() {}

  public init(_ items: [Item]) { self.items = items }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    // The maximum number in an event.
    try fields.list("links", &items, limit: 63)
  }
}
