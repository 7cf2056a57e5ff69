import HaloBluetoothCore

/// The pcap format: a header of 24 bytes, then records of 16 bytes and a packet each, in the writer's byte order
/// (draft-ietf-opsawg-pcap).
struct PCAP {
  static let headerLength = 24
  static let recordHeaderLength = 16

  let linkType: CaptureLinkType
  private let order: ByteOrder
  let hasNanoseconds: Bool

  /// Whether a file with this beginning is pcap; requires four bytes.
  static func isMagic(_ bytes: RawSpan) -> Bool {
    magic(bytes) != nil
  }

  private static func magic(_ bytes: RawSpan) -> (order: ByteOrder, hasNanoseconds: Bool)? {
    for order in [ByteOrder.little, .big] {
      switch bytes.uint32(at: 0, order) {
      case 0xA1B2_C3D4: return (order, false)
      case 0xA1B2_3C4D: return (order, true)
      default: break
      }
    }
    return nil
  }

  /// Reads the header of a file; nil if it is incomplete.
  init?(_ bytes: RawSpan) throws(CaptureError) {
    guard let magic = Self.magic(bytes), let major = bytes.uint16(at: 4, magic.order),
      let network = bytes.uint32(at: 20, magic.order)
    else { return nil }
    guard major == 2 else { throw CaptureError(.unsupportedVersion("pcap", Int(major))) }
    order = magic.order
    hasNanoseconds = magic.hasNanoseconds
    // The upper half describes the frame check sequence.
    linkType = CaptureLinkType(rawValue: UInt16(truncatingIfNeeded: network))
    guard linkType.isBluetooth || linkType.isUSB else { throw CaptureError(.unsupportedLinkType(linkType)) }
  }

  /// Writes the header of a file.
  static func writeHeader(_ linkType: CaptureLinkType, into writer: inout ByteWriter) {
    writer.write(0xA1B2_C3D4 as UInt32)
    for number in [2, 4] as [UInt16] { writer.write(number) }
    // The time zone and its accuracy, which are always 0; the length to which packets are cut.
    for number in [0, 0, UInt32(maximumCapturedLength), UInt32(linkType.rawValue)] { writer.write(number) }
  }

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - header: that of the link type
  ///   - packet: the bytes behind it
  ///   - microseconds: since 1970-01-01 UTC
  ///   - originalLength: of the packet, if `packet` is only its beginning
  ///   - writer: receives the record
  static func writeRecord(
    _ header: RawSpan, _ packet: RawSpan, microseconds: Int64, originalLength: Int,
    into writer: inout ByteWriter
  ) {
    let time = min(max(0, microseconds), Int64(UInt32.max) * 1_000_000)
    let included = header.byteCount + packet.byteCount
    let original = header.byteCount + max(originalLength, packet.byteCount)
    for number in [time / 1_000_000, time % 1_000_000, Int64(included), Int64(original)] {
      writer.write(UInt32(clamping: number))
    }
    writer.write(header)
    writer.write(packet)
  }

  /// The header of a record; nil if it is incomplete.
  func header(of bytes: RawSpan) -> (seconds: UInt32, fraction: UInt32, included: Int, original: Int)? {
    guard let seconds = bytes.uint32(at: 0, order), let fraction = bytes.uint32(at: 4, order),
      let included = bytes.uint32(at: 8, order), let original = bytes.uint32(at: 12, order)
    else { return nil }
    return (seconds, fraction, Int(included), Int(original))
  }

  /// Reads the record at the start of `bytes`.
  func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    guard let (seconds, fraction, included, original) = header(of: bytes) else { return .needsMore }
    // The header of a file reads as an empty record of the year 2055.
    if included == 0, original == 0, Self.isMagic(bytes) { return .header }
    try checkLength(included)
    let recordLength = Self.recordHeaderLength + included
    guard bytes.byteCount >= recordLength else { return .needsMore }
    let microseconds = Int64(hasNanoseconds ? fraction / 1000 : fraction)
    var record = FoundRecord(
      .foreign(linkType), microseconds: Int64(seconds) * 1_000_000 + microseconds,
      start: Self.recordHeaderLength, length: included, originalLength: original, recordLength: recordLength)
    try record.readPacket(linkType, of: bytes)
    return record.step(linkType, order)
  }
}

/// The link type of a pcap file, or of an interface of a pcapng file (tcpdump.org's list of link types).
@usableFromInline
package struct CaptureLinkType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  @usableFromInline package var rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// HCI packets with the H4 type byte, without a direction.
  package static let h4 = CaptureLinkType(rawValue: 187)
  /// HCI packets with the H4 type byte, preceded by four bytes for the direction.
  package static let h4WithDirection = CaptureLinkType(rawValue: 201)
  /// Records of the Linux monitor: adapter and opcode, two bytes each, then the payload.
  package static let linuxMonitor = CaptureLinkType(rawValue: 254)

  /// Whether all packets of this type are those of Bluetooth.
  fileprivate var isBluetooth: Bool {
    self == .h4 || self == .h4WithDirection || self == .linuxMonitor || isAir
  }

  @usableFromInline package var description: String {
    switch self {
    case .h4: "187 (H4)"
    case .h4WithDirection: "201 (H4 with direction)"
    case .linuxMonitor: "254 (Linux monitor)"
    case .usbLinux, .usbLinuxMapped: "\(rawValue) (usbmon)"
    case .usbPcap: "249 (USBPcap)"
    case .lowEnergyLinkLayer: "251 (LE link layer)"
    case .lowEnergyLinkLayerWithHeader: "256 (LE link layer with header)"
    case .nordicSniffer: "272 (nRF Sniffer)"
    case .perPacketInformation: "192 (PPI)"
    default: "\(rawValue)"
    }
  }
}

extension FoundRecord {
  /// Interprets a packet by its link type; packets of other types are unchanged.
  ///
  /// - Parameters:
  ///   - bytes: the record
  ///   - known: the direction, if the file stores it outside of the packet
  mutating func readPacket(
    _ linkType: CaptureLinkType, of bytes: RawSpan, direction known: CaptureDirection? = nil
  ) throws(CaptureError) {
    switch linkType {
    case .h4:
      let type = length > 0 ? bytes.byte(at: start).map(HCIPacketType.init) : nil
      switch type {
      case .command: content = .hci(.hostToController)
      case .event: content = .hci(.controllerToHost)
      default: content = .hci(known)
      }
    case .h4WithDirection:
      let isReceived = try takePseudoHeader(bytes) & 1 == 1
      content = .hci(isReceived ? .controllerToHost : .hostToController)
    case .linuxMonitor:
      let header = try takePseudoHeader(bytes)
      setMonitor(
        MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: header)),
        adapter: UInt16(truncatingIfNeeded: header >> 16))
    default: readAir(linkType, of: bytes)
    }
  }

  /// Consumes four bytes at the start of the packet, always big-endian.
  private mutating func takePseudoHeader(_ bytes: RawSpan) throws(CaptureError) -> UInt32 {
    guard length >= 4, let header = bytes.uint32(at: start, .big) else {
      throw CaptureError(
        .damagedRecord("a packet of \(length) bytes is too short for its link type's header"))
    }
    start += 4
    length -= 4
    originalLength = max(0, originalLength - 4)
    return header
  }
}
