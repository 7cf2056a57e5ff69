import BluetoothCore

/// The header before a command's parameters (Core Specification Vol 4, Part E, 5.4.1).
public struct CommandHeader: PacketFields {
  public var opcode = HCIOpcode()
  /// Of the parameters, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("opcode", &opcode)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before an event's parameters (5.4.4).
public struct EventHeader: PacketFields {
  public var code = HCIEventCode()
  /// Of the parameters, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("event code", &code)
    try fields.value("parameter length", &length, .unit("bytes"))
  }
}

/// The header before synchronous data (5.4.3).
public struct SynchronousHeader: PacketFields {
  public var handle = ConnectionHandle()
  /// Of the data, in bytes.
  public var length: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("data length", &length, .unit("bytes"))
  }
}

/// The header before the return parameters of Command Complete (7.7.14).
public struct CommandCompleteHeader: PacketFields {
  /// The number of commands that the host may send now.
  public var commandCredits: UInt8 = 1
  public var opcode = HCIOpcode.noOperation

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("commands allowed", &commandCredits)
    try fields.value("command", &opcode)
  }
}
