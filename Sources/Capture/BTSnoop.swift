import BluetoothCore

/// The btsnoop format: a header of 16 bytes, then records of 24 bytes and a packet each, all integers
/// big-endian (RFC 1761 with Bluetooth's datalinks; the format of `btmon -w` and of Android's snoop log).
public enum BTSnoop {
  static let magic: [UInt8] = Array("btsnoop\0".utf8)
  static let version: UInt32 = 1
  public static let headerLength = 16
  public static let recordHeaderLength = 24

  /// A packet is one HCI packet, at most 64 KiB of ACL data and a header: what claims to be larger is damage.
  public static let maximumPacketLength = 65_536 + 16

  /// Microseconds from the year 0, where btsnoop begins to count, to 1970.
  static let epochOffset: Int64 = 0x00DC_DDB3_0F2F_8000

  /// What the packets of a file are.
  public struct Datalink: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// HCI packets with the H4 type byte.
    public static let h4 = Datalink(rawValue: 1002)
  }

  /// The flags of a record: bit 0 tells the direction, bit 1 commands and events from data.
  struct Flags: OptionSet {
    var rawValue: UInt32

    static let received = Flags(rawValue: 1)
    static let commandOrEvent = Flags(rawValue: 2)
  }

  /// Writes the header of a file.
  public static func writeHeader(_ datalink: Datalink, into writer: inout ByteWriter) {
    writer.write(magic)
    writer.writeBigEndian(version)
    writer.writeBigEndian(datalink.rawValue)
  }

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - packet: an HCI packet with its type byte
  ///   - microseconds: since 1970-01-01 UTC
  public static func writeRecord(
    _ packet: RawSpan, direction: CaptureDirection, microseconds: Int64, into writer: inout ByteWriter
  ) {
    var flags: Flags = direction == .controllerToHost ? .received : []
    // Commands are type 1, events type 4; everything else is data.
    if packet.byte(at: 0) == 1 || packet.byte(at: 0) == 4 { flags.insert(.commandOrEvent) }
    let length = UInt32(truncatingIfNeeded: packet.byteCount)
    writer.writeBigEndian(length)
    writer.writeBigEndian(length)
    writer.writeBigEndian(flags.rawValue)
    writer.writeBigEndian(UInt32(0))
    let time = UInt64(bitPattern: microseconds &+ epochOffset)
    writer.writeBigEndian(UInt32(truncatingIfNeeded: time >> 32))
    writer.writeBigEndian(UInt32(truncatingIfNeeded: time))
    writer.write(packet)
  }

  /// Reads the header of a file and gives its datalink.
  public static func readHeader(_ bytes: RawSpan) throws(CaptureError) -> Datalink {
    guard bytes.byteCount > 0 else { throw CaptureError(.empty) }
    guard bytes.byteCount >= magic.count, bytes.extracting(0..<magic.count).elementsEqual(magic.span.bytes)
    else { throw CaptureError(.notBTSnoop) }
    var reader = ByteReader(bytes.extracting(magic.count..<bytes.byteCount))
    guard let version = try? reader.readUInt32BigEndian(), let datalink = try? reader.readUInt32BigEndian()
    else { throw CaptureError(.truncatedHeader) }
    guard version == BTSnoop.version else { throw CaptureError(.unsupportedVersion(version)) }
    return Datalink(rawValue: datalink)
  }

  /// Reads the record at the front of `bytes`.
  ///
  /// - Parameters:
  ///   - bytes: the file from the record's start on, as far as it is known
  ///   - offset: where that is in the file, for the error
  /// - Returns: the record and its length in the file; nil if it is cut.
  public static func readRecord(
    _ bytes: RawSpan, offset: Int
  ) throws(CaptureError) -> (record: CaptureRecord, length: Int)? {
    var reader = ByteReader(bytes)
    guard let original = try? Int(reader.readUInt32BigEndian()),
      let included = try? Int(reader.readUInt32BigEndian())
    else { return nil }
    guard included <= maximumPacketLength else {
      throw CaptureError(.recordTooLarge(included), offset: offset)
    }
    guard included <= original else { throw CaptureError(.recordLongerThanPacket, offset: offset) }
    guard let flags = try? Flags(rawValue: reader.readUInt32BigEndian()),
      (try? reader.skip(4)) != nil,
      let high = try? reader.readUInt32BigEndian(),
      let low = try? reader.readUInt32BigEndian(),
      let packet = try? reader.readBytes(included)
    else { return nil }
    let record = CaptureRecord(
      direction: flags.contains(.received) ? .controllerToHost : .hostToController,
      microseconds: Int64(bitPattern: UInt64(high) << 32 | UInt64(low)) &- epochOffset,
      packet: packet, originalLength: original)
    return (record, reader.offset)
  }
}
