import BluetoothCore

/// CRC-16/MODBUS: polynomial 0x8005 reflected, initial value 0xFFFF, no final inversion. The bytes
/// `123456789` give 0x4B37 (ring reference, 3).
public enum CRC16 {
  public static func modbus(_ bytes: RawSpan) -> UInt16 {
    var crc: UInt16 = 0xFFFF
    for index in 0..<bytes.byteCount {
      crc ^= UInt16(bytes.byte(at: index) ?? 0)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xA001 }
    }
    return crc
  }
}
