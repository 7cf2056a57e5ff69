import BluetoothCore

// Commands for BR/EDR. The stack does not send them; they are decoded for captures of other hosts (Core Specification
// Vol 4, Part E, 7.1 to 7.5).

/// Searches for BR/EDR devices.
struct Inquiry: HCIStatusCommand {
  static let info = HCICommandInfo(0x0401, "Inquiry", "7.1.1")

  var lap = UInt24()
  var length: UInt8 = 0
  var limit: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("LAP", &lap)
    try fields.value("inquiry length", &length, .unit("x 1.28 s"))
    try fields.value("responses", &limit)
  }
}

/// Ends an inquiry.
struct InquiryCancel: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0402, "Inquiry Cancel", "7.1.2")

  init() {}
}

/// Cancels a connection to a BR/EDR device.
struct CreateConnectionCancel: HCICompletingCommand {
  static let info = HCICommandInfo(0x0408, "Create Connection Cancel", "7.1.7")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// Accepts a BR/EDR device.
struct AcceptConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(0x0409, "Accept Connection Request", "7.1.8")

  var peerAddress = BluetoothAddress.zero
  var role: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("role", &role, .names([0: "central", 1: "peripheral"]))
  }
}

/// Rejects a BR/EDR device.
struct RejectConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(0x040A, "Reject Connection Request", "7.1.9")

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("reason", &reason)
  }
}

/// The key of a bonded device.
struct LinkKeyRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040B, "Link Key Request Reply", "7.1.10")

  var peerAddress = BluetoothAddress.zero
  var key: [UInt8] = []

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.bytes("link key", &key, count: 16)
  }
}

/// There is no key for a device.
struct LinkKeyRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040C, "Link Key Request Negative Reply", "7.1.11")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// The PIN for legacy pairing.
struct PINCodeRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040D, "PIN Code Request Reply", "7.1.12")

  var peerAddress = BluetoothAddress.zero
  var length: UInt8 = 0
  var pin: [UInt8] = []

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("PIN length", &length, .unit("bytes"))
    try fields.bytes("PIN", &pin, count: 16)
  }
}

/// There is no PIN.
struct PINCodeRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x040E, "PIN Code Request Negative Reply", "7.1.13")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// Sets the packet types of a link.
struct ChangeConnectionPacketType: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x040F, "Change Connection Packet Type", "7.1.14")

  var handle = ConnectionHandle()
  var types: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("packet types", &types, .hex)
  }
}

/// Authenticates a device.
struct AuthenticationRequested: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0411, "Authentication Requested", "7.1.15")

  var handle = ConnectionHandle()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Switches encryption of a link.
struct SetConnectionEncryption: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0413, "Set Connection Encryption", "7.1.16")

  var handle = ConnectionHandle()
  var enabled = false

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("enabled", &enabled)
  }
}

/// Makes a new link key.
struct ChangeConnectionLinkKey: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0415, "Change Connection Link Key", "7.1.17")

  var handle = ConnectionHandle()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Cancels the request of a name.
struct RemoteNameRequestCancel: HCICompletingCommand {
  static let info = HCICommandInfo(0x041A, "Remote Name Request Cancel", "7.1.20")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// Reads a page of features of the peer.
struct ReadRemoteExtendedFeatures: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x041C, "Read Remote Extended Features", "7.1.22")

  var handle = ConnectionHandle()
  var page: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("page", &page)
  }
}

/// Reads the clock offset of the peer.
struct ReadClockOffset: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x041F, "Read Clock Offset", "7.1.24")

  var handle = ConnectionHandle()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Adds a link for voice.
struct SetupSynchronousConnection: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0428, "Setup Synchronous Connection", "7.1.26")

  var handle = ConnectionHandle()
  var transmit: UInt32 = 0
  var receive: UInt32 = 0
  var latency: UInt16 = 0
  var voice: UInt16 = 0
  var effort: UInt8 = 0
  var types: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("transmit bandwidth", &transmit, .unit("bytes/s"))
    try fields.value("receive bandwidth", &receive, .unit("bytes/s"))
    try fields.value("maximum latency", &latency, .unit("ms"))
    try fields.value("voice setting", &voice, .hex)
    try fields.value("retransmission effort", &effort)
    try fields.value("packet types", &types, .hex)
  }
}

