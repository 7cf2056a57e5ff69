import HaloBluetoothCore

/// Finds the next record behind a damaged one: where three headers follow each other, by their lengths, that are like those of
/// a program that captures, or as many as there are up to the end of the file.
struct RecordSearch {
  /// How many bytes behind a place are looked at, at most.
  static let reach = 1 << 17
  /// The longest record that is recognized.
  private static let longest = 1 << 16
  private static let records = 3
  /// Records behind the damage are of about the same time: within a month, in microseconds.
  private static let spell: Int64 = 30 * 86_400_000_000

  private let format: FormatReader
  private let time: Int64?
  private let isWhole: Bool

  /// - Parameters:
  ///   - format: that of the file
  ///   - time: of the last record before the damage
  ///   - isWhole: whether the file ends with the bytes that are searched
  init(_ format: FormatReader, near time: Int64?, isWhole: Bool) {
    self.format = format
    self.time = time
    self.isWhole = isWhole
  }

  /// - Returns: the offset of the next record, or of the first byte that was not searched
  func nextRecord(in bytes: RawSpan) -> (offset: Int, isFound: Bool) {
    let end = isWhole ? bytes.byteCount : max(0, bytes.byteCount - Self.reach)
    for offset in 0..<end where begins(at: offset, in: bytes) { return (offset, true) }
    return (end, false)
  }

  private func begins(at offset: Int, in bytes: RawSpan) -> Bool {
    var place = offset
    for index in 0..<Self.records {
      if isWhole, index > 0, place == bytes.byteCount { return true }
      guard place < bytes.byteCount, let length = recordLength(bytes.extracting(place..<bytes.byteCount)),
        length <= Self.longest
      else { return false }
      place += length
      // The last record of a file may be cut.
      if place > bytes.byteCount { return isWhole && index > 0 }
    }
    return true
  }

  /// The length of the record at the start of `bytes`; nil if its header is not like that of a record.
  private func recordLength(_ bytes: RawSpan) -> Int? {
    switch format {
    case .btsnoop(let datalink): BTSnoop.plausibleLength(bytes, datalink, isNear)
    case .pcap(let reader): reader.plausibleLength(bytes, isNear)
    case .pcapng(let reader): reader.plausibleLength(bytes)
    case .packetLogger(let order): PacketLogger.plausibleLength(bytes, order, isNear)
    case .hcidump, .unidentified: nil
    }
  }

  private func isNear(_ other: Int64) -> Bool {
    guard let time else { return other > 0 }
    let (distance, overflow) = other.subtractingReportingOverflow(time)
    return !overflow && distance.magnitude < UInt64(Self.spell)
  }
}

extension BTSnoop {
  fileprivate static func plausibleLength(
    _ bytes: RawSpan, _ datalink: Datalink, _ isNear: (Int64) -> Bool
  ) -> Int? {
    guard let original = bytes.uint32(at: 0, .big), let included = bytes.uint32(at: 4, .big), included > 0,
      original >= included, let flags = bytes.uint32(at: 8, .big),
      let time = bytes.integer(at: 16, as: Int64.self, .big), isNear(microseconds(time))
    else { return nil }
    guard datalink == .linuxMonitor else {
      let type = bytes.byte(at: recordHeaderLength) ?? 0
      let isPacket = datalink == .h1 || (1...5).contains(type)
      return flags <= 3 && isPacket ? recordHeaderLength + Int(included) : nil
    }
    return flags & 0xFFFF < 32 ? recordHeaderLength + Int(included) : nil
  }
}

extension PCAP {
  fileprivate func plausibleLength(_ bytes: RawSpan, _ isNear: (Int64) -> Bool) -> Int? {
    guard let header = header(of: bytes), header.included > 0, header.original >= header.included,
      header.fraction < (hasNanoseconds ? 1_000_000_000 : 1_000_000),
      isNear(Int64(header.seconds) * 1_000_000)
    else { return nil }
    return Self.recordHeaderLength + header.included
  }
}

extension PCAPNG {
  /// The length of a block is there twice.
  fileprivate func plausibleLength(_ bytes: RawSpan) -> Int? {
    guard let type = bytes.uint32(at: 0, order), Self.isKnown(type),
      let length = bytes.uint32(at: 4, order).map(Int.init), length >= 12, length % 4 == 0,
      bytes.uint32(at: length - 4, order).map(Int.init) == length
    else { return nil }
    return length
  }
}

extension PacketLogger {
  fileprivate static func plausibleLength(
    _ bytes: RawSpan, _ order: ByteOrder, _ isNear: (Int64) -> Bool
  ) -> Int? {
    guard let length = bytes.uint32(at: 0, order), length > 8, let seconds = bytes.uint32(at: 4, order),
      let fraction = bytes.uint32(at: 8, order), fraction < 1_000_000, isNear(Int64(seconds) * 1_000_000),
      bytes.byte(at: 12).map(RecordType.init)?.name != nil
    else { return nil }
    return 4 + Int(length)
  }
}
