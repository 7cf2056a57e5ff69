import HaloBluetoothCore

/// The reader for a file format, with its state between records.
enum FormatReader {
  case btsnoop(BTSnoop.Datalink)
  case pcap(PCAP)
  case pcapng(PCAPNG)
  case packetLogger(ByteOrder)
  case hcidump
  /// There are not enough bytes yet to detect the format.
  case unidentified

  /// The number of bytes that is sufficient to detect the format.
  private static let identifyingLength = 17

  /// Whether a file with this beginning states its format, in its first bytes.
  static func hasMagic(_ bytes: RawSpan) -> Bool {
    BTSnoop.isMagic(bytes) || PCAP.isMagic(bytes) || PCAPNG.isMagic(bytes)
  }

  /// Whether a file with this beginning has a format without a header, which is recognized by its first record.
  static func isWithoutMagic(_ bytes: RawSpan) -> Bool {
    HCIDump.isBeginning(bytes) || PacketLogger.byteOrder(bytes) != nil
  }

  /// Detects the format from the first bytes of a file.
  ///
  /// - Parameter isWhole: whether these are all bytes of the file
  /// - Returns: the reader and the length of the file header; nil if more bytes are needed
  /// - Throws: ``CaptureError`` if the file is not a capture
  static func identify(
    _ bytes: RawSpan, isWhole: Bool
  ) throws(CaptureError) -> (reader: FormatReader, headerLength: Int)? {
    let name: String
    if BTSnoop.isMagic(bytes) {
      if let datalink = try BTSnoop.readHeader(bytes) { return (.btsnoop(datalink), BTSnoop.headerLength) }
      name = "btsnoop"
    } else if PCAP.isMagic(bytes) {
      if let reader = try PCAP(bytes) { return (.pcap(reader), PCAP.headerLength) }
      name = "pcap"
    } else if PCAPNG.isMagic(bytes) {
      var reader = PCAPNG()
      if case .skip(let length) = try reader.step(bytes) { return (.pcapng(reader), length) }
      name = "pcapng"
    } else {
      guard isWhole || bytes.byteCount >= identifyingLength else { return nil }
      if HCIDump.isBeginning(bytes) { return (.hcidump, 0) }
      if let order = PacketLogger.byteOrder(bytes) { return (.packetLogger(order), 0) }
      if let format = CompressionFormat(bytes) { throw CaptureError(.compressed(format)) }
      throw CaptureError(bytes.byteCount == 0 ? .empty : .unknownFormat)
    }
    guard isWhole else { return nil }
    throw CaptureError(.truncatedHeader(name))
  }

  var format: CaptureFormat? {
    switch self {
    case .btsnoop(let datalink): .btsnoop(datalink)
    case .pcap(let reader): .pcap(reader.linkType)
    case .pcapng: .pcapng
    case .packetLogger: .packetLogger
    case .hcidump: .hcidump
    case .unidentified: nil
    }
  }

  /// Reads the record at the start of `bytes`.
  ///
  /// - Parameter bytes: the bytes of the file from the current offset that are available
  @inline(__always)
  mutating func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    switch self {
    case .btsnoop(let datalink): return try BTSnoop.step(bytes, datalink)
    case .pcap(let reader): return try reader.step(bytes)
    case .packetLogger(let order): return try PacketLogger.step(bytes, order)
    case .hcidump: return try HCIDump.step(bytes)
    case .unidentified: return .needsMore
    case .pcapng(var reader):
      // Moved out of `self`, so that changing it does not copy.
      self = .packetLogger(.big)
      defer { self = .pcapng(reader) }
      return try reader.step(bytes)
    }
  }
}

/// The format of a capture file.
package enum CaptureFormat: Hashable, Sendable, CustomStringConvertible {
  case btsnoop(BTSnoop.Datalink)
  case pcap(CaptureLinkType)
  case pcapng
  case packetLogger
  /// The format of `hcidump -w`.
  case hcidump

  package var description: String {
    switch self {
    case .btsnoop(let datalink): "btsnoop, datalink \(datalink)"
    case .pcap(let linkType): "pcap, link type \(linkType)"
    case .pcapng: "pcapng"
    case .packetLogger: "Apple PacketLogger"
    case .hcidump: "hcidump"
    }
  }
}

/// The result of a format's reader at the start of the given bytes.
enum CaptureStep {
  /// A record is incomplete. At most ``maximumBlockLength`` bytes have to be in the buffer.
  case needsMore
  /// The header of another file begins here, whose first bytes are those of the same format.
  case header
  /// The given number of bytes is not a record. It may exceed the available bytes.
  case skip(Int)
  /// The given number of bytes is a record without a packet, which only counts.
  case countOnly(Int)
  case record(FoundRecord)
  /// A USB transfer, with its header, in a file of this byte order: its content is found out by ``USBAdapters``.
  case usb(FoundRecord, CaptureLinkType, ByteOrder)
}

/// A record as found by a format's reader; all positions are relative to its first byte.
struct FoundRecord {
  var microseconds: Int64?
  var adapter: UInt16?
  var content: CaptureContent
  /// The start of the packet bytes, all of which are available.
  var start: Int
  var length: Int
  /// The number of bytes before truncation.
  var originalLength: Int
  /// The H4 type byte, if the file has none. It is stored in the byte before `start`, which belongs to the record
  /// header, so that the packet is contiguous.
  var typeByte: UInt8?
  /// The length of the complete record in the file; it may exceed the available bytes.
  var recordLength: Int
  /// The number of packets lost since the start of the file, if the format counts them.
  var drops: UInt32 = 0
  /// The number of bytes before `start` that are the header of the link type, such as the sniffer's data about the packet.
  var linkHeaderLength = 0

  init(
    _ content: CaptureContent, microseconds: Int64?, start: Int, length: Int, originalLength: Int,
    recordLength: Int
  ) {
    self.content = content
    self.microseconds = microseconds
    self.start = start
    self.length = length
    self.originalLength = originalLength
    self.recordLength = recordLength
  }

  /// Makes it an HCI packet whose type byte is not in the file.
  mutating func setPacket(_ type: HCIPacketType, _ direction: CaptureDirection) {
    content = .hci(direction)
    typeByte = type.rawValue
  }

  /// The step of a record of a pcap or pcapng file.
  func step(_ linkType: CaptureLinkType, _ order: ByteOrder) -> CaptureStep {
    if case .foreign = content, linkType.isUSB { return .usb(self, linkType, order) }
    return .record(self)
  }

  /// Makes it a record of the Linux monitor.
  mutating func setMonitor(_ opcode: MonitorOpcode, adapter index: UInt16) {
    if let packet = opcode.packet {
      setPacket(packet.type, packet.direction)
    } else {
      content = .monitor(opcode)
    }
    adapter = index == MonitorOpcode.noAdapter ? nil : index
  }
}

/// The length limit of all formats. HCI packets have at most 64 KiB of data; a much greater length means that the file
/// is damaged (Wireshark uses the same limit).
let maximumCapturedLength = 262_144

/// The maximum number of bytes that have to be in the buffer: a record of the largest size with its surroundings.
let maximumBlockLength = 2 * maximumCapturedLength

/// Throws if the length is invalid. A record may state that its packet was shorter than its bytes: some programs write
/// that, and the bytes are complete.
func checkLength(_ included: Int) throws(CaptureError) {
  guard included <= maximumCapturedLength else { throw CaptureError(.recordTooLarge(included)) }
}

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
