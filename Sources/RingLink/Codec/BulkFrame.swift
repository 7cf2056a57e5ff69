import BluetoothCore

/// A frame of the bulk characteristics: any number of bytes with an id (ring reference, 3 and 6).
///
/// On the air: 0xBC, id, payload length, CRC-16/MODBUS of the payload, payload; integers little-endian.
public struct BulkFrame: Hashable, Sendable {
  /// The first byte of every bulk frame.
  public static let magic: UInt8 = 0xBC
  public static let headerLength = 6
  /// No ring sends more; a larger claim is taken for noise.
  public static let maximumPayload = 4096

  public let id: BulkID
  public let payload: [UInt8]

  /// What a ring sent, after its CRC was checked.
  init(received id: BulkID, payload: [UInt8]) {
    self.id = id
    self.payload = payload
  }

  /// Writes a frame; the only way to make one. Refuses the ids of the firmware update.
  public static func write(
    _ id: BulkID, payload: [UInt8], into writer: inout ByteWriter
  ) throws(BulkFrameError) {
    guard !id.isFirmwareUpdate else { throw .firmwareUpdate(id) }
    guard payload.count <= maximumPayload else { throw .payloadTooLong(payload.count) }
    writer.write(magic)
    writer.write(id.rawValue)
    writer.write(UInt16(payload.count))
    writer.write(CRC16.modbus(payload.span.bytes))
    writer.write(payload)
  }
}

/// Why a bulk frame cannot be made.
public enum BulkFrameError: Error, Hashable, Sendable {
  case firmwareUpdate(BulkID)
  case payloadTooLong(Int)
}

extension BulkFrameError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .firmwareUpdate(let id):
      "bulk id \(id.rawValue) belongs to the firmware update and is never sent: it can destroy the ring"
    case .payloadTooLong(let count):
      "a bulk frame takes \(BulkFrame.maximumPayload) bytes of payload, not \(count)"
    }
  }
}
