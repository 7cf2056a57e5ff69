/// A device address of 48 bits with its type: the same value as a public and as a random address identifies two devices
/// (Core Specification Vol 6, Part B, 1.3).
public struct BluetoothAddress: Hashable, Sendable, TextWritable {
  /// Address types as in HCI events. Unknown values are preserved.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Public Device Address.
    public static let `public` = Kind(rawValue: 0)
    /// Random Device Address.
    public static let random = Kind(rawValue: 1)
    /// Public Identity Address: a resolved private address.
    public static let publicIdentity = Kind(rawValue: 2)
    /// Random (static) Identity Address: a resolved private address.
    public static let randomIdentity = Kind(rawValue: 3)
    /// An extended advertisement without an address.
    public static let anonymous = Kind(rawValue: 0xFF)

    /// Whether the specification defines this address type, so that it can be used to connect.
    package var isKnown: Bool { rawValue <= Kind.randomIdentity.rawValue }
  }

  /// The 48 bits; the first byte in the text form is the most significant.
  public var value: UInt64
  /// The address type.
  public var kind: Kind

  /// All zero: no address.
  package static let zero = BluetoothAddress(0, .public)

  /// Takes the low 48 bits of `value`.
  public init(_ value: UInt64, _ kind: Kind) {
    self.value = value & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  /// Parses `C0:11:22:33:A1:B2`, with or without separators. The suffix `/public` or `/random` gives the type. Without
  /// a suffix, the type is derived from the address: two most significant bits of 11 are taken as random static, which
  /// is far more common than a public address with these bits.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let digits = parts.first, let bytes = Hex.bytes(digits), bytes.count == 6,
      !digits.hasPrefix("0x")
    else { return nil }
    let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let kind: Kind
    switch parts.count > 1 ? parts[1].lowercased() : nil {
    case "public": kind = .public
    case "random": kind = .random
    case nil: kind = value >> 46 == 3 ? .random : .public
    default: return nil
    }
    self.init(value, kind)
  }

  /// Reads six bytes, least significant first.
  @usableFromInline package init(parsing reader: inout ByteReader, kind: Kind) throws(DecodeError) {
    let low = try reader.readUInt32()
    let high = try reader.readUInt16()
    self.init(UInt64(high) << 32 | UInt64(low), kind)
  }

  /// Writes the six bytes, least significant first; packets carry the type in a separate field.
  package func write(into writer: inout ByteWriter) {
    writer.write(UInt32(truncatingIfNeeded: value))
    writer.write(UInt16(truncatingIfNeeded: value >> 32))
  }

  /// `C0:11:22:33:A1:B2`, without the type.
  public var description: String { TextBuffer.string { $0.write(self) } }

  /// Writes ``description``.
  @usableFromInline package func write(to text: inout TextBuffer) {
    text.withRoom(17) { room in
      for index in 0..<17 {
        let isColon = index % 3 == 2
        let shift = 44 - (index - index / 3) * 4
        let nibble = UInt8(truncatingIfNeeded: value >> shift) & 15
        let digit = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
        room[index] = isColon ? UInt8(ascii: ":") : digit
      }
      return 17
    }
  }
}

extension BluetoothAddress.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .public: "public"
    case .random: "random"
    case .publicIdentity: "public identity"
    case .randomIdentity: "random identity"
    case .anonymous: "anonymous"
    default: "type \(Hex.string(rawValue))"
    }
  }
}

extension BluetoothAddress {
  /// Whether it is a resolvable private address (Core Specification Vol 6, Part B, 1.3.2.2).
  package var isResolvable: Bool { kind == .random && value >> 46 == 1 }

  /// The same address without the note that a controller has resolved it.
  package var plain: BluetoothAddress {
    switch kind {
    case .publicIdentity: BluetoothAddress(value, .public)
    case .randomIdentity: BluetoothAddress(value, .random)
    default: self
    }
  }
}

/// The identity of a peer over time: the key of the stored data of devices.
///
/// It is the address that the device uses on the air. Devices with a resolvable private address have a new identity with each
/// new address (Core Specification Vol 3, Part C, 10.8), as there is no bond by which to resolve them.
package struct PeerIdentity: Hashable, Sendable, CustomStringConvertible {
  /// The address at which the device is connected to.
  package let address: BluetoothAddress

  /// The device that has this address on the air, or had it when it was remembered.
  package init(_ address: BluetoothAddress) { self.address = address }

  package var description: String { address.description }
}
