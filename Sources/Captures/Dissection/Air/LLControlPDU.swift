import HCI
import HaloBluetoothCore

// The data of LL Control PDUs, behind the opcode (Core Specification Vol 6, Part B, 2.4.2), whose values are used, or whose
// fields depend on others. LLControlOpcode says which belongs to which opcode; all others are LLFields.

/// Other parameters from a connection event on.
struct LLConnectionUpdate: PacketFields {
  var windowSize: UInt8 = 0
  var windowOffset: UInt16 = 0
  var parameters = LinkParameters()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("window size", &windowSize, .unit("x 1.25 ms"))
    try fields.value("window offset", &windowOffset, .unit("x 1.25 ms"))
    try parameters.visit(&fields)
    try fields.value("instant", &instant)
  }
}

/// Other channels from a connection event on.
struct LLChannelMap: PacketFields {
  var channels = ChannelMap()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("channel map", &channels)
    try fields.value("instant", &instant)
  }
}

/// Why a connection ends, or a request is rejected.
struct LLError: PacketFields {
  var error = HCIErrorCode.success

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("error code", &error)
  }
}

/// Other PHYs from a connection event on.
struct LLPHYUpdate: PacketFields {
  var fromCentral = PHYSet()
  var fromPeripheral = PHYSet()
  var instant: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHY central to peripheral", &fromCentral)
    try fields.value("PHY peripheral to central", &fromPeripheral)
    try fields.value("instant", &instant)
  }
}

/// A page of the features that do not fit into 64 bits.
struct LLFeaturePage: PacketFields {
  var most: UInt8 = 0
  var page: UInt8 = 0
  var features: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max page", &most)
    try fields.value("page", &page)
    let number = page
    try fields.bytes("features", &features, count: 24, .bits(LEFeatures.bits(ofPage: number)))
  }
}

/// Where the periodic advertising of some device is found.
struct LLPeriodicSync: PacketFields {
  var id: UInt16 = 0
  var sync = SyncInfo()
  var event: UInt16 = 0
  var periodicEvent: UInt16 = 0
  var set = SetAndAccuracy()
  var phy = PHYSet()
  var advertiser = BluetoothAddress.zero
  var syncEvent: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("ID", &id, .hex)
    try fields.group("SyncInfo", number: nil, &sync)
    try fields.value("connection event", &event)
    try fields.value("last periodic event", &periodicEvent)
    try fields.value("SID, address type and SCA", &set)
    try fields.value("PHY", &phy)
    try fields.address("AdvA", &advertiser, kind: set.kind)
    try fields.value("sync connection event", &syncEvent)
  }

  /// SID (4 bits), address type (1 bit), clock accuracy (3 bits).
  struct SetAndAccuracy: HCICode {
    var rawValue: UInt8

    var kind: BluetoothAddress.Kind { rawValue & 0x10 == 0 ? .public : .random }
    var description: String {
      "SID \(rawValue & 0x0F), \(kind), SCA \(SleepClockAccuracy(rawValue: rawValue >> 5))"
    }
  }
}

/// The same, of periodic advertising with responses.
struct LLPeriodicSyncWithResponses: PacketFields {
  var sync = LLPeriodicSync()
  var accessAddress = AccessAddress(rawValue: 0)
  var subevents: UInt8 = 0
  var subeventInterval: UInt8 = 0
  var slotDelay: UInt8 = 0
  var slotSpacing: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try sync.visit(&fields)
    try fields.value("response access address", &accessAddress)
    try fields.value("subevents", &subevents)
    try fields.value("subevent interval", &subeventInterval, .unit("x 1.25 ms"))
    try fields.value("response slot delay", &slotDelay, .unit("x 1.25 ms"))
    try fields.value("response slot spacing", &slotSpacing, .unit("x 0.125 ms"))
  }
}

/// Two bits for each channel: 0 unknown, 1 good, 3 bad.
struct LLChannelStatus: PacketFields {
  var classification: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("channel classification", &classification, count: 10)
  }
}

/// An opcode as a field.
struct LLOpcodeField: HCICode {
  var rawValue: UInt8

  var description: String {
    let digits = Hex.string(rawValue)
    return LLControlOpcode(rawValue: rawValue).name.map { "\($0) (\(digits))" } ?? digits
  }
}
