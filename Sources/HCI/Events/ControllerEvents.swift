import HaloBluetoothCore

/// A command has completed, or was rejected (Core Specification Vol 4, Part E, 7.7.14).
package struct CommandComplete: PacketFields {
  /// The number of commands that the host may send now.
  package var commandCredits: UInt8 = 1
  package var opcode = HCIOpcode.noOperation
  /// The status, followed by the response to the command. It is often truncated when the status is an error; with
  /// ``HCIOpcode/noOperation`` it is empty.
  package var returnParameters: [UInt8] = []

  package init() {}

  package init(commandCredits: UInt8 = 1, opcode: HCIOpcode, returnParameters: [UInt8]) {
    self.commandCredits = commandCredits
    self.opcode = opcode
    self.returnParameters = returnParameters
  }

  /// The response to a successful command.
  package init<Command: HCICompletingCommand>(
    _ command: Command.Type, response: Command.Response, commandCredits: UInt8 = 1
  ) {
    self.init(
      commandCredits: commandCredits, opcode: Command.opcode,
      returnParameters: [HCIErrorCode.success.rawValue] + response.encoded())
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
    try fields.rest("return parameters", &returnParameters)
  }

  /// The first return parameter; nil if none.
  package var status: HCIErrorCode? {
    returnParameters.first.map(HCIErrorCode.init)
  }

  /// The return parameters after the status, as the response to `command`. Bytes after the response are ignored: later
  /// versions of the specification may append fields.
  package func response<Command: HCICompletingCommand>(
    to command: Command.Type
  ) throws(DecodeError) -> Command.Response {
    try returnParameters.withReader { reader throws(DecodeError) in
      try reader.skip(1)
      return try Command.Response(parsing: &reader)
    }
  }
}

/// A command is pending, or was rejected; its result follows as another event (7.7.15).
package struct CommandStatus: PacketFields {
  package var status = HCIErrorCode.success
  /// The number of commands that the host may send now.
  package var commandCredits: UInt8 = 1
  package var opcode = HCIOpcode.noOperation

  package init() {}

  package init(status: HCIErrorCode, commandCredits: UInt8 = 1, opcode: HCIOpcode) {
    self.status = status
    self.commandCredits = commandCredits
    self.opcode = opcode
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
  }
}

/// The controller has failed, and requires a reset (7.7.16).
package struct HardwareError: PacketFields {
  /// Vendor-specific.
  package var code: UInt8 = 0

  package init() {}

  package init(code: UInt8) { self.code = code }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("code", &code, .hex)
  }
}

/// Packets that the controller has sent, or dropped with their link, so that their buffers are free again (7.7.19).
package struct NumberOfCompletedPackets: PacketFields {
  /// The packets completed on one link.
  package struct Item: HCILinkFields, Hashable {
    /// In bytes.
    static let length = 4

    package var handle = ConnectionHandle()
    /// The number of packets since the last event.
    package var count: UInt16 = 0

    package init() {}

    package init(handle: ConnectionHandle, count: UInt16) {
      self.handle = handle
      self.count = count
    }

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("packets completed", &count)
    }
  }

  /// One for each link.
  package var items: [Item] = []

  package init() {}

  package init(_ items: [Item]) { self.items = items }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    // The maximum number in an event.
    try fields.list("links", &items, limit: 63)
  }
}

/// A ``NumberOfCompletedPackets`` in memory, decoded without allocating: there is one for each packet that is sent.
package struct CompletedPackets: ~Escapable {
  private let items: RawSpan

  /// Reads an event without its H4 type byte.
  /// - Throws: `DecodeError` as ``HCIEvent/init(parsing:)``
  @_lifetime(copy event)
  package init(_ event: RawSpan) throws(DecodeError) {
    var reader = ByteReader(event)
    _ = try HCIEventCode(parsing: &reader)
    var parameters = ByteReader(try reader.readSpan(Int(try reader.readUInt8())))
    try reader.expectEnd()
    // All are there, or the event counts as malformed.
    items = try parameters.readSpan(Int(try parameters.readUInt8()) * NumberOfCompletedPackets.Item.length)
  }

  package func forEach(_ body: (NumberOfCompletedPackets.Item) -> Void) {
    var reader = ByteReader(items)
    while !reader.isAtEnd, let item = try? NumberOfCompletedPackets.Item(parsing: &reader) { body(item) }
  }
}
