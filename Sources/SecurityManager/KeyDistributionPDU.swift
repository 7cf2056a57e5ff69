import HaloBluetoothCore

// The keys that a side distributes, over the encrypted link only (Core Specification Vol 3, Part H, 3.6).

/// The Long Term Key of LE legacy pairing (3.6.2).
package struct EncryptionInformation: SecurityManagerPDU {
  package static let code = SecurityManagerCode.encryptionInformation
  /// 16 bytes.
  package var longTermKey: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("LTK", &longTermKey, count: 16, .key)
  }
}

/// What names that key (3.6.3).
package struct CentralIdentification: SecurityManagerPDU {
  package static let code = SecurityManagerCode.centralIdentification
  package var diversifier: UInt16 = 0
  package var random: UInt64 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("encrypted diversifier", &diversifier, .hex)
    try fields.value("random number", &random, .hex)
  }
}

/// The Identity Resolving Key (3.6.4).
package struct IdentityInformation: SecurityManagerPDU {
  package static let code = SecurityManagerCode.identityInformation
  /// 16 bytes.
  package var identityResolvingKey: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("IRK", &identityResolvingKey, count: 16, .key)
  }
}

/// The address that stays (3.6.5).
package struct IdentityAddressInformation: SecurityManagerPDU {
  package static let code = SecurityManagerCode.identityAddressInformation
  package var address = BluetoothAddress.zero

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var kind = address.kind.rawValue
    try fields.value("identity address type", &kind, .names([0: "public", 1: "random"]))
    try fields.address("identity address", &address, kind: BluetoothAddress.Kind(rawValue: kind))
  }
}

/// The Connection Signature Resolving Key (3.6.6).
package struct SigningInformation: SecurityManagerPDU {
  package static let code = SecurityManagerCode.signingInformation
  /// 16 bytes.
  package var signatureResolvingKey: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("CSRK", &signatureResolvingKey, count: 16, .key)
  }
}
