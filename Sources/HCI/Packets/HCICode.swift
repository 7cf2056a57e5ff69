import BluetoothCore

/// A field of fixed width whose values the specification numbers or counts: a code, a set of bits, a time in
/// steps. Values that are not known yet survive reading and writing.
public protocol HCICode: RawRepresentable, FieldValue, Hashable
where RawValue: FixedWidthInteger & UnsignedInteger & FieldValue {
  init(rawValue: RawValue)
  /// What the values mean; those that are missing are shown as numbers.
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
