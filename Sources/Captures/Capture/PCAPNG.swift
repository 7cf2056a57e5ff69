/// The pcapng format: blocks of a type, a length, a body and the length again, in the byte order of their section
/// (draft-ietf-opsawg-pcapng). Packets belong to interfaces, which the section describes.
struct PCAPNG {
  private enum BlockType {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    /// The obsolete predecessor of ``enhancedPacket``.
    static let packet: UInt32 = 2
    static let simplePacket: UInt32 = 3
    static let enhancedPacket: UInt32 = 6
    /// Blocks that Wireshark numbers as frames, although they contain no packets.
    static let journalEntry: UInt32 = 9
    static let custom: UInt32 = 0xBAD
    static let customNotCopied: UInt32 = 0x4000_0BAD
  }

  /// Whether blocks of a type are described: also those of names, statistics and secrets, which are skipped.
  static func isKnown(_ type: UInt32) -> Bool {
    (1...10).contains(type)
      || [BlockType.section, BlockType.custom, BlockType.customNotCopied].contains(type)
  }

  /// The maximum number of interfaces. A file with more is damaged; without a limit, memory use would be unbounded.
  private static let maximumInterfaces = 65_536

  private(set) var order = ByteOrder.little
  private var interfaces: [PCAPNGInterface] = []

  /// Whether a file with this beginning is pcapng; requires twelve bytes.
  static func isMagic(_ bytes: RawSpan) -> Bool {
    bytes.uint32(at: 0, .little) == BlockType.section && sectionOrder(bytes) != nil
  }

  private static func sectionOrder(_ bytes: RawSpan) -> ByteOrder? {
    switch bytes.uint32(at: 8, .little) {
    case 0x1A2B_3C4D: .little
    case 0x4D3C_2B1A: .big
    default: nil
    }
  }

  /// Reads the block at the start of `bytes`.
  mutating func step(_ bytes: RawSpan) throws(CaptureError) -> CaptureStep {
    guard bytes.byteCount >= 12, let type = bytes.uint32(at: 0, order) else { return .needsMore }
    if type == BlockType.section {
      guard let order = Self.sectionOrder(bytes) else { throw damage("a section has no byte order mark") }
      self.order = order
    }
    guard let length = bytes.uint32(at: 4, order).map(Int.init) else { return .needsMore }
    guard length >= 12, length % 4 == 0 else { throw damage("a block claims a length of \(length) bytes") }
    if length <= maximumBlockLength {
      guard bytes.byteCount >= length else { return .needsMore }
      guard bytes.uint32(at: length - 4, order).map(Int.init) == length else {
        throw damage("the two lengths of a block differ")
      }
    }
    switch type {
    case BlockType.section: return try readSection(bytes, length)
    case BlockType.interface:
      guard length <= maximumBlockLength else { throw CaptureError(.recordTooLarge(length)) }
      return try readInterface(bytes, length)
    case BlockType.packet:
      return try readPacket(bytes, length, interfaceAt: bytes.uint16(at: 8, order).map(Int.init))
    case BlockType.enhancedPacket:
      return try readPacket(bytes, length, interfaceAt: bytes.uint32(at: 8, order).map(Int.init))
    case BlockType.simplePacket: return try readSimplePacket(bytes, length)
    case BlockType.journalEntry, BlockType.custom, BlockType.customNotCopied: return .countOnly(length)
    default: return .skip(length)
    }
  }

  private mutating func readSection(_ bytes: RawSpan, _ length: Int) throws(CaptureError) -> CaptureStep {
    guard length >= 28 else { throw damage("a section's header has \(length) bytes; 28 are the least") }
    guard let major = bytes.uint16(at: 12, order) else { return .needsMore }
    guard major == 1 else { throw CaptureError(.unsupportedVersion("pcapng", Int(major))) }
    interfaces = []
    return .skip(length)
  }

  private mutating func readInterface(_ bytes: RawSpan, _ length: Int) throws(CaptureError) -> CaptureStep {
    guard length >= 20 else { throw damage("an interface's block has \(length) bytes; 20 are the least") }
    guard interfaces.count < Self.maximumInterfaces else {
      throw damage("there are more than \(Self.maximumInterfaces) interfaces")
    }
    guard let interface = PCAPNGInterface(bytes.extracting(8..<length - 4), order) else { return .needsMore }
    interfaces.append(interface)
    return .skip(length)
  }

  private func interface(_ index: Int) throws(CaptureError) -> PCAPNGInterface {
    guard interfaces.indices.contains(index) else {
      throw damage("a packet belongs to interface \(index), and \(interfaces.count) are described")
    }
    return interfaces[index]
  }

  /// An Enhanced Packet Block, or the older Packet Block, which differs only in the encoding of the interface.
  private func readPacket(
    _ bytes: RawSpan, _ length: Int, interfaceAt index: Int?
  ) throws(CaptureError) -> CaptureStep {
    guard length >= 32 else { throw damage("a packet's block has \(length) bytes; 32 are the least") }
    guard let index, let high = bytes.uint32(at: 12, order), let low = bytes.uint32(at: 16, order),
      let included = bytes.uint32(at: 20, order).map(Int.init),
      let original = bytes.uint32(at: 24, order).map(Int.init)
    else { return .needsMore }
    let interface = try interface(index)
    try checkLength(included)
    guard included <= length - 32 else {
      throw damage("a packet of \(included) bytes is longer than its block")
    }
    guard bytes.byteCount >= 28 + included else { return .needsMore }
    var record = FoundRecord(
      .foreign(interface.linkType), microseconds: interface.microseconds(UInt64(high) << 32 | UInt64(low)),
      start: 28, length: included, originalLength: original, recordLength: length)
    let options = 28 + (included + 3) / 4 * 4
    let end = min(length - 4, bytes.byteCount)
    let direction =
      interface.linkType == .h4 && options < end
      ? direction(bytes.extracting(options..<end)) : nil
    try record.readPacket(interface.linkType, of: bytes, direction: direction)
    return record.step(interface.linkType, order)
  }

