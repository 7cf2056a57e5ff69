import HaloBluetoothCore

/// Apple's PacketLogger format (.pklg of macOS, iOS and their Bluetooth logging profile): records of a length, a
/// timestamp, a type and bytes, without a file header. The byte order is the writer's. Detection and record types
/// follow Wireshark's wiretap/packetlogger.c.
@usableFromInline package enum PacketLogger {
  /// The type of a record.
  @usableFromInline package struct RecordType: RawRepresentable, Hashable, Sendable {
    @usableFromInline package var rawValue: UInt8

    @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The type of the HCI packet that follows without its type byte; nil for other records.
    var packet: (type: HCIPacketType, direction: CaptureDirection)? { Self.known[rawValue]?.packet }
    /// The name of the type; nil if unknown.
    package var name: String? { Self.known[rawValue]?.name }

    private typealias Packet = (type: HCIPacketType, direction: CaptureDirection)

    private static let known: [UInt8: (name: String, packet: Packet?)] = [
      0x00: ("HCI command", (.command, .hostToController)), 0x01: ("HCI event", (.event, .controllerToHost)),
      0x02: ("ACL data sent", (.acl, .hostToController)),
      0x03: ("ACL data received", (.acl, .controllerToHost)),
      0x08: ("SCO data sent", (.synchronous, .hostToController)),
      0x09: ("SCO data received", (.synchronous, .controllerToHost)), 0x0A: ("LMP data sent", nil),
      0x0B: ("LMP data received", nil), 0xF7: ("system log", nil), 0xF8: ("kernel", nil),
      0xF9: ("kernel debug", nil), 0xFA: ("error", nil), 0xFB: ("power", nil), 0xFC: ("note", nil),
      0xFD: ("configuration", nil), 0xFE: ("new controller", nil),
    ]
  }

  /// Length, seconds and microseconds. The length counts the bytes after itself.
  private static let headerLength = 12

  /// Detects the format from the first record, and returns its byte order.
  ///
  /// - Returns: nil if it is not PacketLogger, or too short to decide
  static func byteOrder(_ bytes: RawSpan) -> ByteOrder? {
    for order in [ByteOrder.big, .little] {
      guard let length = bytes.uint32(at: 0, order), (8..<65_536).contains(length),
        let microseconds = bytes.uint32(at: 8, order), microseconds < 1_000_000,
        length == 8 || bytes.byte(at: headerLength).map(RecordType.init)?.name != nil
      else { continue }
      return order
    }
    return nil
  }

  /// Reads the record at the start of `bytes`.
  static func step(_ bytes: RawSpan, _ order: ByteOrder) throws(CaptureError) -> CaptureStep {
    guard let length = bytes.uint32(at: 0, order).map(Int.init) else { return .needsMore }
    guard length >= 8 else {
      throw CaptureError(.damagedRecord("a record claims \(length) bytes, less than its time has"))
    }
    // The timestamp takes eight of the bytes, the type one.
    let included = max(0, length - 9)
    try checkLength(included)
    guard bytes.byteCount >= 4 + length, let seconds = bytes.uint32(at: 4, order),
      let microseconds = bytes.uint32(at: 8, order)
    else { return .needsMore }
    let type = length > 8 ? bytes.byte(at: headerLength).map(RecordType.init) : nil
    var record = FoundRecord(
      .packetLogger(type), microseconds: Int64(seconds) * 1_000_000 + Int64(microseconds),
      start: 4 + length - included, length: included, originalLength: included, recordLength: 4 + length)
    if let packet = type?.packet { record.setPacket(packet.type, packet.direction) }
    return .record(record)
  }
}

/// The format of `hcidump -w`, the predecessor of btmon: records of a header of twelve bytes, all integers
/// little-endian, and an HCI packet with its H4 type byte, without a file header (BlueZ's `tools/hcidump.c`;
/// Wireshark's `wiretap/hcidump.c`).
enum HCIDump {
  /// Length of the packet (2 bytes), direction, padding, seconds (4), microseconds (4).
  private static let headerLength = 12

  /// Whether a file with this beginning is hcidump's: the first record has to be right in every field, as there is no other
  /// sign.
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
