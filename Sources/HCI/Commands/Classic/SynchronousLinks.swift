import BluetoothCore

// Commands for links that carry voice. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

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
    try fields.peerAddress(&peerAddress)
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
    try fields.peerAddress(&peerAddress)
    try fields.value("reason", &reason)
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

/// Whether damaged voice data is reported.
struct WriteDefaultErroneousDataReporting: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C5B, "Write Default Erroneous Data Reporting", "7.3.65")

  var enabled = false

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &enabled)
  }
}
