import BluetoothCore

/// The byte order of integers.
enum ByteOrder {
  case big
  case little
}

extension RawSpan {
  /// The integer at an offset; nil if bytes are missing.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: T.Type, _ order: ByteOrder
  ) -> T? {
    guard offset >= 0, byteCount - offset >= MemoryLayout<T>.size else { return nil }
    let value = unsafeLoadUnaligned(fromByteOffset: offset, as: T.self)
    return order == .big ? T(bigEndian: value) : T(littleEndian: value)
  }

  @inline(__always)
  func uint32(at offset: Int, _ order: ByteOrder) -> UInt32? {
    integer(at: offset, as: UInt32.self, order)
  }

  @inline(__always)
  func uint16(at offset: Int, _ order: ByteOrder) -> UInt16? {
    integer(at: offset, as: UInt16.self, order)
  }
}
