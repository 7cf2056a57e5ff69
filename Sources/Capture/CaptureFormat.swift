/// What kind of file a capture is.
public enum CaptureFormat: Hashable, Sendable {
  case btsnoop(BTSnoop.Datalink)
  case pcap(LinkType)
  case pcapng
  case packetLogger
}

extension CaptureFormat: CustomStringConvertible {
  public var description: String {
    switch self {
    case .btsnoop(let datalink): "btsnoop, datalink \(datalink)"
    case .pcap(let linkType): "pcap, link type \(linkType)"
    case .pcapng: "pcapng"
    case .packetLogger: "Apple PacketLogger"
    }
  }
}

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
