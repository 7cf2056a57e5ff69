import HCI
import HaloBluetoothCore

/// A Protocol/Service Multiplexer: the protocol of a channel that is opened, on BR/EDR or, as SPSM, on LE (Core
/// Specification Vol 3, Part A, 4.2 and 4.22; Assigned Numbers, 2.3).
public struct PSM: HCICode {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let sdp = PSM(rawValue: 0x0001)
  public static let rfcomm = PSM(rawValue: 0x0003)
  public static let avctp = PSM(rawValue: 0x0017)
  public static let avdtp = PSM(rawValue: 0x0019)
  public static let avctpBrowsing = PSM(rawValue: 0x001B)
  public static let enhancedATT = PSM(rawValue: 0x0027)

  public static let names: [UInt16: String] = [
    0x0001: "SDP", 0x0003: "RFCOMM", 0x0005: "TCS-BIN", 0x0007: "TCS-BIN-CORDLESS", 0x000F: "BNEP",
    0x0011: "HID control", 0x0013: "HID interrupt", 0x0015: "UPnP", 0x0017: "AVCTP", 0x0019: "AVDTP",
    0x001B: "AVCTP browsing", 0x001D: "UDI C-plane", 0x001F: "ATT", 0x0021: "3DSP", 0x0023: "IPSP",
    0x0025: "OTS", 0x0027: "EATT",
  ]

  /// Name and number: `RFCOMM (PSM 0x0003)`.
  public var description: String {
    let number = "PSM \(Hex.string(rawValue))"
    return Self.names[rawValue].map { "\($0) (\(number))" } ?? number
  }

  public var fieldText: String {
    Self.names[rawValue].map { "\($0) (\(Hex.string(rawValue)))" } ?? Hex.string(rawValue)
  }
}

/// A PSM on BR/EDR, which is longer if the lowest bit of its last byte is 0 (4.2).
public struct ExtensiblePSM: FieldValue {
  public var psm = PSM()

  public init() {}

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    psm = PSM(rawValue: try reader.readUInt16())
    var last = UInt8(psm.rawValue >> 8)
    while last & 1 == 1, let next = reader.peek() {
      // No protocol has such a number: only its length matters.
      last = next
      try reader.skip(1)
    }
  }

  public func write(into writer: inout ByteWriter) { psm.write(into: &writer) }

  public var fieldNumber: UInt64? { psm.fieldNumber }
  public var description: String { psm.fieldText }
}
