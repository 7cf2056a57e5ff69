import HaloBluetoothCore

// Commands that find BR/EDR devices, and make and keep links to them. The stack does not send them; they are decoded
// for captures of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// Searches for BR/EDR devices.
struct Inquiry: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x0401, "Inquiry", "7.1.1", octet: 0, bit: 0, endsWith: [.event(.inquiryComplete)])

  var lap = UInt24()
  var length: UInt8 = 0
  var limit: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("LAP", &lap, .names([0x9E8B33: "general inquiry", 0x9E8B00: "limited inquiry"]))
    try fields.value("inquiry length", &length, .unit("x 1.28 s"))
    try fields.value("responses", &limit, .names([0: "no limit"]))
  }
}

/// Ends an inquiry.
struct InquiryCancel: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0402, "Inquiry Cancel", "7.1.2", octet: 0, bit: 1)
}

/// Cancels a connection to a BR/EDR device.
struct CreateConnectionCancel: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x0408, "Create Connection Cancel", "7.1.7", octet: 0, bit: 7)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// Accepts a BR/EDR device.
struct AcceptConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x0409, "Accept Connection Request", "7.1.8", octet: 1, bit: 0, endsWith: [.event(.connectionComplete)])

  var peerAddress = BluetoothAddress.zero
  var role = LERole.central

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("role", &role)
  }
}

/// Rejects a BR/EDR device.
struct RejectConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x040A, "Reject Connection Request", "7.1.9", octet: 1, bit: 1, endsWith: [.event(.connectionComplete)])

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("reason", &reason)
  }
}

/// Sets the packet types of a link.
struct ChangeConnectionPacketType: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x040F, "Change Connection Packet Type", "7.1.14", octet: 1, bit: 6,
    endsWith: [.event(.connectionPacketTypeChanged)])

  var handle = ConnectionHandle()
  var types: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("packet types", &types, .bits(ClassicLinkBits.packetTypes))
  }
}

/// Cancels the request of a name.
struct RemoteNameRequestCancel: HCICompletingCommand, HCIPeerFields {
  static let info = HCICommandInfo(0x041A, "Remote Name Request Cancel", "7.1.20", octet: 2, bit: 4)

  var peerAddress = BluetoothAddress.zero

  typealias Response = PeerOnly
}

/// Reads a page of features of the peer.
struct ReadRemoteExtendedFeatures: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x041C, "Read Remote Extended Features", "7.1.22", octet: 2, bit: 6,
    endsWith: [.event(.readRemoteExtendedFeaturesComplete)])

  var handle = ConnectionHandle()
  var page: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("page", &page)
  }
}

/// Reads the clock offset of the peer.
struct ReadClockOffset: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x041F, "Read Clock Offset", "7.1.24", octet: 3, bit: 0, endsWith: [.event(.readClockOffsetComplete)])

  var handle = ConnectionHandle()
}

/// Discards the data of a link.
struct FlushCommand: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C08, "Flush", "7.3.4", octet: 6, bit: 1)

  var handle = ConnectionHandle()

  typealias Response = LinkOnly
}

/// Sets when old data is discarded.
struct WriteAutomaticFlushTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C28, "Write Automatic Flush Timeout", "7.3.30", octet: 9, bit: 5)

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  typealias Response = LinkOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("flush timeout", &timeout, .namesOrUnit([0: "never"], "slots"))
  }
}

/// How long a link may be silent.
struct WriteLinkSupervisionTimeout: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x0C37, "Write Link Supervision Timeout", "7.3.42", octet: 11, bit: 1)

  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  typealias Response = LinkOnly

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("link supervision timeout", &timeout, .namesOrUnit([0: "none"], "slots"))
  }
}

/// Reads the quality of a link.
struct ReadLinkQuality: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x1403, "Read Link Quality", "7.5.3", octet: 15, bit: 4)

  var handle = ConnectionHandle()

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var quality: UInt8 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("link quality", &quality)
    }
  }
}

/// Reads a clock.
struct ReadClock: HCICompletingCommand, HCILinkFields {
  static let info = HCICommandInfo(0x1407, "Read Clock", "7.5.6", octet: 15, bit: 7)

  var handle = ConnectionHandle()
  var which: UInt8 = 0

  struct Response: HCILinkFields {
    var handle = ConnectionHandle()
    var clock: UInt32 = 0
    var accuracy: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("clock", &clock)
      try fields.value("accuracy", &accuracy, .namesOrUnit([0xFFFF: "not known"], "x 0.3125 ms"))
    }
  }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("clock", &which, .names([0: "local", 1: "piconet"]))
  }
}
