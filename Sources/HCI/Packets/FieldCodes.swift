import HaloBluetoothCore

/// A version of the Core Specification, as numbered by controllers (Assigned Numbers, 2.1).
package struct CoreVersion: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  private static let names = [
    "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
    "6.1", "6.2",
  ]

  /// `5.4`.
  package var description: String {
    Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "version \(rawValue)"
  }
}

/// A company identifier: of a chip's manufacturer, or preceding manufacturer data (Assigned Numbers, 7).
public struct CompanyIdentifier: HCICode {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public var description: String { Hex.string(rawValue) }

  /// Name and number: `Nordic Semiconductor ASA (0x0059)`.
  @usableFromInline package var fieldText: String {
    AssignedNumbers.company(rawValue).map { "\($0) (\(self))" } ?? description
  }
}

/// The role of this side on a link (Core Specification Vol 4, Part E, 7.7.65.1).
package struct LERole: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let central = LERole(rawValue: 0)
  package static let peripheral = LERole(rawValue: 1)

  package static let names: [UInt8: String] = [0: "central", 1: "peripheral"]
}

/// A physical layer (7.7.65.12).
package struct LEPHY: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No packets are sent on the secondary channels (7.7.65.13).
  package static let none = LEPHY(rawValue: 0)
  package static let le1M = LEPHY(rawValue: 1)
  package static let le2M = LEPHY(rawValue: 2)
  package static let leCoded = LEPHY(rawValue: 3)

  package static let names: [UInt8: String] = [0: "none", 1: "LE 1M", 2: "LE 2M", 3: "LE Coded"]
}

/// A set of PHYs that a host would accept (7.8.49).
package struct LEPHYs: OptionSet, HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let le1M = LEPHYs(rawValue: 1)
  package static let le2M = LEPHYs(rawValue: 2)
  package static let leCoded = LEPHYs(rawValue: 4)

  /// The names of those in the set, as the specification has them.
  package var names: [String] {
    [(LEPHYs.le1M, LEPHY.le1M), (.le2M, .le2M), (.leCoded, .leCoded)].filter { contains($0.0) }.map(
      \.1.description)
  }

  init(le1M: Bool, le2M: Bool, leCoded: Bool) {
    self.init(rawValue: (le1M ? 1 : 0) | (le2M ? 2 : 0) | (leCoded ? 4 : 0))
  }
}

/// The address that a controller uses for itself (7.8.10).
package struct OwnAddressType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let `public` = OwnAddressType(rawValue: 0)
  /// The address set with LE Set Random Address.
  package static let random = OwnAddressType(rawValue: 1)
  package static let resolvableOrPublic = OwnAddressType(rawValue: 2)
  package static let resolvableOrRandom = OwnAddressType(rawValue: 3)

  package static let names: [UInt8: String] = [
    0: "public", 1: "random", 2: "resolvable or public", 3: "resolvable or random",
  ]

  /// Whether the own address is made for the peer of the command.
  var usesPeerAddress: Bool { self == .resolvableOrPublic || self == .resolvableOrRandom }
}

/// The accuracy of the central's clock (7.7.65.1).
package struct ClockAccuracy: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let ppm500 = ClockAccuracy(rawValue: 0)

  package static let names: [UInt8: String] = [
    0: "500 ppm", 1: "250 ppm", 2: "150 ppm", 3: "100 ppm", 4: "75 ppm", 5: "50 ppm", 6: "30 ppm",
    7: "20 ppm",
  ]
}

/// A field of fixed width with values defined by the specification: a code, a bit set, a time in steps. Unknown values
/// are preserved in reading and writing.
@usableFromInline package protocol HCICode: FieldCode, Hashable where RawValue: UnsignedInteger {
  /// The names of the values; those without a name are shown as numbers.
  static var names: [RawValue: String] { get }
}

extension HCICode {
  @usableFromInline package static var names: [RawValue: String] { [:] }

  package init() { self.init(rawValue: 0) }

  @inlinable
  package var description: String { Self.names[rawValue] ?? "\(rawValue)" }
}

extension HCICode where Self: OptionSet {
  package init() { self.init(rawValue: 0) }

  package var description: String { Hex.string(UInt64(rawValue), bytes: RawValue.bitWidth / 8) }
}

/// A connection handle: 12 bits, 0x0000 to 0x0EFF (Core Specification Vol 4, Part E, 5.3.1). It may be reused as soon
/// as its link is disconnected.
@usableFromInline package struct ConnectionHandle: HCICode, TextWritable {
  /// The twelve bits; the higher bits in a packet are reserved, and dropped.
  @usableFromInline package let rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) {
    self.rawValue = rawValue & 0x0FFF
  }

  /// The highest handle of a link.
  package static let highest = ConnectionHandle(rawValue: 0x0EFF)

  /// The controllers of some phones and chip manufacturers send debug output as ACL data with this handle, which is
  /// frequent in their logs. It is not a link, and data that looks like L2CAP is meaningless.
  package static let controllerDebug = ConnectionHandle(rawValue: 0x0EDC)

  @usableFromInline package var description: String { Hex.string(rawValue) }
  @usableFromInline package func write(to text: inout TextBuffer) { text.writeHex(rawValue) }
  @usableFromInline package func writeField(to text: inout TextBuffer) { write(to: &text) }
}

/// A set of data channels: 37 bits, one for each channel index (Core Specification Vol 6, Part B, 1.4.1).
package struct ChannelMap: FieldValue, Hashable {
  /// Channel index 0 is the lowest bit.
  package var bits: UInt64 = 0

  package init() {}

  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(try reader.readBytes(5))
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(bytes)
  }

  package var fieldNumber: UInt64? { bits }

  /// `24 channels: 0 to 8, 21 to 35`.
  package var description: String {
    let channels = (0..<37).filter { bits >> UInt64($0) & 1 == 1 }
    var ranges: [(first: Int, last: Int)] = []
    for channel in channels {
      if let last = ranges.last, last.last == channel - 1 {
        ranges[ranges.count - 1].last = channel
      } else {
        ranges.append((channel, channel))
      }
    }
    let words = ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
    return "\(channels.count) channels: " + (words.isEmpty ? "none" : words.joined(separator: ", "))
  }

  /// Takes up to five bytes, the first of which has the channels from 0 to 7.
  package init(_ bytes: [UInt8]) {
    for byte in bytes.prefix(5).reversed() { bits = bits << 8 | UInt64(byte) }
  }

  /// The five bytes.
  var bytes: [UInt8] { (0..<5).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) } }
}
