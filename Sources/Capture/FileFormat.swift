import BluetoothCore

/// What a format's reader finds at the front of the bytes that it is given.
enum CaptureStep {
  /// At least so many bytes are needed to tell.
  case needs(Int)
  /// So many bytes are no record. They may reach beyond what was given.
  case skip(Int)
  case record(FoundRecord)
}

/// A record, as a format's reader finds it; all positions count from its first byte.
struct FoundRecord {
  var microseconds: Int64?
  var adapter: UInt16?
  var content: CaptureContent
  /// Where the bytes begin. All of them are there.
  var start: Int
  var length: Int
  /// How many bytes there were before the capture cut them.
  var originalLength: Int
  /// The H4 type byte, where the file has none. It is put into the byte before `start`, which belongs to the
  /// record's header: so the packet is whole where it lies.
  var typeByte: UInt8?
  /// The length of the whole record in the file; it may reach beyond what was given.
  var recordLength: Int

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

/// The limit of all formats. HCI packets have at most 64 KiB of data; what claims to be several times larger is
/// damage (Wireshark draws the line at the same place).
let maximumCapturedLength = 262_144

extension RawSpan {
  /// The integer at an offset; nil if it is not all there.
  @inline(__always)
  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: T.Type, bigEndian: Bool
  ) -> T? {
    guard offset >= 0, byteCount - offset >= MemoryLayout<T>.size else { return nil }
    let value = unsafeLoadUnaligned(fromByteOffset: offset, as: T.self)
    return bigEndian ? T(bigEndian: value) : T(littleEndian: value)
  }

  @inline(__always)
  func uint32(at offset: Int, bigEndian: Bool) -> UInt32? {
    integer(at: offset, as: UInt32.self, bigEndian: bigEndian)
  }

  @inline(__always)
  func uint16(at offset: Int, bigEndian: Bool) -> UInt16? {
    integer(at: offset, as: UInt16.self, bigEndian: bigEndian)
  }
}

/// The reader of a file's format, and what it must remember from record to record.
enum FormatReader {
  case btsnoop(BTSnoop.Datalink)

  /// Tells the format from the first bytes of a file.
  ///
  /// - Parameter isWhole: whether no more will come
  /// - Returns: the reader, and how long the file's header is; nil if more bytes are needed to tell
  /// - Throws: ``CaptureError`` if it is no capture
  static func identify(
    _ bytes: RawSpan, isWhole: Bool
  ) throws(CaptureError) -> (reader: FormatReader, headerLength: Int)? {
    if bytes.byteCount == 0 {
      guard isWhole else { return nil }
      throw CaptureError(.empty)
    }
    if BTSnoop.isPossible(bytes) {
      if let datalink = try BTSnoop.readHeader(bytes) { return (.btsnoop(datalink), BTSnoop.headerLength) }
      guard isWhole else { return nil }
      throw CaptureError(bytes.byteCount < BTSnoop.magic.count ? .unknownFormat : .truncatedHeader("btsnoop"))
    }
    throw CaptureError(.unknownFormat)
  }

  var format: CaptureFormat {
    switch self {
    case .btsnoop(let datalink): .btsnoop(datalink)
    }
  }

  /// Reads what is at the front of `bytes`.
  ///
  /// - Parameter bytes: the file from here on, as far as it is known
  mutating func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    switch self {
    case .btsnoop(let datalink): try BTSnoop.step(bytes, datalink)
    }
  }
}
