import BluetoothCore

/// The link type of a pcap file, or of an interface of a pcapng file (tcpdump.org's list of link types).
public struct CaptureLinkType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// HCI packets with the H4 type byte, without a direction.
  public static let h4 = CaptureLinkType(rawValue: 187)
  /// HCI packets with the H4 type byte, preceded by four bytes for the direction.
  public static let h4WithDirection = CaptureLinkType(rawValue: 201)
  /// Records of the Linux monitor: adapter and opcode, two bytes each, then the payload.
  public static let linuxMonitor = CaptureLinkType(rawValue: 254)

  /// Whether packets of this type are supported.
  var isBluetooth: Bool { self == .h4 || self == .h4WithDirection || self == .linuxMonitor }
}

extension CaptureLinkType: CustomStringConvertible {
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
    default: break
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
    originalLength -= 4
    return header
  }
}
