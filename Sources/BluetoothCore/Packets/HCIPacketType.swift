/// The H4 packet type indicator: the byte before each packet on a UART, and in all captures and streams of this package
/// (Core Specification Vol 4, Part A, 2).
@usableFromInline package struct HCIPacketType: RawRepresentable, Hashable, Sendable, FieldCode {
  @usableFromInline package var rawValue: UInt8

  @usableFromInline package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let command = HCIPacketType(rawValue: 1)
  @usableFromInline package static let acl = HCIPacketType(rawValue: 2)
  package static let synchronous = HCIPacketType(rawValue: 3)
  @usableFromInline package static let event = HCIPacketType(rawValue: 4)
  @usableFromInline package static let isochronous = HCIPacketType(rawValue: 5)

  @usableFromInline package var description: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    switch self {
    case .command: text.write("command (1)")
    case .acl: text.write("ACL data (2)")
    case .synchronous: text.write("synchronous data (3)")
    case .event: text.write("event (4)")
    case .isochronous: text.write("isochronous data (5)")
    default: text.write(Int(rawValue))
    }
  }

  /// The number of bytes from the type byte to the length of the parameters or data, which is the end of the header
  /// (Core Specification Vol 4, Part E, 5.4). A type that is unknown counts as a command.
  @inlinable package var headerLength: Int {
    switch self {
    case .event: 3
    case .acl, .isochronous: 5
    default: 4
    }
  }

  /// The number of bytes of parameters or data that a header states.
  ///
  /// - Parameters:
  ///   - bytes: have the header from `start` on
  ///   - start: the offset of the type byte
  /// - Returns: nil if the header is incomplete
  @inlinable package func statedLength(in bytes: RawSpan, at start: Int) -> Int? {
    let end = start + headerLength
    guard start >= 0, end <= bytes.byteCount, let last = bytes.byte(at: end - 1) else { return nil }
    switch self {
    case .acl, .isochronous:
      guard let low = bytes.byte(at: end - 2) else { return nil }
      let length = Int(low) | Int(last) << 8
      // The two bits above are reserved in isochronous packets.
      return self == .isochronous ? length & 0x3FFF : length
    default: return Int(last)
    }
  }
}