  /// The direction of a packet, from its flags (option 2): the lowest two bits.
  private func direction(_ bytes: RawSpan) -> CaptureDirection? {
    var options = PCAPNGOptions(bytes, order)
    while let option = options.next() {
      guard option.code == 2, let flags = option.value.uint32(at: 0, order) else { continue }
      switch flags & 3 {
      case 1: return .controllerToHost
      case 2: return .hostToController
      default: return nil
      }
    }
    return nil
  }

  private func readSimplePacket(_ bytes: RawSpan, _ length: Int) throws(CaptureError) -> CaptureStep {
    guard length >= 16 else { throw damage("a packet's block has \(length) bytes; 16 are the least") }
    guard let original = bytes.uint32(at: 8, order).map(Int.init) else { return .needsMore }
    let interface = try interface(0)
    let included = interface.snapLength > 0 ? min(original, interface.snapLength) : original
    try checkLength(included)
    guard included <= length - 16 else {
      throw damage("a packet of \(included) bytes is longer than its block")
    }
    guard bytes.byteCount >= 12 + included else { return .needsMore }
    var record = FoundRecord(
      .foreign(interface.linkType), microseconds: nil, start: 12, length: included, originalLength: original,
      recordLength: length)
    try record.readPacket(interface.linkType, of: bytes)
    return record.step(interface.linkType, order)
  }

  private func damage(_ what: String) -> CaptureError {
    CaptureError(.damagedRecord(what))
  }
}

/// An interface of a section of a pcapng file.
struct PCAPNGInterface {
  let linkType: CaptureLinkType
  /// The maximum number of bytes captured of a packet; 0 for no limit.
  let snapLength: Int
  private var unit = TimeUnit.decimal(6)
  private var offsetSeconds: Int64 = 0

  /// The number of time units in a second: a power of 10, or of 2.
  private enum TimeUnit {
    case decimal(UInt8)
    case binary(UInt8)
  }

  /// - Parameter body: the body of an Interface Description Block; nil if it is too short
  init?(_ body: RawSpan, _ order: ByteOrder) {
    guard let linkType = body.uint16(at: 0, order), let snapLength = body.uint32(at: 4, order) else {
      return nil
    }
    self.linkType = CaptureLinkType(rawValue: linkType)
    self.snapLength = Int(snapLength)
    var options = PCAPNGOptions(body.extracting(8..<body.byteCount), order)
    while let option = options.next() {
      switch option.code {
      case 9:
        guard let value = option.value.byte(at: 0) else { continue }
        unit = value & 0x80 == 0 ? .decimal(value) : .binary(value & 0x7F)
      case 14: offsetSeconds = option.value.integer(at: 0, as: Int64.self, order) ?? 0
      default: break
      }
    }
  }

  /// The timestamp of a packet in microseconds since 1970, clamped to the range.
  func microseconds(_ time: UInt64) -> Int64 {
    let sinceOffset: UInt128
    switch unit {
    case .decimal(6): sinceOffset = UInt128(time)
    case .decimal(9): sinceOffset = UInt128(time / 1000)
    case .decimal(let digits): sinceOffset = Self.scale(time, digits)
    case .binary(let bits): sinceOffset = (UInt128(time) * 1_000_000) >> UInt128(bits)
    }
    guard offsetSeconds != 0 else { return Int64(clamping: sinceOffset) }
    return Int64(clamping: Int128(sinceOffset) + Int128(offsetSeconds) * 1_000_000)
  }

  /// A time in units of `10^-digits` seconds, in microseconds.
  private static func scale(_ time: UInt64, _ digits: UInt8) -> UInt128 {
    var time = UInt128(time)
    if digits <= 6 {
      for _ in digits..<6 { time *= 10 }
      return time
    }
    for _ in 6..<digits where time > 0 { time /= 10 }
    return time
  }
}

/// The options at the end of a block: a code and a length of two bytes each, followed by a value padded to four bytes.
struct PCAPNGOptions: ~Escapable {
  struct Option: ~Escapable {
    let code: UInt16
    let value: RawSpan

    @_lifetime(copy value)
    init(code: UInt16, value: RawSpan) {
      self.code = code
      self.value = value
    }
  }

  private let bytes: RawSpan
  private let order: ByteOrder
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ order: ByteOrder) {
    self.bytes = bytes
    self.order = order
  }

  /// The next option; nil after the last, or if one is incomplete.
  @_lifetime(copy self)
  mutating func next() -> Option? {
    guard let code = bytes.uint16(at: offset, order), code != 0,
      let length = bytes.uint16(at: offset + 2, order).map(Int.init), bytes.byteCount - offset - 4 >= length
    else { return nil }
    let start = offset + 4
    offset = start + (length + 3) / 4 * 4
    return Option(code: code, value: bytes.extracting(start..<start + length))
  }
}
