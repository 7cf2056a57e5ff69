import BluetoothCore

/// A field of fixed width with values defined by the specification: a code, a bit set, a time in steps. Unknown values
/// are preserved in reading and writing.
public protocol HCICode: RawRepresentable, FieldValue, Hashable
where RawValue: FixedWidthInteger & UnsignedInteger & FieldValue {
  init(rawValue: RawValue)
  /// The names of the values; those without a name are shown as numbers.
  static var names: [RawValue: String] { get }
}

extension HCICode {
  public static var names: [RawValue: String] { [:] }

  public init() { self.init(rawValue: 0) }

  @inlinable @inline(__always)
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try RawValue(parsing: &reader))
  }

  @inlinable @inline(__always)
  public func write(into writer: inout ByteWriter) { rawValue.write(into: &writer) }

  public var fieldNumber: UInt64? { UInt64(rawValue) }

  public var description: String { Self.names[rawValue] ?? "\(rawValue)" }
}

extension HCICode where Self: OptionSet {
  public init() { self.init(rawValue: 0) }

  public var description: String { Hex.string(UInt64(rawValue), bytes: RawValue.bitWidth / 8) }
}
