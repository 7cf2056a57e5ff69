import BluetoothCore

/// A field of fixed width with values defined by the specification: a code, a bit set, a time in steps. Unknown values
/// are preserved in reading and writing.
public protocol HCICode: FieldCode, Hashable where RawValue: UnsignedInteger {
  /// The names of the values; those without a name are shown as numbers.
  static var names: [RawValue: String] { get }
}

extension HCICode {
  public static var names: [RawValue: String] { [:] }

  public init() { self.init(rawValue: 0) }

  public var description: String { Self.names[rawValue] ?? "\(rawValue)" }
}

extension HCICode where Self: OptionSet {
  public init() { self.init(rawValue: 0) }

  public var description: String { Hex.string(UInt64(rawValue), bytes: RawValue.bitWidth / 8) }
}
