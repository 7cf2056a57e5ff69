import HCI
import HaloBluetoothCore

// The fields of pairing (Core Specification Vol 3, Part H, 3.5 and 3.6.1).

/// What the user of a device can see and type (2.3.2).
package struct IOCapability: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let displayOnly = IOCapability(rawValue: 0)
  package static let displayYesNo = IOCapability(rawValue: 1)
  package static let keyboardOnly = IOCapability(rawValue: 2)
  package static let noInputNoOutput = IOCapability(rawValue: 3)
  package static let keyboardDisplay = IOCapability(rawValue: 4)

  package static let names: [UInt8: String] = [
    0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
    4: "keyboard and display",
  ]
}

/// Whether a side has the out-of-band data of the other one (2.3.3).
package struct OutOfBandFlag: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let notPresent = OutOfBandFlag(rawValue: 0)
  package static let present = OutOfBandFlag(rawValue: 1)

  package static let names: [UInt8: String] = [0: "not present", 1: "present"]
}

/// What a side wants of the pairing (3.5.1): the field AuthReq. Reserved bits are kept, and have no meaning.
package struct AuthenticationRequirements: HCICode, OptionSet {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The value 1 of two bits; 2 and 3 are reserved.
  package static let bonding = AuthenticationRequirements(rawValue: 1 << 0)
  /// Protection against a man in the middle.
  package static let mitm = AuthenticationRequirements(rawValue: 1 << 2)
  package static let secureConnections = AuthenticationRequirements(rawValue: 1 << 3)
  package static let keypress = AuthenticationRequirements(rawValue: 1 << 4)
  package static let ct2 = AuthenticationRequirements(rawValue: 1 << 5)

  /// Whether the keys are to be kept.
  package var wantsBonding: Bool { rawValue & 3 == 1 }

  package var description: String {
    var words = [wantsBonding ? "bonding" : "no bonding"]
    let bits: [(AuthenticationRequirements, String)] = [
      (.mitm, "MITM"), (.secureConnections, "secure connections"), (.keypress, "keypress"), (.ct2, "CT2"),
    ]
    for (bit, word) in bits where contains(bit) { words.append(word) }
    return words.joined(separator: ", ")
  }
}

/// The keys that a side distributes (3.6.1).
package struct KeyDistribution: HCICode, OptionSet {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The LTK with EDIV and Rand; nothing in LE Secure Connections.
  package static let encryption = KeyDistribution(rawValue: 1 << 0)
  /// The IRK and the identity address.
  package static let identity = KeyDistribution(rawValue: 1 << 1)
  /// The CSRK.
  package static let signing = KeyDistribution(rawValue: 1 << 2)
  package static let linkKey = KeyDistribution(rawValue: 1 << 3)

  package var description: String {
    let bits: [(KeyDistribution, String)] = [
      (.encryption, "LTK"), (.identity, "IRK"), (.signing, "CSRK"), (.linkKey, "link key"),
    ]
    let words = bits.filter { contains($0.0) }.map(\.1)
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}

/// Why pairing has failed (3.5.5).
package struct PairingFailureReason: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let passkeyEntryFailed = PairingFailureReason(rawValue: 0x01)
  package static let oobNotAvailable = PairingFailureReason(rawValue: 0x02)
  package static let authenticationRequirements = PairingFailureReason(rawValue: 0x03)
  package static let confirmValueFailed = PairingFailureReason(rawValue: 0x04)
  package static let pairingNotSupported = PairingFailureReason(rawValue: 0x05)
  package static let encryptionKeySize = PairingFailureReason(rawValue: 0x06)
  package static let commandNotSupported = PairingFailureReason(rawValue: 0x07)
  package static let unspecifiedReason = PairingFailureReason(rawValue: 0x08)
  package static let repeatedAttempts = PairingFailureReason(rawValue: 0x09)
  package static let invalidParameters = PairingFailureReason(rawValue: 0x0A)
  package static let dhKeyCheckFailed = PairingFailureReason(rawValue: 0x0B)
  package static let numericComparisonFailed = PairingFailureReason(rawValue: 0x0C)
  package static let keyRejected = PairingFailureReason(rawValue: 0x0F)

  package static let names: [UInt8: String] = [
    0x01: "passkey entry failed", 0x02: "OOB not available", 0x03: "authentication requirements",
    0x04: "confirm value failed", 0x05: "pairing not supported", 0x06: "encryption key size",
    0x07: "command not supported", 0x08: "unspecified reason", 0x09: "repeated attempts",
    0x0A: "invalid parameters", 0x0B: "DHKey check failed", 0x0C: "numeric comparison failed",
    0x0D: "BR/EDR pairing in progress", 0x0E: "cross-transport key derivation not allowed",
    0x0F: "key rejected", 0x10: "busy",
  ]
}
