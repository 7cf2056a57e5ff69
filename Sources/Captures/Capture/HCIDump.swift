import HaloBluetoothCore

/// The format of `hcidump -w`, the predecessor of btmon: records of a header of twelve bytes, all integers
/// little-endian, and an HCI packet with its H4 type byte, without a file header (BlueZ's `tools/hcidump.c`;
/// Wireshark's `wiretap/hcidump.c`).
enum HCIDump {
  /// Length of the packet (2 bytes), direction, padding, seconds (4), microseconds (4).
  private static let headerLength = 12

  /// Whether a file with this beginning is hcidump's: the first record has to be right in every field, as nothing else tells.
  static func isBeginning(_ bytes: RawSpan) -> Bool {
    guard let length = bytes.uint16(at: 0, .little), let direction = bytes.byte(at: 2), direction <= 1,
      bytes.byte(at: 3) == 0, let microseconds = bytes.uint32(at: 8, .little), microseconds < 1_000_000,
      let type = bytes.byte(at: headerLength).map(HCIPacketType.init),
      [.command, .acl, .synchronous, .event].contains(type),
      let stated = type.statedLength(in: bytes, at: headerLength)
    else { return false }
    return Int(length) == type.headerLength + stated
  }

  /// Reads the record at the start of `bytes`.
  static func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    guard let length = bytes.uint16(at: 0, .little).map(Int.init), let direction = bytes.byte(at: 2),
      let seconds = bytes.uint32(at: 4, .little), let microseconds = bytes.uint32(at: 8, .little)
    else { return .needsMore }
    guard direction <= 1, bytes.byte(at: 3) == 0 else {
      throw CaptureError(.damagedRecord("a record has no direction"))
    }
    guard bytes.byteCount >= headerLength + length else { return .needsMore }
    return .record(
      FoundRecord(
        .hci(direction == 1 ? .controllerToHost : .hostToController),
        microseconds: Int64(seconds) * 1_000_000 + Int64(microseconds), start: headerLength, length: length,
        originalLength: length, recordLength: headerLength + length))
  }
}
