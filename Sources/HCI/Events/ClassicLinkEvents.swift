import HaloBluetoothCore

// Further events of BR/EDR links. The stack does not use them; they are decoded for captures of phones (Core
// Specification Vol 4, Part E, 7.7).

/// The power mode of a link, in slots of 0.625 ms (7.7.20).
struct ModeChange: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var mode: UInt8 = 0
  var interval: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("mode", &mode, .names([0: "active", 1: "hold", 2: "sniff", 3: "park"]))
    let isActive = mode == 0
    try fields.value("interval", &interval, isActive ? .words("not used") : .unit("slots"))
  }
}

/// Stored link keys (7.7.21).
struct ReturnLinkKeys: PacketFields {
  var count: UInt8 = 0
  var keys: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("keys", &count)
    try fields.rest("addresses and keys", &keys, .key)
  }
}

/// A link key was made (7.7.24).
struct LinkKeyNotification: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var key: [UInt8] = []
  var type: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.bytes("link key", &key, count: 16, .key)
    try fields.value("key type", &type, .names(SimplePairing.keyTypes))
  }
}

/// A command in local loopback mode (7.7.25).
struct LoopbackCommand: PacketFields {
  var packet: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.rest("command packet", &packet)
  }
}

/// The host has sent more packets than the controller can hold (7.7.26).
struct DataBufferOverflow: PacketFields {
  var type = LinkType.acl

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("link type", &type)
  }
}

/// The clock offset of the peer (7.7.28).
struct ReadClockOffsetComplete: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var offset: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("clock offset", &offset, .hex)
  }
}

/// The packet types of a link (7.7.29).
struct ConnectionPacketTypeChanged: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var types: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("packet types", &types, .bits(ClassicLinkBits.packetTypes))
  }
}

/// How often a device scans for pages (7.7.31).
struct PageScanRepetitionModeChange: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var mode: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("page scan repetition mode", &mode, .names(PageParameters.repetitionModes))
  }
}

/// The flow specification of a link (7.7.32).
struct FlowSpecificationComplete: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var flags: UInt8 = 0
  var direction: UInt8 = 0
  var service: UInt8 = 0
  var rate: UInt32 = 0
  var bucket: UInt32 = 0
  var peak: UInt32 = 0
  var latency: UInt32 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("flags", &flags)
    try fields.value("direction", &direction, .names([0: "outgoing", 1: "incoming"]))
    try fields.value("service type", &service, .names(QualityOfService.types))
    try fields.value("token rate", &rate)
    try fields.value("token bucket size", &bucket)
    try fields.value("peak bandwidth", &peak)
    try fields.value("access latency", &latency, .unit("us"))
  }
}

/// The quality of service of a link (7.7.13).
struct QoSSetupComplete: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var flags: UInt8 = 0
  var service: UInt8 = 0
  var rate: UInt32 = 0
  var peak: UInt32 = 0
  var latency: UInt32 = 0
  var variation: UInt32 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("flags", &flags)
    try fields.value("service type", &service, .names(QualityOfService.types))
    try fields.value("token rate", &rate)
    try fields.value("peak bandwidth", &peak)
    try fields.value("latency", &latency, .unit("us"))
    try fields.value("delay variation", &variation, .unit("us"))
  }
}

/// A page of features of the peer (7.7.34).
struct ReadRemoteExtendedFeaturesComplete: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var page: UInt8 = 0
  var last: UInt8 = 0
  var features: UInt64 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("page", &page)
    try fields.value("last page", &last)
    let number = page
    try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: number)))
  }
}

/// A link for voice (7.7.35).
struct SynchronousConnectionComplete: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var peerAddress = BluetoothAddress.zero
  var type = LinkType.acl
  var interval: UInt8 = 0
  var window: UInt8 = 0
  var receive: UInt16 = 0
  var transmit: UInt16 = 0
  var mode: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    let isThere = status == .success
    try fields.value("connection handle", &handle, isThere ? .plain : .words("not valid"))
    try fields.peerAddress(&peerAddress)
    try fields.value("link type", &type)
    try fields.value("transmission interval", &interval, isThere ? .unit("slots") : .words("not valid"))
    try fields.value("retransmission window", &window, isThere ? .unit("slots") : .words("not valid"))
    try fields.value("receive packet length", &receive, isThere ? .unit("bytes") : .words("not valid"))
    try fields.value("transmit packet length", &transmit, isThere ? .unit("bytes") : .words("not valid"))
    try fields.value(
      "air mode", &mode,
      isThere ? .names([0: "u-law", 1: "A-law", 2: "CVSD", 3: "transparent"]) : .words("not valid"))
  }
}

/// A link for voice has new parameters (7.7.36).
struct SynchronousConnectionChanged: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var interval: UInt8 = 0
  var window: UInt8 = 0
  var receive: UInt16 = 0
  var transmit: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("transmission interval", &interval, .unit("slots"))
    try fields.value("retransmission window", &window, .unit("slots"))
    try fields.value("receive packet length", &receive, .unit("bytes"))
    try fields.value("transmit packet length", &transmit, .unit("bytes"))
  }
}

/// Sniff subrating (7.7.37).
struct SniffSubrating: HCILinkFields {
  var status = HCIErrorCode.success
  var handle = ConnectionHandle()
  var transmit: UInt16 = 0
  var receive: UInt16 = 0
  var remote: UInt16 = 0
  var local: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("maximum transmit latency", &transmit, .unit("slots"))
    try fields.value("maximum receive latency", &receive, .unit("slots"))
    try fields.value("minimum remote timeout", &remote, .unit("slots"))
    try fields.value("minimum local timeout", &local, .unit("slots"))
  }
}