/// Accepts a link for voice.
struct AcceptSynchronousConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(0x0429, "Accept Synchronous Connection Request", "7.1.27")

  var peerAddress = BluetoothAddress.zero
  var transmit: UInt32 = 0
  var receive: UInt32 = 0
  var latency: UInt16 = 0
  var voice: UInt16 = 0
  var effort: UInt8 = 0
  var types: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("transmit bandwidth", &transmit, .unit("bytes/s"))
    try fields.value("receive bandwidth", &receive, .unit("bytes/s"))
    try fields.value("maximum latency", &latency, .unit("ms"))
    try fields.value("voice setting", &voice, .hex)
    try fields.value("retransmission effort", &effort)
    try fields.value("packet types", &types, .hex)
  }
}

/// Rejects a link for voice.
struct RejectSynchronousConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(0x042A, "Reject Synchronous Connection Request", "7.1.28")

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("reason", &reason)
  }
}

/// What this device can show and enter.
struct IOCapabilityRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042B, "IO Capability Request Reply", "7.1.29")

  var peerAddress = BluetoothAddress.zero
  var capability: UInt8 = 0
  var oob: UInt8 = 0
  var requirements: UInt8 = 0

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("IO capability", &capability, .names(SimplePairing.capabilities))
    try fields.value("OOB data", &oob, .names([0: "not present", 1: "present"]))
    try fields.value("authentication requirements", &requirements, .names(SimplePairing.requirements))
  }
}

/// The user confirms a number.
struct UserConfirmationRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042C, "User Confirmation Request Reply", "7.1.30")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// The user does not confirm a number.
struct UserConfirmationRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042D, "User Confirmation Request Negative Reply", "7.1.31")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// The passkey that the user has entered.
struct UserPasskeyRequestReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042E, "User Passkey Request Reply", "7.1.32")

  var peerAddress = BluetoothAddress.zero
  var passkey: UInt32 = 0

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("passkey", &passkey)
  }
}

/// There is no passkey.
struct UserPasskeyRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x042F, "User Passkey Request Negative Reply", "7.1.33")

  var peerAddress = BluetoothAddress.zero

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
  }
}

/// Rejects pairing.
struct IOCapabilityRequestNegativeReply: HCICompletingCommand {
  static let info = HCICommandInfo(0x0434, "IO Capability Request Negative Reply", "7.1.36")

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  struct Response: PacketFields {
    var peerAddress = BluetoothAddress.zero

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("peer address", &peerAddress, kind: .public)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("reason", &reason)
  }
}

/// Puts a link on hold.
struct HoldMode: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0801, "Hold Mode", "7.2.1")

  var handle = ConnectionHandle()
  var maximum: UInt16 = 0
  var minimum: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("maximum interval", &maximum, .unit("slots"))
    try fields.value("minimum interval", &minimum, .unit("slots"))
  }
}

/// Puts a link into sniff mode.
struct SniffMode: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0803, "Sniff Mode", "7.2.2")

  var handle = ConnectionHandle()
  var maximum: UInt16 = 0
  var minimum: UInt16 = 0
  var attempt: UInt16 = 0
  var timeout: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("maximum interval", &maximum, .unit("slots"))
    try fields.value("minimum interval", &minimum, .unit("slots"))
    try fields.value("sniff attempt", &attempt)
    try fields.value("sniff timeout", &timeout)
  }
}

/// Ends sniff mode.
struct ExitSniffMode: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0804, "Exit Sniff Mode", "7.2.3")

  var handle = ConnectionHandle()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Reads the role on a link.
struct RoleDiscovery: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0809, "Role Discovery", "7.2.7")

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var role: UInt8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("role", &role, .names([0: "central", 1: "peripheral"]))
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Switches the role on a link.
struct SwitchRole: HCIStatusCommand {
  static let info = HCICommandInfo(0x080B, "Switch Role", "7.2.8")

  var peerAddress = BluetoothAddress.zero
  var role: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("role", &role, .names([0: "central", 1: "peripheral"]))
  }
}

/// Reads what a link may do.
struct ReadLinkPolicySettings: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x080C, "Read Link Policy Settings", "7.2.9")

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var policy: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("link policy", &policy, .hex)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Sets what a link may do.
struct WriteLinkPolicySettings: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x080D, "Write Link Policy Settings", "7.2.10")

  var handle = ConnectionHandle()
  var policy: UInt16 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("link policy", &policy, .hex)
  }
}

