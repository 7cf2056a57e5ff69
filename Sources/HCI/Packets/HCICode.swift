import BluetoothCore

/// A field of fixed width whose values the specification numbers or counts: a code, a set of bits, a time in
/// steps. Values that nobody knows yet survive reading and writing.
public protocol HCICode: RawRepresentable, HCICodable, Hashable where RawValue: FixedWidthInteger {
  init(rawValue: RawValue)
}

extension HCICode where RawValue == UInt8 {
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try reader.readUInt8())
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(rawValue)
  }
}

extension HCICode where RawValue == UInt16 {
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try reader.readUInt16())
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(rawValue)
  }
}

extension HCICode where RawValue == UInt64 {
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try reader.readUInt64())
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(rawValue)
  }
}

extension ByteReader {
  /// A byte that may only be 0 or 1.
  mutating func readBool() throws(DecodeError) -> Bool {
    switch try readUInt8() {
    case 0: return false
    case 1: return true
    case let other: throw invalid("\(other) is neither off (0) nor on (1)")
    }
  }

  /// An address with its type in front, the order of all LE commands and events.
  mutating func readAddress() throws(DecodeError) -> BluetoothAddress {
    let kind = BluetoothAddress.Kind(rawValue: try readUInt8())
    return try BluetoothAddress(parsing: &self, kind: kind)
  }

  /// A signal strength or power in dBm; 127 says that it is not known (Vol 4, Part E, 7.7.65.13).
  mutating func readPower() throws(DecodeError) -> Int8? {
    let value = try readInt8()
    return value == .max ? nil : value
  }
}

extension ByteWriter {
  mutating func write(_ flag: Bool) {
    write(UInt8(flag ? 1 : 0))
  }

  /// The type of an address, then its six bytes.
  mutating func writeAddress(_ address: BluetoothAddress) {
    write(address.kind.rawValue)
    address.write(into: &self)
  }

  /// A signal strength or power in dBm; 127 for nil.
  mutating func writePower(_ power: Int8?) {
    write(power ?? .max)
  }
}