/// What the peer can show and enter (7.7.41).
struct IOCapabilityResponse: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var capability: UInt8 = 0
  var oob: UInt8 = 0
  var requirements: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("IO capability", &capability, .names(SimplePairing.capabilities))
    try fields.value("OOB data", &oob, .names([0: "not present", 1: "present"]))
    try fields.value("authentication requirements", &requirements, .names(SimplePairing.requirements))
  }
}

/// A number that the user has to confirm (7.7.42).
struct UserConfirmationRequest: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var value: UInt32 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("numeric value", &value)
  }
}

/// A passkey to be shown (7.7.48).
struct UserPasskeyNotification: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var passkey: UInt32 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("passkey", &passkey)
  }
}

/// The user of the peer enters a passkey (7.7.49).
struct KeypressNotification: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var type: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value(
      "keypress", &type, .names([0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"]))
  }
}

/// The features of the peer's host (7.7.50).
struct RemoteHostSupportedFeaturesNotification: PacketFields {
  var peerAddress = BluetoothAddress.zero
  var features: UInt64 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: 1)))
  }
}

/// A link has a new supervision timeout (7.7.46).
struct LinkSupervisionTimeoutChanged: HCILinkFields {
  var handle = ConnectionHandle()
  var timeout: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("link supervision timeout", &timeout, .namesOrUnit([0: "none"], "slots"))
  }
}

/// A device that was found with an inquiry (7.7.2, 7.7.33 and 7.7.38).
struct InquiryResponse: PacketFields {
  /// The three forms of the event.
  enum Form: Sendable {
    case plain, withRSSI, extended
  }

  var form = Form.plain
  var peerAddress = BluetoothAddress.zero
  var repetitionMode: UInt8 = 0
  var reserved: [UInt8] = []
  var classOfDevice = ClassOfDevice()
  var clockOffset: UInt16 = 0
  /// In dBm.
  var rssi: Int8 = 0
  /// AD structures.
  var data: [UInt8] = []

  init() {}

  init(_ form: Form) { self.form = form }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("page scan repetition mode", &repetitionMode, .names(PageParameters.repetitionModes))
    try fields.bytes("reserved", &reserved, count: form == .plain ? 2 : 1)
    try fields.value("class of device", &classOfDevice)
    try fields.value("clock offset", &clockOffset, .hex)
    if form != .plain { try fields.value("RSSI", &rssi, .power) }
    if form == .extended {
      try fields.bytes("data", &data, count: fields.bytesLeft ?? data.count, as: ADFields.self)
    }
  }
}

/// The responses of an inquiry in one event.
package struct InquiryResult: PacketFields {
  private var form = InquiryResponse.Form.plain
  private var responses: [InquiryResponse] = []

  package init() {}

  init(_ form: InquiryResponse.Form) { self.form = form }

  /// Address, RSSI and AD structures of each response.
  package var devices: [(address: BluetoothAddress, rssi: Int8?, data: [UInt8])] {
    responses.map { ($0.peerAddress, $0.form == .plain ? nil : $0.rssi, $0.data) }
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var count = UInt8(clamping: responses.count)
    try fields.value("responses", &count)
    for index in 0..<Int(count) {
      if index == responses.count { responses.append(InquiryResponse(form)) }
      try fields.group("response", number: index + 1, &responses[index])
    }
  }
}

/// The class of a BR/EDR device (Assigned Numbers, 2.8).
package struct ClassOfDevice: FieldValue, Hashable {
  package var bits = UInt24()

  package init() {}
  package init(parsing reader: inout ByteReader) throws(DecodeError) { bits = try UInt24(parsing: &reader) }
  package func write(into writer: inout ByteWriter) { bits.write(into: &writer) }
  package var fieldNumber: UInt64? { bits.fieldNumber }

  private static let majors: [UInt32: String] = [
    0: "miscellaneous", 1: "computer", 2: "phone", 3: "network access point", 4: "audio or video",
    5: "peripheral", 6: "imaging", 7: "wearable", 8: "toy", 9: "health", 31: "uncategorized",
  ]

  /// The major class, and the number.
  package var description: String {
    let number = Hex.string(UInt64(bits.value), bytes: 3)
    return Self.majors[bits.value >> 8 & 31].map { "\($0) (\(number))" } ?? number
  }
}

/// The codes of secure simple pairing (Core Specification Vol 4, Part E, 7.1.29 and 7.7.24).
enum SimplePairing {
  static let capabilities: [UInt64: String] = [
    0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
  ]
  static let requirements: [UInt64: String] = [
    0: "no bonding", 1: "no bonding, MITM", 2: "dedicated bonding", 3: "dedicated bonding, MITM",
    4: "general bonding", 5: "general bonding, MITM",
  ]
  static let keyTypes: [UInt64: String] = [
    0: "combination", 3: "debug combination", 4: "unauthenticated, P-192", 5: "authenticated, P-192",
    6: "changed combination", 7: "unauthenticated, P-256", 8: "authenticated, P-256",
  ]
}

/// The codes of quality of service (Core Specification Vol 4, Part E, 7.2.6).
enum QualityOfService {
  static let types: [UInt64: String] = [0: "no traffic", 1: "best effort", 2: "guaranteed"]
}
