import BluetoothCore

/// The parameters that are in force on a link now (Core Specification Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var interval: ConnectionInterval
  /// How many connection events the peripheral may sleep through.
  public var latency: UInt16
  public var supervisionTimeout: SupervisionTimeout

  public init(
    status: HCIErrorCode, handle: ConnectionHandle, interval: ConnectionInterval, latency: UInt16,
    supervisionTimeout: SupervisionTimeout
  ) {
    self.status = status
    self.handle = handle
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    interval = try ConnectionInterval(parsing: &reader)
    latency = try reader.readUInt16()
    supervisionTimeout = try SupervisionTimeout(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    interval.write(into: &writer)
    writer.write(latency)
    supervisionTimeout.write(into: &writer)
  }
}

/// What the peer's link layer can do (7.7.65.4).
public struct LEReadRemoteFeaturesComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var features: LEFeatures

  public init(status: HCIErrorCode, handle: ConnectionHandle, features: LEFeatures) {
    self.status = status
    self.handle = handle
    self.features = features
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    features = try LEFeatures(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    features.write(into: &writer)
  }
}

/// The peer wants to encrypt a link and needs its key (7.7.65.5).
public struct LELongTermKeyRequest: HCICodable, Hashable {
  public var handle: ConnectionHandle
  /// Rand, as the number whose least significant byte comes first.
  public var random: UInt64
  /// EDIV.
  public var encryptedDiversifier: UInt16

  public init(handle: ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16) {
    self.handle = handle
    self.random = random
    self.encryptedDiversifier = encryptedDiversifier
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    random = try reader.readUInt64()
    encryptedDiversifier = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    writer.write(random)
    writer.write(encryptedDiversifier)
  }
}

/// The peer wishes for other parameters, and waits for a reply (7.7.65.6).
public struct LERemoteConnectionParameterRequest: HCICodable, Hashable {
  public var handle: ConnectionHandle
  public var intervalMin: ConnectionInterval
  public var intervalMax: ConnectionInterval
  /// How many connection events the peripheral may sleep through.
  public var latency: UInt16
  public var supervisionTimeout: SupervisionTimeout

  public init(
    handle: ConnectionHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
    latency: UInt16, supervisionTimeout: SupervisionTimeout
  ) {
    self.handle = handle
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    intervalMin = try ConnectionInterval(parsing: &reader)
    intervalMax = try ConnectionInterval(parsing: &reader)
    latency = try reader.readUInt16()
    supervisionTimeout = try SupervisionTimeout(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    intervalMin.write(into: &writer)
    intervalMax.write(into: &writer)
    writer.write(latency)
    supervisionTimeout.write(into: &writer)
  }
}

/// How long packets on a link may be now (7.7.65.7).
public struct LEDataLengthChange: HCICodable, Hashable {
  public var handle: ConnectionHandle
  /// The most payload bytes in a packet that is sent: 27 to 251.
  public var maxTxOctets: UInt16
  /// The longest time that a sent packet may take, in microseconds: 328 to 17040.
  public var maxTxTime: UInt16
  /// The same for packets that are received.
  public var maxRxOctets: UInt16
  public var maxRxTime: UInt16

  public init(
    handle: ConnectionHandle, maxTxOctets: UInt16, maxTxTime: UInt16, maxRxOctets: UInt16, maxRxTime: UInt16
  ) {
    self.handle = handle
    self.maxTxOctets = maxTxOctets
    self.maxTxTime = maxTxTime
    self.maxRxOctets = maxRxOctets
    self.maxRxTime = maxRxTime
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    maxTxOctets = try reader.readUInt16()
    maxTxTime = try reader.readUInt16()
    maxRxOctets = try reader.readUInt16()
    maxRxTime = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    writer.write(maxTxOctets)
    writer.write(maxTxTime)
    writer.write(maxRxOctets)
    writer.write(maxRxTime)
  }
}

/// Which physical layers a link uses now (7.7.65.12).
public struct LEPHYUpdateComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var tx: LEPHY
  public var rx: LEPHY

  public init(status: HCIErrorCode, handle: ConnectionHandle, tx: LEPHY, rx: LEPHY) {
    self.status = status
    self.handle = handle
    self.tx = tx
    self.rx = rx
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    tx = try LEPHY(parsing: &reader)
    rx = try LEPHY(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    tx.write(into: &writer)
    rx.write(into: &writer)
  }
}

/// How a link hops over the channels (7.7.65.20).
public struct LEChannelSelectionAlgorithm: HCICodable, Hashable {
  public var handle: ConnectionHandle
  /// 0 is algorithm #1, 1 is algorithm #2.
  public var algorithm: UInt8

  public init(handle: ConnectionHandle, algorithm: UInt8) {
    self.handle = handle
    self.algorithm = algorithm
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    handle = try ConnectionHandle(parsing: &reader)
    algorithm = try reader.readUInt8()
  }

  public func write(into writer: inout ByteWriter) {
    handle.write(into: &writer)
    writer.write(algorithm)
  }
}
