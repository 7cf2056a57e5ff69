import BluetoothCore

/// A command has been carried out, or was refused (Core Specification Vol 4, Part E, 7.7.14).
public struct CommandComplete: HCICodable, Hashable {
  /// How many commands the host may send now.
  public var commandCredits: UInt8
  public var opcode: HCIOpcode
  /// The status, and behind it what the command answers. Too few bytes are common when the status is an error;
  /// with ``HCIOpcode/noOperation`` there are none at all.
  public var returnParameters: [UInt8]

  public init(commandCredits: UInt8, opcode: HCIOpcode, returnParameters: [UInt8]) {
    self.commandCredits = commandCredits
    self.opcode = opcode
    self.returnParameters = returnParameters
  }

  /// The answer to a command that was carried out.
  public init<Command: HCICompletingCommand>(
    _ command: Command.Type, response: Command.Response, commandCredits: UInt8 = 1
  ) {
    var writer = ByteWriter()
    HCIErrorCode.success.write(into: &writer)
    response.write(into: &writer)
    self.init(commandCredits: commandCredits, opcode: Command.opcode, returnParameters: writer.bytes)
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    commandCredits = try reader.readUInt8()
    opcode = try HCIOpcode(parsing: &reader)
    returnParameters = reader.readRemainingBytes()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(commandCredits)
    opcode.write(into: &writer)
    writer.write(returnParameters)
  }

  /// The first return parameter; nil if there is none.
  public var status: HCIErrorCode? {
    returnParameters.first.map(HCIErrorCode.init)
  }

  /// What stands behind the status, as the answer to `command`. Bytes behind the answer are ignored: later
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

/// A command has been taken up, or was refused; its outcome follows as another event (7.7.15).
public struct CommandStatus: HCICodable, Hashable {
  public var status: HCIErrorCode
  /// How many commands the host may send now.
  public var commandCredits: UInt8
  public var opcode: HCIOpcode

  public init(status: HCIErrorCode, commandCredits: UInt8, opcode: HCIOpcode) {
    self.status = status
    self.commandCredits = commandCredits
    self.opcode = opcode
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    commandCredits = try reader.readUInt8()
    opcode = try HCIOpcode(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    writer.write(commandCredits)
    opcode.write(into: &writer)
  }
}

/// The controller has failed, and needs a reset (7.7.16).
public struct HardwareError: HCICodable, Hashable {
  /// The maker's own number.
  public var code: UInt8

  public init(code: UInt8) {
    self.code = code
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    code = try reader.readUInt8()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(code)
  }
}

/// Packets that the controller has sent, or dropped with their link: so much room has become free (7.7.19).
public struct NumberOfCompletedPackets: HCICodable, Hashable {
  public struct Item: Hashable, Sendable {
    public var handle: ConnectionHandle
    public var count: UInt16

    public init(handle: ConnectionHandle, count: UInt16) {
      self.handle = handle
      self.count = count
    }
  }

  public var items: [Item]

  public init(_ items: [Item]) {
    self.items = items
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    items = []
    for _ in 0..<(try reader.readUInt8()) {
      let handle = try ConnectionHandle(parsing: &reader)
      items.append(Item(handle: handle, count: try reader.readUInt16()))
    }
  }

  /// Writes the first 63 items, as many as an event can hold.
  public func write(into writer: inout ByteWriter) {
    let items = items.prefix(63)
    writer.write(UInt8(truncatingIfNeeded: items.count))
    for item in items {
      item.handle.write(into: &writer)
      writer.write(item.count)
    }
  }
}
