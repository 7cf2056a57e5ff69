import HaloBluetoothCore

// Commands for Secure Simple Pairing on BR/EDR. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// What this device can show and enter.
struct IOCapabilityRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042B, "IO Capability Request Reply", "7.1.29", octet: 18, bit: 7)

  /// The fields are those of the event that reports the same of the peer.
  var answer = IOCapabilityResponse()

  typealias Response = PeerOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try answer.visit(&fields)
  }
}

/// Rejects pairing.
struct IOCapabilityRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(
    0x0434, "IO Capability Request Negative Reply", "7.1.36", octet: 20, bit: 3)

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  typealias Response = PeerOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("reason", &reason)
  }
}

/// The user confirms a number.
struct UserConfirmationRequestReply: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x042C, "User Confirmation Request Reply", "7.1.30", octet: 19, bit: 0)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// The user does not confirm a number.
struct UserConfirmationRequestNegativeReply: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(
    0x042D, "User Confirmation Request Negative Reply", "7.1.31", octet: 19, bit: 1)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// The passkey that the user has entered.
struct UserPasskeyRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042E, "User Passkey Request Reply", "7.1.32", octet: 19, bit: 2)

  var peerAddress = BluetoothAddress.zero
  var passkey: UInt32 = 0

  typealias Response = PeerOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("passkey", &passkey)
  }
}

/// There is no passkey.
struct UserPasskeyRequestNegativeReply: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x042F, "User Passkey Request Negative Reply", "7.1.33", octet: 19, bit: 3)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// Reads whether simple pairing is on.
struct ReadSimplePairingMode: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C55, "Read Simple Pairing Mode", "7.3.58", octet: 17, bit: 5)

  struct Response: HCISwitch {
    var isEnabled = false
  }
}