/// Reads what new links may do.
struct ReadDefaultLinkPolicySettings: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x080E, "Read Default Link Policy Settings", "7.2.11")

  struct Response: PacketFields {
    var policy: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("link policy", &policy, .hex)
    }
  }

  init() {}
}

/// Sets what new links may do.
struct WriteDefaultLinkPolicySettings: HCICompletingCommand {
  static let info = HCICommandInfo(0x080F, "Write Default Link Policy Settings", "7.2.12")

  var policy: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("link policy", &policy, .hex)
  }
}

/// Sets sniff subrating.
struct SniffSubratingCommand: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0811, "Sniff Subrating", "7.2.14")

  var handle = ConnectionHandle()
  var latency: UInt16 = 0
  var remote: UInt16 = 0
  var local: UInt16 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("maximum latency", &latency, .unit("slots"))
    try fields.value("minimum remote timeout", &remote, .unit("slots"))
    try fields.value("minimum local timeout", &local, .unit("slots"))
  }
}

/// Discards the data of a link.
struct FlushCommand: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C08, "Flush", "7.3.4")

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Reads keys from the controller.
struct ReadStoredLinkKey: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C0D, "Read Stored Link Key", "7.3.8")

  var peerAddress = BluetoothAddress.zero
  var all = false

  struct Response: PacketFields {
    var maximum: UInt16 = 0
    var read: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("maximum keys", &maximum)
      try fields.value("keys read", &read)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("all", &all)
  }
}

/// Deletes keys from the controller.
struct DeleteStoredLinkKey: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C12, "Delete Stored Link Key", "7.3.10")

  var peerAddress = BluetoothAddress.zero
  var all = false

  struct Response: PacketFields {
    var deleted: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("keys deleted", &deleted)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("all", &all)
  }
}

/// How long a request to connect may wait.
struct WriteConnectionAcceptTimeout: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C16, "Write Connection Accept Timeout", "7.3.14")

  var timeout: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection accept timeout", &timeout, .unit("slots"))
  }
}

/// Reads how long to page a device.
struct ReadPageTimeout: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C17, "Read Page Timeout", "7.3.15")

  struct Response: PacketFields {
    var timeout: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("page timeout", &timeout, .unit("slots"))
    }
  }

  init() {}
}

/// Sets how long to page a device.
struct WritePageTimeout: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C18, "Write Page Timeout", "7.3.16")

  var timeout: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page timeout", &timeout, .unit("slots"))
  }
}

/// Reads which scans are on.
struct ReadScanEnable: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C19, "Read Scan Enable", "7.3.17")

  struct Response: PacketFields {
    var scans: UInt8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value(
        "scan enable", &scans,
        .names([0: "off", 1: "inquiry scan", 2: "page scan", 3: "inquiry scan and page scan"]))
    }
  }

  init() {}
}

/// Reads the page scan.
struct ReadPageScanActivity: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C1B, "Read Page Scan Activity", "7.3.19")

  struct Response: PacketFields {
    var interval: UInt16 = 0
    var window: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("page scan interval", &interval, .unit("slots"))
      try fields.value("page scan window", &window, .unit("slots"))
    }
  }

  init() {}
}

/// Sets the page scan.
struct WritePageScanActivity: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C1C, "Write Page Scan Activity", "7.3.20")

  var interval: UInt16 = 0
  var window: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page scan interval", &interval, .unit("slots"))
    try fields.value("page scan window", &window, .unit("slots"))
  }
}

/// Sets the inquiry scan.
struct WriteInquiryScanActivity: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C1E, "Write Inquiry Scan Activity", "7.3.22")

  var interval: UInt16 = 0
  var window: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry scan interval", &interval, .unit("slots"))
    try fields.value("inquiry scan window", &window, .unit("slots"))
  }
}

/// Whether each link is authenticated.
struct WriteAuthenticationEnable: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C20, "Write Authentication Enable", "7.3.24")

  var enabled = false

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &enabled)
  }
}

/// Reads the coding of voice.
struct ReadVoiceSetting: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C25, "Read Voice Setting", "7.3.27")

  struct Response: PacketFields {
    var voice: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("voice setting", &voice, .hex)
    }
  }

  init() {}
}

/// Sets the coding of voice.
struct WriteVoiceSetting: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C26, "Write Voice Setting", "7.3.28")

  var voice: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("voice setting", &voice, .hex)
  }
}

