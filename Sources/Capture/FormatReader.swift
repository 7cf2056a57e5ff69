import BluetoothCore

/// The reader for a file format, with its state between records.
enum FormatReader {
  case btsnoop(BTSnoop.Datalink)
  case pcap(PCAP)
  case pcapng(PCAPNG)
  case packetLogger(ByteOrder)

  /// The number of bytes that is sufficient to detect the format.
  private static let identifyingLength = 13

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
    } else if let order = PacketLogger.byteOrder(bytes) {
      return (.packetLogger(order), 0)
    } else {
      guard isWhole || bytes.byteCount >= identifyingLength else { return nil }
      throw CaptureError(bytes.byteCount == 0 ? .empty : .unknownFormat)
    }
    guard isWhole else { return nil }
    throw CaptureError(.truncatedHeader(name))
  }

  var format: CaptureFormat {
    switch self {
    case .btsnoop(let datalink): .btsnoop(datalink)
    case .pcap(let reader): .pcap(reader.linkType)
    case .pcapng: .pcapng
    case .packetLogger: .packetLogger
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
    case .pcapng(var reader):
      // Moved out of `self`, so that changing it does not copy.
      self = .packetLogger(.big)
      defer { self = .pcapng(reader) }
      return try reader.step(bytes)
    }
  }
}
