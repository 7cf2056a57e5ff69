import HaloBluetoothCore

// Commands for the modes and roles of BR/EDR links. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// Puts a link on hold.
struct HoldMode: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0801, "Hold Mode", "7.2.1", octet: 4, bit: 1, endsWith: [.event(.modeChange)])

  var handle = ConnectionHandle()
  var maximum: UInt16 = 0
  var minimum: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("maximum interval", &maximum, .unit("slots"))
    try fields.value("minimum interval", &minimum, .unit("slots"))
  }
}

/// Puts a link into sniff mode.
struct SniffMode: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0803, "Sniff Mode", "7.2.2", octet: 4, bit: 2, endsWith: [.event(.modeChange)])

  var handle = ConnectionHandle()
  var maximum: UInt16 = 0
  var minimum: UInt16 = 0
  var attempt: UInt16 = 0
  var timeout: UInt16 = 0

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
  static let info = HCICommandInfo(
    0x0804, "Exit Sniff Mode", "7.2.3", octet: 4, bit: 3, endsWith: [.event(.modeChange)])

  var handle = ConnectionHandle()
}

/// Reads the role on a link.
struct RoleDiscovery: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0809, "Role Discovery", "7.2.7", octet: 4, bit: 7)

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var role = LERole.central

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("role", &role)
    }
  }
}

/// Switches the role on a link.
struct SwitchRole: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x080B, "Switch Role", "7.2.8", octet: 5, bit: 0, endsWith: [.event(.roleChange)])

  var peerAddress = BluetoothAddress.zero
  var role = LERole.central

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("role", &role)
  }
}

/// Reads what a link may do.
struct ReadLinkPolicySettings: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x080C, "Read Link Policy Settings", "7.2.9", octet: 5, bit: 1)

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var policy: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("link policy", &policy, .bits(ClassicLinkBits.policy))
    }
  }
}

/// Sets what a link may do.
struct WriteLinkPolicySettings: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x080D, "Write Link Policy Settings", "7.2.10", octet: 5, bit: 2)

  var handle = ConnectionHandle()
  var policy: UInt16 = 0

  typealias Response = LinkOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("link policy", &policy, .bits(ClassicLinkBits.policy))
  }
}

/// Reads what new links may do.
struct ReadDefaultLinkPolicySettings: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x080E, "Read Default Link Policy Settings", "7.2.11", octet: 5, bit: 3)

  struct Response: PacketFields {
    var policy: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("link policy", &policy, .bits(ClassicLinkBits.policy))
    }
  }
}

/// Sets what new links may do.
struct WriteDefaultLinkPolicySettings: HCICompletingCommand {
  static let info = HCICommandInfo(0x080F, "Write Default Link Policy Settings", "7.2.12", octet: 5, bit: 4)

  var policy: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("link policy", &policy, .bits(ClassicLinkBits.policy))
  }
}

/// Sets sniff subrating.
struct SniffSubratingCommand: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0811, "Sniff Subrating", "7.2.14", octet: 17, bit: 4)

  var handle = ConnectionHandle()
  var latency: UInt16 = 0
  var remote: UInt16 = 0
  var local: UInt16 = 0

  typealias Response = LinkOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("maximum latency", &latency, .unit("slots"))
    try fields.value("minimum remote timeout", &remote, .unit("slots"))
    try fields.value("minimum local timeout", &local, .unit("slots"))
  }
}
