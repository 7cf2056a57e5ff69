import BluetoothCore

/// Why a capture can't be read or written.
public struct CaptureError: Error, Hashable, Sendable {
  /// Why it failed. The texts are the system's or the format's description.
  public enum Reason: Hashable, Sendable {
    case cannotOpen(String)
    case cannotRead(String)
    case cannotCreate(String)
    case cannotWrite(String)
    /// Not a regular file, where the file must be read twice.
    case notARegularFile
    /// The file has no bytes.
    case empty
    /// The file has no known format.
    case unknownFormat
    /// The file ends within the header of the format.
    case truncatedHeader(String)
    /// An unsupported version of the format.
    case unsupportedVersion(String, Int)
    /// A btsnoop file with packets of another kind.
    case unsupportedDatalink(BTSnoop.Datalink)
    /// All packets of the file have a link type other than Bluetooth HCI.
    case unsupportedLinkType(CaptureLinkType)
    /// The capture can be read, but not replayed: the direction of this packet (by number) is unknown.
    case noDirection(Int)
    /// The capture can be read, but there is nothing to replay: no HCI packet of this adapter; `others` lists the
    /// adapters that have some.
    case noPackets(of: UInt16?, others: [UInt16])
    /// The capture can be read, but there is nothing to replay at the level of ATT: no ATT PDU and no advertisement.
    case noAttributeTraffic(of: UInt16?)
    /// The capture has more ATT traffic, up to this packet, than a replay holds in memory.
    case tooMuchTraffic(packet: Int)
    /// A record with an implausible length, in bytes.
    case recordTooLarge(Int)
    /// A record that holds more bytes than its packet had.
    case recordLongerThanPacket(included: Int, original: Int)
    /// A record with inconsistent fields; the description.
    case damagedRecord(String)
  }

  /// Why it failed.
  public var reason: Reason
  /// The file offset of the damaged record, if any.
  public var offset: Int?
  /// The path of the file, if known.
  public var path: String?

  public init(_ reason: Reason, offset: Int? = nil, path: String? = nil) {
    self.reason = reason
    self.offset = offset
    self.path = path
  }
}

extension CaptureError: CustomStringConvertible {
  public var description: String {
    let file = path.map { $0 == "-" ? "standard input: " : "\($0): " } ?? ""
    let place = offset.map { " (record at byte \($0))" } ?? ""
    return file + what + place
  }

  private var what: String {
    switch reason {
    case .cannotOpen(let cause): "cannot open: \(cause)"
    case .cannotRead(let cause): "cannot read: \(cause)"
    case .cannotCreate(let cause): "cannot make the recording: \(cause)"
    case .cannotWrite(let cause): "cannot write the recording: \(cause)"
    case .notARegularFile: "not a regular file; this reads it twice, so copy it to a file first"
    case .empty: "the file is empty, so it is no capture"
    case .unknownFormat:
      "not a capture: it begins like no btsnoop, pcap, pcapng or PacketLogger file"
    case .truncatedHeader(let format): "the file ends within the \(format) header"
    case .unsupportedVersion(let format, let version):
      "\(format) version \(version) is unknown; the file is damaged, or newer than this program"
    case .unsupportedDatalink(let datalink):
      "btsnoop datalink \(datalink) can't be read; 1001 (H1), 1002 (H4) and 2001 (Linux monitor) can"
    case .unsupportedLinkType(let type):
      "link type \(type) is no Bluetooth HCI; 187 (H4), 201 (H4 with direction) and 254 (Linux monitor) are"
    case .noDirection(let number):
      "can't be replayed: the file does not tell which way packet \(number) went, as pcap with link type 187 does not; "
        + "btsnoop and pcap with link type 201 or 254 do"
    case .noPackets(let adapter, let others):
      "can't be replayed: it holds no HCI packet" + (adapter.map { " of hci\($0)" } ?? "")
        + (others.isEmpty ? "" : ", only those of " + others.map { "hci\($0)" }.joined(separator: ", "))
    case .noAttributeTraffic(let adapter):
      "can't be replayed: it holds no ATT traffic of an LE connection"
        + (adapter.map { " of hci\($0)" } ?? "")
        + ", and no advertisements"
    case .tooMuchTraffic(let number):
      "can't be replayed as a whole: it has more ATT traffic than fits, up to packet \(number); cut it into parts, "
        + "for example with editcap"
    case .recordTooLarge(let length):
      "a record claims \(length) bytes, and no packet is that long; the file is damaged from here on"
    case .recordLongerThanPacket(let included, let original):
      "a record claims to hold \(included) bytes of a packet of \(original); the file is damaged from here on"
    case .damagedRecord(let what): "\(what); the file is damaged from here on"
    }
  }
}
