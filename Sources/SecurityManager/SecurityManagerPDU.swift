import HCI
import HaloBluetoothCore

/// The codes of the Security Manager Protocol (Core Specification Vol 3, Part H, 3.3).
package struct SecurityManagerCode: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let pairingRequest = SecurityManagerCode(rawValue: 0x01)
  package static let pairingResponse = SecurityManagerCode(rawValue: 0x02)
  package static let pairingConfirm = SecurityManagerCode(rawValue: 0x03)
  package static let pairingRandom = SecurityManagerCode(rawValue: 0x04)
  package static let pairingFailed = SecurityManagerCode(rawValue: 0x05)
  package static let encryptionInformation = SecurityManagerCode(rawValue: 0x06)
  package static let centralIdentification = SecurityManagerCode(rawValue: 0x07)
  package static let identityInformation = SecurityManagerCode(rawValue: 0x08)
  package static let identityAddressInformation = SecurityManagerCode(rawValue: 0x09)
  package static let signingInformation = SecurityManagerCode(rawValue: 0x0A)
  package static let securityRequest = SecurityManagerCode(rawValue: 0x0B)
  package static let pairingPublicKey = SecurityManagerCode(rawValue: 0x0C)
  package static let pairingDHKeyCheck = SecurityManagerCode(rawValue: 0x0D)
  package static let pairingKeypressNotification = SecurityManagerCode(rawValue: 0x0E)

  package static let names: [UInt8: String] = [
    0x01: "Pairing Request", 0x02: "Pairing Response", 0x03: "Pairing Confirm", 0x04: "Pairing Random",
    0x05: "Pairing Failed", 0x06: "Encryption Information", 0x07: "Central Identification",
    0x08: "Identity Information", 0x09: "Identity Address Information", 0x0A: "Signing Information",
    0x0B: "Security Request", 0x0C: "Pairing Public Key", 0x0D: "Pairing DHKey Check",
    0x0E: "Pairing Keypress Notification",
  ]
}

/// A PDU of the Security Manager: its code, and fields after it. Numbers of several bytes are least significant byte first,
/// as on the wire.
package protocol SecurityManagerPDU: PacketFields {
  static var code: SecurityManagerCode { get }
}

extension SecurityManagerPDU {
  /// Reads a PDU, with its code.
  ///
  /// - Throws: if the code is another one, or the length
  package init(pdu: RawSpan) throws(DecodeError) {
    self.init()
    var reader = ByteReader(pdu)
    let code = SecurityManagerCode(rawValue: try reader.readUInt8())
    guard code == Self.code else { throw reader.invalid("\(code) in place of \(Self.code)") }
    try visit(&reader)
    guard reader.isAtEnd else { throw reader.invalid("\(reader.remaining) bytes too many") }
  }

  /// The PDU, with its code.
  package var pdu: [UInt8] {
    var writer = ByteWriter(capacity: 65)
    writer.write(Self.code.rawValue)
    write(into: &writer)
    return writer.bytes
  }
}

// MARK: Pairing (3.5)

/// What a side can do, and what it wants: the fields of Pairing Request and Pairing Response (3.5.1 and 3.5.2).
package struct PairingFeatures: PacketFields, Hashable {
  package var ioCapability = IOCapability.noInputNoOutput
  package var outOfBand = OutOfBandFlag.notPresent
  package var authentication = AuthenticationRequirements()
  /// In bytes.
  package var maximumKeySize: UInt8 = 16
  package var initiatorKeys = KeyDistribution()
  package var responderKeys = KeyDistribution()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("IO capability", &ioCapability)
    try fields.value("OOB data", &outOfBand)
    try fields.value("authentication", &authentication)
    try fields.value("max key size", &maximumKeySize, .unit("bytes"))
    try fields.value("initiator keys", &initiatorKeys)
    try fields.value("responder keys", &responderKeys)
  }
}

package struct PairingRequest: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingRequest
  package var features = PairingFeatures()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try features.visit(&fields)
  }
}

package struct PairingResponse: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingResponse
  package var features = PairingFeatures()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try features.visit(&fields)
  }
}

/// (3.5.3)
package struct PairingConfirm: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingConfirm
  /// 16 bytes.
  package var value: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("confirm value", &value, count: 16, .hex)
  }
}

/// (3.5.4)
package struct PairingRandom: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingRandom
  /// 16 bytes.
  package var value: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("random value", &value, count: 16, .hex)
  }
}

/// The reason why pairing has failed (3.5.5).
package struct PairingFailed: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingFailed
  package var reason = PairingFailureReason()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("reason", &reason)
  }
}

/// The key of a side, on the curve P-256 (3.5.6).
package struct PairingPublicKey: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingPublicKey
  /// 32 bytes each, least significant first.
  package var x: [UInt8] = []
  package var y: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("public key X", &x, count: 32, .hex)
    try fields.bytes("public key Y", &y, count: 32, .hex)
  }
}

/// (3.5.7)
package struct PairingDHKeyCheck: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingDHKeyCheck
  /// 16 bytes.
  package var value: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("check", &value, count: 16, .hex)
  }
}

/// How far the user of the peer is with typing the passkey (3.5.8).
package struct PairingKeypressNotification: SecurityManagerPDU {
  package static let code = SecurityManagerCode.pairingKeypressNotification
  package var keypress: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "keypress", &keypress,
      .names([0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"]))
  }
}

/// The wish of a peripheral (3.6.7).
package struct SecurityRequest: SecurityManagerPDU {
  package static let code = SecurityManagerCode.securityRequest
  package var authentication = AuthenticationRequirements()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("authentication", &authentication)
  }
}

extension SecurityManagerCode {
  /// The PDU with its fields zero, and its section; nil for a code that is not known.
  package var prototype: (fields: any PacketFields, section: String)? {
    switch self {
    case .pairingRequest: (PairingRequest(), "3.5.1")
    case .pairingResponse: (PairingResponse(), "3.5.2")
    case .pairingConfirm: (PairingConfirm(), "3.5.3")
    case .pairingRandom: (PairingRandom(), "3.5.4")
    case .pairingFailed: (PairingFailed(), "3.5.5")
    case .encryptionInformation: (EncryptionInformation(), "3.6.2")
    case .centralIdentification: (CentralIdentification(), "3.6.3")
    case .identityInformation: (IdentityInformation(), "3.6.4")
    case .identityAddressInformation: (IdentityAddressInformation(), "3.6.5")
    case .signingInformation: (SigningInformation(), "3.6.6")
    case .securityRequest: (SecurityRequest(), "3.6.7")
    case .pairingPublicKey: (PairingPublicKey(), "3.5.6")
    case .pairingDHKeyCheck: (PairingDHKeyCheck(), "3.5.7")
    case .pairingKeypressNotification: (PairingKeypressNotification(), "3.5.8")
    default: nil
    }
  }
}
