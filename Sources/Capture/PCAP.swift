import BluetoothCore

/// The pcap format: a header of 24 bytes, then records of 16 bytes and a packet each, in the writer's byte order
/// (draft-ietf-opsawg-pcap).
struct PCAP {
  static let headerLength = 24
  private static let recordHeaderLength = 16

  let linkType: CaptureLinkType
  private let order: ByteOrder
  private let hasNanoseconds: Bool

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
    guard linkType.isBluetooth else { throw CaptureError(.unsupportedLinkType(linkType)) }
  }

  /// Reads the record at the start of `bytes`.
  func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    guard let seconds = bytes.uint32(at: 0, order), let fraction = bytes.uint32(at: 4, order),
      let included = bytes.uint32(at: 8, order).map(Int.init),
      let original = bytes.uint32(at: 12, order).map(Int.init)
    else { return .needsMore }
    try checkLengths(included: included, original: original)
    let recordLength = Self.recordHeaderLength + included
    guard bytes.byteCount >= recordLength else { return .needsMore }
    let microseconds = Int64(hasNanoseconds ? fraction / 1000 : fraction)
    var record = FoundRecord(
      .foreign(linkType), microseconds: Int64(seconds) * 1_000_000 + microseconds,
      start: Self.recordHeaderLength, length: included, originalLength: original, recordLength: recordLength)
    try record.readPacket(linkType, of: bytes)
    return .record(record)
  }
}
