import HaloBluetoothCore

/// The PDUs of the Security Manager Protocol (Core Specification Vol 3, Part H, 3).
package struct SecurityManagerCode: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let pairingRequest = SecurityManagerCode(rawValue: 0x01)
  package static let pairingFailed = SecurityManagerCode(rawValue: 0x05)
  package static let securityRequest = SecurityManagerCode(rawValue: 0x0B)
}

/// The reason why pairing has failed (3.5.5).
package struct PairingFailed: PacketFields {
  /// A key of `reasons`.
  package var reason: UInt8 = 0

  package init() {}

  /// The answer to every request for pairing.
  package static let pairingNotSupported = PairingFailed { $0.reason = 0x05 }

  /// The names of the reasons (3.5.5).
  private static let reasons: [UInt64: String] = [
    0x01: "passkey entry failed", 0x02: "OOB not available", 0x03: "authentication requirements",
    0x04: "confirm value failed", 0x05: "pairing not supported", 0x06: "encryption key size",
    0x07: "command not supported", 0x08: "unspecified reason", 0x09: "repeated attempts",
    0x0A: "invalid parameters", 0x0B: "DHKey check failed", 0x0C: "numeric comparison failed",
    0x0D: "BR/EDR pairing in progress", 0x0E: "cross-transport key derivation not allowed",
    0x0F: "key rejected",
  ]

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("reason", &reason, .names(Self.reasons))
  }
}

/// The side of a device that does not pair: a request is rejected, and the peer may continue without (Core Specification
/// Vol 3, Part H, 3.5).
package enum PairingRefusal {
  /// The answer to a PDU; nil if none is required.
  package static func answer(to pdu: RawSpan) -> [UInt8]? {
    switch pdu.byte(at: 0).map(SecurityManagerCode.init) {
    case .pairingRequest?, .securityRequest?:
      var writer = ByteWriter(capacity: 2)
      writer.write(SecurityManagerCode.pairingFailed.rawValue)
      PairingFailed.pairingNotSupported.write(into: &writer)
      return writer.bytes
    default: return nil
    }
  }
}
