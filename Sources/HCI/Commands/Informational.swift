import BluetoothCore

/// Asks which versions the controller implements, and who made it (Core Specification Vol 4, Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x1001)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    public var hciVersion: CoreVersion
    /// The maker's own number.
    public var hciSubversion: UInt16
    /// The version of the link manager or link layer.
    public var lmpVersion: CoreVersion
    public var manufacturer: CompanyIdentifier
    /// The maker's own number.
    public var lmpSubversion: UInt16

    public init(
      hciVersion: CoreVersion, hciSubversion: UInt16, lmpVersion: CoreVersion,
      manufacturer: CompanyIdentifier, lmpSubversion: UInt16
    ) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.manufacturer = manufacturer
      self.lmpSubversion = lmpSubversion
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      hciVersion = try CoreVersion(parsing: &reader)
      hciSubversion = try reader.readUInt16()
      lmpVersion = try CoreVersion(parsing: &reader)
      manufacturer = try CompanyIdentifier(parsing: &reader)
      lmpSubversion = try reader.readUInt16()
    }

    public func write(into writer: inout ByteWriter) {
      hciVersion.write(into: &writer)
      writer.write(hciSubversion)
      lmpVersion.write(into: &writer)
      manufacturer.write(into: &writer)
      writer.write(lmpSubversion)
    }
  }
}

/// Asks which commands the controller knows (7.4.2).
public struct ReadLocalSupportedCommands: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = SupportedCommands

  public static let opcode = HCIOpcode(rawValue: 0x1002)

  public init() {}
}

/// Asks for page 0 of the controller's features (7.4.3).
public struct ReadLocalSupportedFeatures: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = LMPFeatures

  public static let opcode = HCIOpcode(rawValue: 0x1003)

  public init() {}
}

/// Asks for the controller's buffers for data from the host; LE links share the ACL ones if LE Read Buffer
/// Size gives none of their own (7.4.5).
public struct ReadBufferSize: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x1005)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    /// The most bytes in an ACL packet behind its header.
    public var aclDataLength: UInt16
    /// The most bytes in a synchronous packet behind its header.
    public var synchronousDataLength: UInt8
    /// How many ACL packets the controller can hold.
    public var aclPackets: UInt16
    /// How many synchronous packets the controller can hold.
    public var synchronousPackets: UInt16

    public init(
      aclDataLength: UInt16, synchronousDataLength: UInt8, aclPackets: UInt16, synchronousPackets: UInt16
    ) {
      self.aclDataLength = aclDataLength
      self.synchronousDataLength = synchronousDataLength
      self.aclPackets = aclPackets
      self.synchronousPackets = synchronousPackets
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      aclDataLength = try reader.readUInt16()
      synchronousDataLength = try reader.readUInt8()
      aclPackets = try reader.readUInt16()
      synchronousPackets = try reader.readUInt16()
    }

    public func write(into writer: inout ByteWriter) {
      writer.write(aclDataLength)
      writer.write(synchronousDataLength)
      writer.write(aclPackets)
      writer.write(synchronousPackets)
    }
  }
}

/// Asks for the controller's public address; all zero if it has none (7.4.6).
public struct ReadBDADDR: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x1009)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    public var address: BluetoothAddress

    public init(address: BluetoothAddress) {
      self.address = address
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      address = try BluetoothAddress(parsing: &reader, kind: .public)
    }

    public func write(into writer: inout ByteWriter) {
      address.write(into: &writer)
    }
  }
}
