import HaloBluetoothCore

// Commands for links that carry voice. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// What a host asks of a link for voice (7.1.26).
struct SynchronousParameters: PacketFields {
  var transmit: UInt32 = 0
  var receive: UInt32 = 0
  var latency: UInt16 = 0
  var voice = VoiceSetting()
  var effort: UInt8 = 0
  var types: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("transmit bandwidth", &transmit, .namesOrUnit([0xFFFF_FFFF: "any"], "bytes/s"))
    try fields.value("receive bandwidth", &receive, .namesOrUnit([0xFFFF_FFFF: "any"], "bytes/s"))
    try fields.value("maximum latency", &latency, .namesOrUnit([0xFFFF: "any"], "ms"))
    try fields.value("voice setting", &voice)
    try fields.value("retransmission effort", &effort, .names(VoiceSetting.efforts))
    try fields.value("packet types", &types, .bits(ClassicLinkBits.synchronousPacketTypes))
  }
}

/// Adds a link for voice.
struct SetupSynchronousConnection: HCIStatusCommand, HCILinkFields {
  static let info = HCICommandInfo(
    0x0428, "Setup Synchronous Connection", "7.1.26", octet: 16, bit: 3,
    endsWith: [.event(.synchronousConnectionComplete), .event(.synchronousConnectionChanged)])

  var handle = ConnectionHandle()
  var parameters = SynchronousParameters()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// Accepts a link for voice.
struct AcceptSynchronousConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x0429, "Accept Synchronous Connection Request", "7.1.27", octet: 16, bit: 4,
    endsWith: [.event(.synchronousConnectionComplete)])

  var peerAddress = BluetoothAddress.zero
  var parameters = SynchronousParameters()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try parameters.visit(&fields)
  }
}

/// Rejects a link for voice.
struct RejectSynchronousConnectionRequest: HCIStatusCommand {
  static let info = HCICommandInfo(
    0x042A, "Reject Synchronous Connection Request", "7.1.28", octet: 16, bit: 5,
    endsWith: [.event(.synchronousConnectionComplete)])

  var peerAddress = BluetoothAddress.zero
  var reason = HCIErrorCode.success

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("reason", &reason)
  }
}

/// Reads the coding of voice.
struct ReadVoiceSetting: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C25, "Read Voice Setting", "7.3.27", octet: 9, bit: 2)

  struct Response: PacketFields {
    var voice = VoiceSetting()

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("voice setting", &voice)
    }
  }
}

/// Sets the coding of voice.
struct WriteVoiceSetting: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C26, "Write Voice Setting", "7.3.28", octet: 9, bit: 3)

  var voice = VoiceSetting()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("voice setting", &voice)
  }
}

/// Whether damaged voice data is reported.
struct WriteDefaultErroneousDataReporting: HCICompletingCommand, HCISwitch {
  static let info = HCICommandInfo(
    0x0C5B, "Write Default Erroneous Data Reporting", "7.3.65", octet: 18, bit: 3)

  var isEnabled = false
}

/// How voice is coded on HCI and on the air (Core Specification Vol 4, Part E, 6.12).
struct VoiceSetting: HCICode {
  var rawValue: UInt16

  static let efforts: [UInt64: String] = [
    0: "none", 1: "optimized for power", 2: "optimized for quality", 0xFF: "any",
  ]

  private static let codings = ["linear", "u-law", "A-law", "reserved coding"]
  private static let formats = ["1's complement", "2's complement", "sign and magnitude", "unsigned"]
  private static let airCodings = ["CVSD", "u-law", "A-law", "transparent data"]

  /// `0x0060: linear, 2's complement, 16 bits; on the air CVSD`.
  var description: String {
    let word = Int(rawValue)
    var words = [Self.codings[word >> 8 & 3]]
    // The format and the size are those of linear samples.
    if word >> 8 & 3 == 0 { words += [Self.formats[word >> 6 & 3], word & 0x20 == 0 ? "8 bits" : "16 bits"] }
    return
      "\(Hex.string(rawValue)): \(words.joined(separator: ", ")); on the air \(Self.airCodings[word & 3])"
  }
}
