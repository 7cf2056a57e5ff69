import BluetoothCore

/// The reader of a file's format, and what it must remember from record to record.
enum FormatReader {
  case btsnoop(BTSnoop.Datalink)
  case pcap(PCAP)
  case pcapng(PCAPNG)
  case packetLogger(ByteOrder)

  /// The first bytes of a file tell its format; so many do for sure.
  private static let identifyingLength = 13

  /// Tells the format from the first bytes of a file.
  ///
  /// - Parameter isWhole: whether no more will come
  /// - Returns: the reader, and how long the file's header is; nil if more bytes are needed to tell
  /// - Throws: ``CaptureError`` if it is no capture
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

  /// Reads what is at the front of `bytes`.
  ///
  /// - Parameter bytes: the file from here on, as far as it is known
  @inline(__always)
  mutating func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    switch self {
    case .btsnoop(let datalink): return try BTSnoop.step(bytes, datalink)
    case .pcap(let reader): return try reader.step(bytes)
    case .packetLogger(let order): return try PacketLogger.step(bytes, order)
    case .pcapng(var reader):
      // Taken out, so that changing it copies nothing.
      self = .packetLogger(.big)
      defer { self = .pcapng(reader) }
      return try reader.step(bytes)
    }
  }
}
