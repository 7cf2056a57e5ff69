import HaloBluetoothCore

/// Fields of BR/EDR packets that are in several rows (Core Specification Vol 4, Part E, 7.1 to 7.7).
extension DecodedField {
  static let linkType = value("link type", LinkType())
  static let voiceSetting = value("voice setting", VoiceSetting())
  static let packetTypes = uint16("packet types", .bits(ClassicLinkBits.packetTypes))
  static let linkPolicy = uint16("link policy", .bits(ClassicLinkBits.policy))
  static let supervisionTimeout = uint16("link supervision timeout", .namesOrUnit([0: "none"], "slots"))
  static let repetitionMode = uint8(
    "page scan repetition mode", .names(InquiryResponse.repetitionModes))
  static let serviceType = uint8(
    "service type", .names([0: "no traffic", 1: "best effort", 2: "guaranteed"]))

  /// How to page a device (7.1.5).
  static let pageParameters = fields(
    DecodedFields([repetitionMode, uint8("reserved"), value("clock offset", ClockOffset())]))

  /// The parameters that a host requests of a link for voice (7.1.26).
  static let synchronousParameters = fields(
    DecodedFields([
      uint32("transmit bandwidth", .namesOrUnit([0xFFFF_FFFF: "any"], "bytes/s")),
      uint32("receive bandwidth", .namesOrUnit([0xFFFF_FFFF: "any"], "bytes/s")),
      uint16("maximum latency", .namesOrUnit([0xFFFF: "any"], "ms")),
      voiceSetting,
      uint8(
        "retransmission effort",
        .names([0: "none", 1: "optimized for power", 2: "optimized for quality", 0xFF: "any"])),
      uint16("packet types", .bits(ClassicLinkBits.synchronousPacketTypes)),
    ]))

  /// The times and lengths of a link for voice (7.7.35 and 7.7.36).
  static let synchronousTimes = [
    uint8("transmission interval", .unit("slots")), uint8("retransmission window", .unit("slots")),
    uint16("receive packet length", .unit("bytes")), uint16("transmit packet length", .unit("bytes")),
  ]

  /// The input and output capabilities of a device (7.1.29).
  static let ioCapability = fields(
    DecodedFields([
      peer,
      uint8(
        "IO capability",
        .names([
          0: "display only", 1: "display, yes or no", 2: "keyboard only", 3: "no input, no output",
        ])),
      uint8("OOB data", .names([0: "not present", 1: "present"])),
      uint8(
        "authentication requirements",
        .names([
          0: "no bonding", 1: "no bonding, MITM", 2: "dedicated bonding", 3: "dedicated bonding, MITM",
          4: "general bonding", 5: "general bonding, MITM",
        ])),
    ]))

  /// A time in slots of 0.625 ms.
  static func slots(_ name: StaticString) -> DecodedField { uint16(name, .unit("slots")) }

  /// A page of LMP features.
  ///
  /// - Parameter index: of the field with the number of the page
  static func features(ofPageAt index: Int) -> DecodedField {
    value("features", UInt64()).styled {
      .bits(LMPFeatures.bits(ofPage: UInt8(truncatingIfNeeded: $0[index])))
    }
  }
}

/// The type of a link (7.7.3).
package struct LinkType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let acl = LinkType(rawValue: 1)

  package static let names: [UInt8: String] = [0: "SCO", 1: "ACL", 2: "eSCO"]
}

/// Bits 16 to 2 of the difference of two clocks, in units of 1.25 ms; bit 15 is 1 if it is known (7.1.5).
private struct ClockOffset: HCICode {
  var rawValue: UInt16

  var description: String { rawValue & 0x8000 == 0 ? "not valid" : Hex.string(rawValue & 0x7FFF) }
}

/// How voice is coded on HCI and on the air (Core Specification Vol 4, Part E, 6.12).
struct VoiceSetting: HCICode {
  var rawValue: UInt16

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

/// The class of a BR/EDR device (Assigned Numbers, 2.8).
struct ClassOfDevice: FieldValue, Hashable {
  var bits = UInt24()

  init() {}
  init(parsing reader: inout ByteReader) throws(DecodeError) { bits = try UInt24(parsing: &reader) }
  func write(into writer: inout ByteWriter) { bits.write(into: &writer) }
  var fieldNumber: UInt64? { bits.fieldNumber }

  private static let majors: [UInt32: String] = [
    0: "miscellaneous", 1: "computer", 2: "phone", 3: "network access point", 4: "audio or video",
    5: "peripheral", 6: "imaging", 7: "wearable", 8: "toy", 9: "health", 31: "uncategorized",
  ]

  /// The major class, and the number.
  var description: String {
    let number = Hex.string(UInt64(bits.value), bytes: 3)
    return Self.majors[bits.value >> 8 & 31].map { "\($0) (\(number))" } ?? number
  }
}
