import BluetoothCore

/// Changes the parameters of a link. What is in force then is told by LE Connection Update Complete
/// (Core Specification Vol 4, Part E, 7.8.18).
public struct LEConnectionUpdate: HCIStatusCommand, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2013)

  public var handle: ConnectionHandle
  public var parameters: ConnectionParameters

  public init(handle: ConnectionHandle, parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    parameters = try ConnectionParameters(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    parameters.write(into: &writer)
  }
}

/// Asks what the peer's link layer can do; the answer is LE Read Remote Features Complete (7.8.21).
public struct LEReadRemoteFeatures: HCIStatusCommand, HCIHandleCodable, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2016)

  public var handle: ConnectionHandle

  public init(handle: ConnectionHandle) {
    self.handle = handle
  }
}

/// Accepts the parameters that the peer wishes for, or others near them (7.8.31).
public struct LERemoteConnectionParameterRequestReply: HCICompletingCommand, Hashable {
  public typealias Response = ConnectionHandle

  public static let opcode = HCIOpcode(rawValue: 0x2020)

  public var handle: ConnectionHandle
  public var parameters: ConnectionParameters

  public init(handle: ConnectionHandle, parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    parameters = try ConnectionParameters(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    parameters.write(into: &writer)
  }
}

/// Refuses the parameters that the peer wishes for (7.8.32).
public struct LERemoteConnectionParameterRequestNegativeReply: HCICompletingCommand, Hashable {
  public typealias Response = ConnectionHandle

  public static let opcode = HCIOpcode(rawValue: 0x2021)

  public var handle: ConnectionHandle
  public var reason: HCIErrorCode

  public init(handle: ConnectionHandle, reason: HCIErrorCode = .unacceptableConnectionParameters) {
    self.handle = handle
    self.reason = reason
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    reason = try HCIErrorCode(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    reason.write(into: &writer)
  }
}

/// Says how long the packets sent on a link may be. A change is told by LE Data Length Change (7.8.33).
public struct LESetDataLength: HCICompletingCommand, Hashable {
  public typealias Response = ConnectionHandle

  public static let opcode = HCIOpcode(rawValue: 0x2022)

  public var handle: ConnectionHandle
  /// 27 to 251 bytes.
  public var txOctets: UInt16
  /// 328 to 17040 microseconds.
  public var txTime: UInt16

  public init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
    self.handle = handle
    self.txOctets = txOctets
    self.txTime = txTime
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    txOctets = try reader.readUInt16()
    txTime = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    writer.write(txOctets)
    writer.write(txTime)
  }
}

/// Asks which physical layers a link uses (7.8.47).
public struct LEReadPHY: HCICompletingCommand, HCIHandleCodable, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2030)

  public var handle: ConnectionHandle

  public init(handle: ConnectionHandle) {
    self.handle = handle
  }

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    public var handle: ConnectionHandle
    public var tx: LEPHY
    public var rx: LEPHY

    public init(handle: ConnectionHandle, tx: LEPHY, rx: LEPHY) {
      self.handle = handle
      self.tx = tx
      self.rx = rx
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      handle = try ConnectionHandle(parsing: &reader)
      tx = try LEPHY(parsing: &reader)
      rx = try LEPHY(parsing: &reader)
    }

    public func write(into writer: inout ByteWriter) {
      handle.write(into: &writer)
      tx.write(into: &writer)
      rx.write(into: &writer)
    }
  }
}

/// Says which physical layers a link may use. What is used then is told by LE PHY Update Complete (7.8.49).
public struct LESetPHY: HCIStatusCommand, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2032)

  public var handle: ConnectionHandle
  /// What to send on; nil for no preference.
  public var tx: LEPHYs?
  /// What to receive on; nil for no preference.
  public var rx: LEPHYs?
  /// How to send on LE Coded: no preference (0), S=2 (1) or S=8 (2).
  public var codedOptions: UInt16

  public init(handle: ConnectionHandle, tx: LEPHYs?, rx: LEPHYs?, codedOptions: UInt16 = 0) {
    self.handle = handle
    self.tx = tx
    self.rx = rx
    self.codedOptions = codedOptions
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    let noPreference = try reader.readUInt8()
    let tx = try LEPHYs(parsing: &reader)
    let rx = try LEPHYs(parsing: &reader)
    self.tx = noPreference & 1 == 0 ? tx : nil
    self.rx = noPreference & 2 == 0 ? rx : nil
    codedOptions = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    writer.write(UInt8((tx == nil ? 1 : 0) | (rx == nil ? 2 : 0)))
    (tx ?? []).write(into: &writer)
    (rx ?? []).write(into: &writer)
    writer.write(codedOptions)
  }
}
