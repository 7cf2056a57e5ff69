import HaloBluetoothCore

/// The status and the link: the leading parameters of many events.
package struct LinkStatus: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
  }
}

/// A link has ended (Core Specification Vol 4, Part E, 7.7.5).
package struct DisconnectionComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var reason = HCIErrorCode.success

  package init() {}

  package init(status: HCIErrorCode = .success, handle: ConnectionHandle, reason: HCIErrorCode) {
    self.status = status
    self.handle = handle
    self.reason = reason
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("reason", &reason)
  }
}

/// Encryption of a link was turned on or off (7.7.8).
package struct EncryptionChange: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var encryption = LinkEncryption.off

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("encryption", &encryption)
  }
}

/// The encryption of a link (7.7.8).
package struct LinkEncryption: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let off = LinkEncryption(rawValue: 0)
  /// AES-CCM on an LE link.
  package static let on = LinkEncryption(rawValue: 1)

  package static let names: [UInt8: String] = [0: "off", 1: "on", 2: "on, AES-CCM"]
}

/// A link's key was renewed (7.7.39).
package typealias EncryptionKeyRefreshComplete = LinkStatus

/// The version and manufacturer of the peer's controller (7.7.12).
package struct ReadRemoteVersionInformationComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var version = CoreVersion()
  package var manufacturer = CompanyIdentifier()
  /// Vendor-specific.
  package var subversion: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("version", &version)
    try fields.value("manufacturer", &manufacturer)
    try fields.value("subversion", &subversion, .hex)
  }
}
