// The basic field value types.

extension FieldValue where Self: FixedWidthInteger {
  @usableFromInline package var fieldNumber: UInt64? { UInt64(truncatingIfNeeded: self) }
}

/// A value of fixed width whose numbers the specification assigns. Every number can be read and written, known or not.
@usableFromInline package protocol FieldCode: RawRepresentable, FieldValue
where RawValue: FixedWidthInteger & FieldValue {
  init(rawValue: RawValue)
}

extension FieldCode {
  @inlinable @inline(__always)
  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try RawValue(parsing: &reader))
  }

  @inlinable @inline(__always)
  package func write(into writer: inout ByteWriter) { rawValue.write(into: &writer) }

  @usableFromInline package var fieldNumber: UInt64? { rawValue.fieldNumber }
}

extension UInt8: FieldValue {
  @inlinable @inline(__always)
  package init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt8() }
  @inlinable @inline(__always)
  package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension Int8: FieldValue {
  @usableFromInline package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self = try reader.readInt8()
  }
  @usableFromInline package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt16: FieldValue {
  @inlinable @inline(__always)
  package init(parsing reader: inout ByteReader) throws(DecodeError) { self = try reader.readUInt16() }
  @inlinable @inline(__always)
  package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt32: FieldValue {
  @usableFromInline package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self = try reader.readUInt32()
  }
  @usableFromInline package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension UInt64: FieldValue {
  @usableFromInline package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self = try reader.readUInt64()
  }
  @usableFromInline package func write(into writer: inout ByteWriter) { writer.write(self) }
}

/// Three bytes, little-endian.
package struct UInt24: FieldValue, Hashable {
  package var value: UInt32

  package init(_ value: UInt32 = 0) {
    self.value = value & 0xFF_FFFF
  }

  package init(parsing reader: inout ByteReader) throws(DecodeError) { value = try reader.readUInt24() }
  package func write(into writer: inout ByteWriter) { writer.writeUInt24(value) }

  package var fieldNumber: UInt64? { UInt64(value) }
  package var description: String { "\(value)" }
}

/// A byte that may only be 0 or 1.
extension Bool: FieldValue {
  @usableFromInline package init(parsing reader: inout ByteReader) throws(DecodeError) {
    switch try reader.readUInt8() {
    case 0: self = false
    case 1: self = true
    case let other: throw reader.invalid("\(other) is neither off (0) nor on (1)")
    }
  }

  @usableFromInline package func write(into writer: inout ByteWriter) { writer.write(UInt8(self ? 1 : 0)) }

  @usableFromInline package var fieldNumber: UInt64? { self ? 1 : 0 }
  @usableFromInline package var fieldText: String { self ? "yes" : "no" }
}

extension BluetoothAddress.Kind: FieldCode {}
