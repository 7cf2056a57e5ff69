import BluetoothCore

/// Says how to advertise; only while not advertising (Core Specification Vol 4, Part E, 7.8.5).
public struct LESetAdvertisingParameters: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2006)

  public var intervalMin: AdvertisingInterval
  public var intervalMax: AdvertisingInterval
  public var type: AdvertisingType
  public var ownAddressType: OwnAddressType
  /// Whom directed advertising calls.
  public var peerAddress: BluetoothAddress
  public var channels: AdvertisingChannels
  /// Who may ask for a scan response (bit 0) or connect (bit 1): everybody (0), or the filter accept list (1).
  public var filterPolicy: UInt8

  public init(
    intervalMin: AdvertisingInterval, intervalMax: AdvertisingInterval,
    type: AdvertisingType = .connectableUndirected, ownAddressType: OwnAddressType = .public,
    peerAddress: BluetoothAddress = BluetoothAddress(0, .public), channels: AdvertisingChannels = .all,
    filterPolicy: UInt8 = 0
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.type = type
    self.ownAddressType = ownAddressType
    self.peerAddress = peerAddress
    self.channels = channels
    self.filterPolicy = filterPolicy
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    intervalMin = try AdvertisingInterval(parsing: &reader)
    intervalMax = try AdvertisingInterval(parsing: &reader)
    type = try AdvertisingType(parsing: &reader)
    ownAddressType = try OwnAddressType(parsing: &reader)
    peerAddress = try reader.readAddress()
    channels = try AdvertisingChannels(parsing: &reader)
    filterPolicy = try reader.readUInt8()
  }

  public func write(into writer: inout ByteWriter) {
    intervalMin.write(into: &writer)
    intervalMax.write(into: &writer)
    type.write(into: &writer)
    ownAddressType.write(into: &writer)
    writer.writeAddress(peerAddress)
    channels.write(into: &writer)
    writer.write(filterPolicy)
  }
}

/// Starts or stops to advertise (7.8.9).
public struct LESetAdvertisingEnable: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x200A)

  public var isEnabled: Bool

  public init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    isEnabled = try reader.readBool()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(isEnabled)
  }
}

/// Sets what is advertised (7.8.7).
public struct LESetAdvertisingData: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2008)

  public var data: LegacyAdvertisingData

  public init(data: LegacyAdvertisingData) {
    self.data = data
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    data = try LegacyAdvertisingData(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    data.write(into: &writer)
  }
}

/// Sets what scanners get that ask for more (7.8.8).
public struct LESetScanResponseData: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2009)

  public var data: LegacyAdvertisingData

  public init(data: LegacyAdvertisingData) {
    self.data = data
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    data = try LegacyAdvertisingData(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    data.write(into: &writer)
  }
}

/// What kind of advertisement to send (7.8.5).
public struct AdvertisingType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Everybody may connect and ask for a scan response.
  public static let connectableUndirected = AdvertisingType(rawValue: 0)
  public static let connectableDirectedHighDuty = AdvertisingType(rawValue: 1)
  /// Everybody may ask for a scan response.
  public static let scannableUndirected = AdvertisingType(rawValue: 2)
  public static let nonConnectableUndirected = AdvertisingType(rawValue: 3)
  public static let connectableDirectedLowDuty = AdvertisingType(rawValue: 4)
}

/// The channels that advertisements are sent on (7.8.5).
public struct AdvertisingChannels: OptionSet, HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let channel37 = AdvertisingChannels(rawValue: 1)
  public static let channel38 = AdvertisingChannels(rawValue: 2)
  public static let channel39 = AdvertisingChannels(rawValue: 4)
  public static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]
}

/// Up to 31 bytes of advertising data in a field of fixed size: a length, then 31 bytes (7.8.7).
public struct LegacyAdvertisingData: HCICodable, Hashable {
  public static let capacity = 31

  public let bytes: [UInt8]

  /// Takes the first 31 bytes.
  public init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.prefix(Self.capacity))
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    let length = Int(try reader.readUInt8())
    guard length <= Self.capacity else {
      throw reader.invalid("advertising data has up to \(Self.capacity) bytes, not \(length)")
    }
    bytes = try reader.readBytes(length)
    try reader.skip(Self.capacity - length)
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(UInt8(truncatingIfNeeded: bytes.count))
    let start = writer.count
    writer.write(bytes)
    writer.pad(to: start + Self.capacity)
  }
}
