/// The format of a capture file.
public enum CaptureFormat: Hashable, Sendable {
  case btsnoop(BTSnoop.Datalink)
  case pcap(CaptureLinkType)
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
