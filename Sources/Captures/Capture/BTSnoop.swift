import HaloBluetoothCore

/// The btsnoop format: a header of 16 bytes, then records of 24 bytes and a packet each, all integers
/// big-endian (RFC 1761 with Bluetooth's datalinks; the format of `btmon -w` and of Android's snoop log).
package enum BTSnoop {
  static let magic: [UInt8] = Array("btsnoop\0".utf8)
  static let version: UInt32 = 1
  /// The length of the file header, in bytes.
  package static let headerLength = 16
  /// The length of each record header, in bytes.
  package static let recordHeaderLength = 24

  /// Microseconds from the year 0, where btsnoop begins to count, to 1970.
  private static let epochOffset: Int64 = 0x00DC_DDB3_0F2F_8000

  /// The time of a record, in microseconds since 1970-01-01 UTC.
  static func microseconds(_ time: Int64) -> Int64 { time &- epochOffset }

  /// The packet encapsulation of a file.
  package struct Datalink: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package var rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// HCI packets without the type byte; the record flags distinguish commands and events from data.
    package static let h1 = Datalink(rawValue: 1001)
    /// HCI packets with the H4 type byte.
    package static let h4 = Datalink(rawValue: 1002)
    /// Records of the Linux monitor; the flags of a record are adapter and opcode, two bytes each.
    package static let linuxMonitor = Datalink(rawValue: 2001)

    package var description: String {
      switch self {
      case .h1: "1001 (H1)"
      case .h4: "1002 (H4)"
      case .linuxMonitor: "2001 (Linux monitor)"
      default: "\(rawValue)"
      }
    }
  }

  /// The record flags: bit 0 is the direction, bit 1 is set for commands and events.
  struct Flags: OptionSet {
    var rawValue: UInt32

    static let received = Flags(rawValue: 1)
    static let commandOrEvent = Flags(rawValue: 2)
  }

  /// Writes the header of a file.
  package static func writeHeader(_ datalink: Datalink, into writer: inout ByteWriter) {
    writer.write(magic)
    writer.writeBigEndian(version)
    writer.writeBigEndian(datalink.rawValue)
  }

  /// Writes a record of a file with datalink ``Datalink/h4``.
  ///
  /// - Parameters:
  ///   - packet: an HCI packet with its type byte
  ///   - direction: the side that sent it
  ///   - microseconds: since 1970-01-01 UTC
  ///   - drops: the number of packets lost since the start of the file
  ///   - originalLength: of the packet, if `packet` is only its beginning
  ///   - writer: receives the record
  package static func writeRecord(
    _ packet: RawSpan, direction: CaptureDirection, microseconds: Int64, drops: Int = 0,
    originalLength: Int = 0, into writer: inout ByteWriter
  ) {
    var flags: Flags = direction == .controllerToHost ? .received : []
    // Commands are type 1, events type 4; everything else is data.
    if packet.byte(at: 0) == 1 || packet.byte(at: 0) == 4 { flags.insert(.commandOrEvent) }
    writeRecord(packet, originalLength, flags: flags.rawValue, microseconds, drops, into: &writer)
  }

  /// Writes a record of a file with datalink ``Datalink/linuxMonitor``.
  ///
  /// - Parameters:
  ///   - payload: the bytes behind the monitor's header: an HCI packet without its type byte, or something else
  ///   - opcode: the kind of the record
  ///   - adapter: the adapter's index; nil if none
  ///   - microseconds: since 1970-01-01 UTC
  ///   - drops: the number of packets lost since the start of the file
  ///   - originalLength: of the payload, if `payload` is only its beginning
  ///   - writer: receives the record
  package static func writeRecord(
    _ payload: RawSpan, opcode: MonitorOpcode, adapter: UInt16?, microseconds: Int64, drops: Int = 0,
    originalLength: Int = 0, into writer: inout ByteWriter
  ) {
    let flags = UInt32(adapter ?? MonitorOpcode.noAdapter) << 16 | UInt32(opcode.rawValue)
    writeRecord(payload, originalLength, flags: flags, microseconds, drops, into: &writer)
  }

  private static func writeRecord(
    _ packet: RawSpan, _ originalLength: Int, flags: UInt32, _ microseconds: Int64, _ drops: Int,
    into writer: inout ByteWriter
  ) {
    let original = UInt32(clamping: max(originalLength, packet.byteCount)).bigEndian
    let length = UInt32(truncatingIfNeeded: packet.byteCount).bigEndian
    let time = UInt64(bitPattern: microseconds &+ epochOffset).bigEndian
    // Appended in one piece: that takes a sixth of the instructions of six integers.
    let header = (original, length, flags.bigEndian, UInt32(clamping: drops).bigEndian, time)
    withUnsafeBytes(of: header) { writer.write(RawSpan(_unsafeBytes: $0)) }
    writer.write(packet)
  }

  /// Whether a file with this beginning is btsnoop; requires eight bytes.
  static func isMagic(_ bytes: RawSpan) -> Bool {
    bytes.byteCount >= magic.count && bytes.extracting(0..<magic.count).elementsEqual(magic.span.bytes)
  }

  /// Reads the rest of the header of a file that begins with the magic bytes.
  ///
  /// - Returns: the datalink; nil if the header is incomplete
  static func readHeader(_ bytes: RawSpan) throws(CaptureError) -> Datalink? {
    guard let version = bytes.uint32(at: 8, .big),
      let datalink = bytes.uint32(at: 12, .big).map(Datalink.init)
    else { return nil }
    guard version == BTSnoop.version else { throw CaptureError(.unsupportedVersion("btsnoop", Int(version))) }
    guard [.h1, .h4, .linuxMonitor].contains(datalink) else {
      throw CaptureError(.unsupportedDatalink(datalink))
    }
    return datalink
  }

  /// Reads the record at the start of `bytes`.
  static func step(_ bytes: RawSpan, _ datalink: Datalink) throws(CaptureError) -> CaptureStep {
    guard let original = bytes.uint32(at: 0, .big).map(Int.init),
      let included = bytes.uint32(at: 4, .big).map(Int.init)
    else { return .needsMore }
    if included > maximumCapturedLength, isMagic(bytes) { return .header }
    try checkLength(included)
    let recordLength = recordHeaderLength + included
    guard bytes.byteCount >= recordLength, let flags = bytes.uint32(at: 8, .big),
      let time = bytes.integer(at: 16, as: Int64.self, .big)
    else { return .needsMore }
    let direction: CaptureDirection =
      Flags(rawValue: flags).contains(.received) ? .controllerToHost : .hostToController
    var record = FoundRecord(
      // A timestamp of zero means that there is none.
      .hci(direction), microseconds: time == 0 ? nil : microseconds(time), start: recordHeaderLength,
      length: included, originalLength: original, recordLength: recordLength)
    record.drops = bytes.uint32(at: 12, .big) ?? 0
    switch datalink {
    case .h1:
      let isData = !Flags(rawValue: flags).contains(.commandOrEvent)
      record.setPacket(
        isData ? .acl : direction == .hostToController ? .command : .event, direction)
    case .linuxMonitor:
      record.setMonitor(
        MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: flags)),
        adapter: UInt16(truncatingIfNeeded: flags >> 16))
    default: break
    }
    return .record(record)
  }
}
