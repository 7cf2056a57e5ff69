import BluetoothCore

/// A link has ended (Core Specification Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var reason: HCIErrorCode

  public init(status: HCIErrorCode, handle: ConnectionHandle, reason: HCIErrorCode) {
    self.status = status
    self.handle = handle
    self.reason = reason
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    reason = try HCIErrorCode(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    reason.write(into: &writer)
  }
}

/// Encryption of a link was turned on or off (7.7.8).
public struct EncryptionChange: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  /// 0 is off; 1 is AES-CCM on an LE link.
  public var encryption: UInt8

  public init(status: HCIErrorCode, handle: ConnectionHandle, encryption: UInt8) {
    self.status = status
    self.handle = handle
    self.encryption = encryption
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    encryption = try reader.readUInt8()
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    writer.write(encryption)
  }
}

/// A link's key was renewed (7.7.39).
public struct EncryptionKeyRefreshComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle

  public init(status: HCIErrorCode, handle: ConnectionHandle) {
    self.status = status
    self.handle = handle
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
  }
}

/// The version and maker of the peer's controller (7.7.12).
public struct ReadRemoteVersionInformationComplete: HCICodable, Hashable {
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var version: CoreVersion
  public var manufacturer: CompanyIdentifier
  /// The maker's own number.
  public var subversion: UInt16

  public init(
    status: HCIErrorCode, handle: ConnectionHandle, version: CoreVersion, manufacturer: CompanyIdentifier,
    subversion: UInt16
  ) {
    self.status = status
    self.handle = handle
    self.version = version
    self.manufacturer = manufacturer
    self.subversion = subversion
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    version = try CoreVersion(parsing: &reader)
    manufacturer = try CompanyIdentifier(parsing: &reader)
    subversion = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    version.write(into: &writer)
    manufacturer.write(into: &writer)
    writer.write(subversion)
  }
}
