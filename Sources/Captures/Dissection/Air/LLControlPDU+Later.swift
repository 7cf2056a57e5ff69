import BluetoothCore
import HCI

// The data of the LL Control PDUs since version 5.1: periodic advertising, isochronous streams, power, subrating, channel
// classification (Core Specification Vol 6, Part B, 2.4.2.27 to 2.4.2.40).

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

  init() {}

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

    init(rawValue: UInt8) { self.rawValue = rawValue }

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

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try sync.visit(&fields)
    try fields.value("response access address", &accessAddress)
    try fields.value("subevents", &subevents)
    try fields.value("subevent interval", &subeventInterval, .unit("x 1.25 ms"))
    try fields.value("response slot delay", &slotDelay, .unit("x 1.25 ms"))
    try fields.value("response slot spacing", &slotSpacing, .unit("x 0.125 ms"))
  }
}

/// A Connected Isochronous Stream that the central wants.
struct LLStreamRequest: PacketFields {
  var group: UInt8 = 0
  var stream: UInt8 = 0
  var fromCentral = PHYSet()
  var fromPeripheral = PHYSet()
  var unitFromCentral = FramedUnit()
  var unitFromPeripheral: UInt16 = 0
  var intervalFromCentral = UInt24()
  var intervalFromPeripheral = UInt24()
  var lengthFromCentral: UInt16 = 0
  var lengthFromPeripheral: UInt16 = 0
  var subevents: UInt8 = 0
  var subinterval = UInt24()
  var bursts = BurstNumbers()
  var flushFromCentral: UInt8 = 0
  var flushFromPeripheral: UInt8 = 0
  var interval = ConnectionInterval()
  var least = UInt24()
  var most = UInt24()
  var event: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("CIG ID", &group)
    try fields.value("CIS ID", &stream)
    try fields.value("PHY central to peripheral", &fromCentral)
    try fields.value("PHY peripheral to central", &fromPeripheral)
    try fields.value("max SDU C to P", &unitFromCentral)
    try fields.value("max SDU P to C", &unitFromPeripheral, .unit("bytes"))
    try fields.value("SDU interval C to P", &intervalFromCentral, .unit("us"))
    try fields.value("SDU interval P to C", &intervalFromPeripheral, .unit("us"))
    try fields.value("max PDU C to P", &lengthFromCentral, .unit("bytes"))
    try fields.value("max PDU P to C", &lengthFromPeripheral, .unit("bytes"))
    try fields.value("NSE", &subevents)
    try fields.value("sub interval", &subinterval, .unit("us"))
    try fields.value("burst numbers", &bursts)
    try fields.value("FT C to P", &flushFromCentral)
    try fields.value("FT P to C", &flushFromPeripheral)
    try fields.value("ISO interval", &interval)
    try fields.value("CIS offset min", &least, .unit("us"))
    try fields.value("CIS offset max", &most, .unit("us"))
    try fields.value("connection event", &event)
  }

  /// The longest SDU (12 bits), and whether units are framed.
  struct FramedUnit: HCICode {
    var rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    var description: String {
      "\(rawValue & 0x0FFF) bytes, " + (rawValue & 0x8000 == 0 ? "unframed" : "framed")
    }
  }

  /// The values of both directions, four bits each.
  struct BurstNumbers: HCICode {
    var rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    var description: String { "\(rawValue & 0x0F) C to P, \(rawValue >> 4) P to C" }
  }
}

struct LLStreamResponse: PacketFields {
  var least = UInt24()
  var most = UInt24()
  var event: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("CIS offset min", &least, .unit("us"))
    try fields.value("CIS offset max", &most, .unit("us"))
    try fields.value("connection event", &event)
  }
}

struct LLStreamIndication: PacketFields {
  var accessAddress = AccessAddress(rawValue: 0)
  var offset = UInt24()
  var groupDelay = UInt24()
  var streamDelay = UInt24()
  var event: UInt16 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("access address", &accessAddress)
    try fields.value("CIS offset", &offset, .unit("us"))
    try fields.value("CIG sync delay", &groupDelay, .unit("us"))
    try fields.value("CIS sync delay", &streamDelay, .unit("us"))
    try fields.value("connection event", &event)
  }
}

struct LLStreamTermination: PacketFields {
  var group: UInt8 = 0
  var stream: UInt8 = 0
  var error = HCIErrorCode.success

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("CIG ID", &group)
    try fields.value("CIS ID", &stream)
    try fields.value("error code", &error)
  }
}

/// PHYs of power control, where the two codings of LE Coded differ.
struct PowerPHY: HCICode {
  var rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  static let names: [UInt8: String] = [1: "LE 1M", 2: "LE 2M", 4: "LE Coded, S=8", 8: "LE Coded, S=2"]
}

/// Whether a power is the least or the greatest that is supported.
struct PowerLimits: HCICode {
  var rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  static let names: [UInt8: String] = [0: "none", 1: "min", 2: "max", 3: "min and max"]
}

struct LLPowerRequest: PacketFields {
  var phy = PowerPHY(rawValue: 0)
  var delta: Int8 = 0
  var power: Int8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHY", &phy)
    try fields.value("delta", &delta, .unit("dB"))
    try fields.value("TX power", &power, .power)
  }
}

struct LLPowerResponse: PacketFields {
  var limits = PowerLimits(rawValue: 0)
  var delta: Int8 = 0
  var power: Int8 = 0
  var reduction: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("power limits", &limits)
    try fields.value("delta", &delta, .unit("dB"))
    try fields.value("TX power", &power, .power)
    try fields.value("acceptable reduction", &reduction, .unit("dB"))
  }
}

struct LLPowerChange: PacketFields {
  var phy = PowerPHY(rawValue: 0)
  var limits = PowerLimits(rawValue: 0)
  var delta: Int8 = 0
  var power: Int8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("PHY", &phy)
    try fields.value("power limits", &limits)
    try fields.value("delta", &delta, .unit("dB"))
    try fields.value("TX power", &power, .power)
  }
}

/// The subrating that the peripheral wants.
struct LLSubrateRequest: PacketFields {
  var least: UInt16 = 0
  var most: UInt16 = 0
  var latency: UInt16 = 0
  var continuation: UInt16 = 0
  var timeout = SupervisionTimeout()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("subrate factor min", &least)
    try fields.value("subrate factor max", &most)
    try fields.value("max latency", &latency, .unit("events"))
    try fields.value("continuation number", &continuation)
    try fields.value("supervision timeout", &timeout)
  }
}

struct LLSubrate: PacketFields {
  var factor: UInt16 = 0
  var event: UInt16 = 0
  var latency: UInt16 = 0
  var continuation: UInt16 = 0
  var timeout = SupervisionTimeout()

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("subrate factor", &factor)
    try fields.value("subrate base event", &event)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("continuation number", &continuation)
    try fields.value("supervision timeout", &timeout)
  }
}

struct LLChannelReporting: PacketFields {
  var isEnabled: UInt8 = 0
  var spacing: UInt8 = 0
  var delay: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("reporting", &isEnabled, .names([0: "disabled", 1: "enabled"]))
    try fields.value("min spacing", &spacing, .unit("x 200 ms"))
    try fields.value("max delay", &delay, .unit("x 200 ms"))
  }
}

/// Two bits for each channel: 0 unknown, 1 good, 3 bad.
struct LLChannelStatus: PacketFields {
  var classification: [UInt8] = []

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("channel classification", &classification, count: 10)
  }
}
