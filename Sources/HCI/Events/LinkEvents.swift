import HaloBluetoothCore

/// The status and the link: the leading parameters of many events.
public struct LinkStatus: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
  }
}

/// A link has ended (Core Specification Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var reason = HCIErrorCode.success

  public init() {}

  public init(status: HCIErrorCode = .success, handle: ConnectionHandle, reason: HCIErrorCode) {
    self.status = status
    self.handle = handle
    self.reason = reason
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("reason", &reason)
  }
}

/// Encryption of a link was turned on or off (7.7.8).
public struct EncryptionChange: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var encryption = LinkEncryption.off

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("encryption", &encryption)
  }
}

/// Version 2 of Encryption Change, with the length of the key.
public struct EncryptionChangeV2: HCILinkFields {
  public var change = EncryptionChange()
  /// In bytes.
  public var keySize: UInt8 = 0

  public var handle: ConnectionHandle {
    get { change.handle }
    set { change.handle = newValue }
  }

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try change.visit(&fields)
    try fields.value("key size", &keySize, .unit("bytes"))
  }
}

/// The encryption of a link (7.7.8).
public struct LinkEncryption: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let off = LinkEncryption(rawValue: 0)
  /// AES-CCM on an LE link.
  public static let on = LinkEncryption(rawValue: 1)

  public static let names: [UInt8: String] = [0: "off", 1: "on", 2: "on, AES-CCM"]
}

/// A link's key was renewed (7.7.39).
public typealias EncryptionKeyRefreshComplete = LinkStatus

/// The features of the peer's BR/EDR controller (7.7.11).
public struct ReadRemoteSupportedFeaturesComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var features: LMPFeatures = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: 0)))
  }
}

/// The version and manufacturer of the peer's controller (7.7.12).
public struct ReadRemoteVersionInformationComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var version = CoreVersion()
  public var manufacturer = CompanyIdentifier()
  /// Vendor-specific.
  public var subversion: UInt16 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("version", &version)
    try fields.value("manufacturer", &manufacturer)
    try fields.value("subversion", &subversion, .hex)
  }
}