/// Sets when old data is discarded.
struct WriteAutomaticFlushTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C28, "Write Automatic Flush Timeout", "7.3.30")

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("flush timeout", &timeout, .unit("slots"))
  }
}

/// How long a link may be silent.
struct WriteLinkSupervisionTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C37, "Write Link Supervision Timeout", "7.3.42")

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("link supervision timeout", &timeout, .unit("slots"))
  }
}

/// Reads how many inquiry codes are listened to.
struct ReadNumberOfSupportedIAC: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C38, "Read Number of Supported IAC", "7.3.43")

  struct Response: PacketFields {
    var count: UInt8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("supported IACs", &count)
    }
  }

  init() {}
}

/// Sets the inquiry scan.
struct WriteInquiryScanType: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C43, "Write Inquiry Scan Type", "7.3.48")

  var type: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry scan type", &type, .names([0: "standard", 1: "interlaced"]))
  }
}

/// Sets the form of inquiry results.
struct WriteInquiryMode: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C45, "Write Inquiry Mode", "7.3.50")

  var mode: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry mode", &mode, .names([0: "standard", 1: "with RSSI", 2: "extended"]))
  }
}

/// Sets the page scan.
struct WritePageScanType: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C47, "Write Page Scan Type", "7.3.52")

  var type: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page scan type", &type, .names([0: "standard", 1: "interlaced"]))
  }
}

/// Sets the data in answers to inquiries.
struct WriteExtendedInquiryResponse: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C52, "Write Extended Inquiry Response", "7.3.56")

  var fec = false
  var data: [UInt8] = []

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("FEC required", &fec)
    try fields.bytes("data", &data, count: fields.bytesLeft ?? 240, as: ADFields.self)
  }
}

/// Reads whether simple pairing is on.
struct ReadSimplePairingMode: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C55, "Read Simple Pairing Mode", "7.3.58")

  struct Response: PacketFields {
    var enabled = false

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("enabled", &enabled)
    }
  }

  init() {}
}

/// Reads the power of answers to inquiries.
struct ReadInquiryResponseTransmitPowerLevel: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C58, "Read Inquiry Response Transmit Power Level", "7.3.61")

  struct Response: PacketFields {
    var power: Int8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("transmit power", &power, .power)
    }
  }

  init() {}
}

/// Whether damaged voice data is reported.
struct WriteDefaultErroneousDataReporting: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C5B, "Write Default Erroneous Data Reporting", "7.3.65")

  var enabled = false

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &enabled)
  }
}

/// Reads whether the host supports LE.
struct ReadLEHostSupport: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C6C, "Read LE Host Support", "7.3.78")

  struct Response: PacketFields {
    var enabled = false
    var unused: UInt8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("LE supported", &enabled)
      try fields.value("unused", &unused)
    }
  }

  init() {}
}

/// Reads how long a link may be without authenticated data.
struct ReadAuthenticatedPayloadTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C7B, "Read Authenticated Payload Timeout", "7.3.93")

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var timeout: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("timeout", &timeout, .unit("x 10 ms"))
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Sets how long a link may be without authenticated data.
struct WriteAuthenticatedPayloadTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C7C, "Write Authenticated Payload Timeout", "7.3.94")

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("timeout", &timeout, .unit("x 10 ms"))
  }
}

/// Sets the shortest key.
struct SetMinEncryptionKeySize: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C84, "Set Min Encryption Key Size", "7.3.102")

  var size: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("minimum key size", &size, .unit("bytes"))
  }
}

/// Reads the buffers of the controller.
struct ReadDataBlockSize: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x100A, "Read Data Block Size", "7.4.7")

  struct Response: PacketFields {
    var packet: UInt16 = 0
    var length: UInt16 = 0
    var count: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("maximum ACL length", &packet, .unit("bytes"))
      try fields.value("block length", &length, .unit("bytes"))
      try fields.value("blocks", &count)
    }
  }

  init() {}
}

/// Reads the quality of a link.
struct ReadLinkQuality: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x1403, "Read Link Quality", "7.5.3")

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var quality: UInt8 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("link quality", &quality)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Reads a clock.
struct ReadClock: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x1407, "Read Clock", "7.5.6")

  var handle = ConnectionHandle()
  var which: UInt8 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var clock: UInt32 = 0
    var accuracy: UInt16 = 0

    init() {}

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("clock", &clock)
      try fields.value("accuracy", &accuracy)
    }
  }

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("clock", &which, .names([0: "local", 1: "piconet"]))
  }
}
