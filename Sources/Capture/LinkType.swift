import BluetoothCore

/// The kind of packets of a pcap file, or of an interface of a pcapng file (tcpdump.org's list of link types).
public struct LinkType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// HCI packets with the H4 type byte; which way they went is unknown.
  public static let h4 = LinkType(rawValue: 187)
  /// The same, after four bytes for the direction.
  public static let h4WithDirection = LinkType(rawValue: 201)
  /// Records of the Linux monitor: adapter and opcode, two bytes each, then the payload.
  public static let linuxMonitor = LinkType(rawValue: 254)

  /// Whether these packets can be read here.
  var isBluetooth: Bool { self == .h4 || self == .h4WithDirection || self == .linuxMonitor }
}

extension LinkType: CustomStringConvertible {
  public var description: String {
    switch self {
    case .h4: "187 (H4)"
    case .h4WithDirection: "201 (H4 with direction)"
    case .linuxMonitor: "254 (Linux monitor)"
    default: "\(rawValue)"
    }
  }
}

extension FoundRecord {
  /// Finds out what a packet of a link type is; one of another kind stays what it is.
  ///
  /// - Parameters:
  ///   - bytes: the record
  ///   - known: the direction, where the file has it outside of the packet
  mutating func readPacket(
    _ linkType: LinkType, of bytes: RawSpan, direction known: CaptureDirection? = nil
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
    default: break
    }
  }

  /// Takes four bytes from the front of the packet, big-endian whatever the file is.
  private mutating func takePseudoHeader(_ bytes: RawSpan) throws(CaptureError) -> UInt32 {
    guard length >= 4, let header = bytes.uint32(at: start, .big) else {
      throw CaptureError(
        .damagedRecord("a packet of \(length) bytes is too short for its link type's header"))
    }
    start += 4
    length -= 4
    originalLength -= 4
    return header
  }
}
