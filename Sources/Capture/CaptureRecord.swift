import BluetoothCore

/// Which way a packet went, seen from the host.
public enum CaptureDirection: Hashable, Sendable {
  case hostToController
  case controllerToHost
}

/// What the bytes of a record are.
public enum CaptureContent: Hashable, Sendable {
  /// An HCI packet with its H4 type byte in front, whatever the file has in its place. Where the file is made of
  /// H4 packets, the type byte is the file's own: it may be one that nobody knows, and a packet may be empty.
  ///
  /// The direction is nil if the file does not tell and the type does not either (data, link type 187).
  case hci(CaptureDirection?)
  /// A record of the Linux monitor that is no HCI packet; the bytes are what follows its header.
  case monitor(MonitorOpcode)
  /// A record of Apple's PacketLogger that is no HCI packet: text, mostly. Nil if the record has not even a type.
  case packetLogger(PacketLogger.RecordType?)
  /// A packet of an interface that is no Bluetooth HCI, in a pcapng file that has several.
  case foreign(LinkType)
}

/// All that a record tells but its bytes.
public struct CaptureRecordInfo: Hashable, Sendable {
  /// Counted from 1 over all records of the file, as Wireshark's frame number is: of pcapng, journal entries and
  /// custom blocks count, though they are not given.
  public var number: Int
  /// Where the record begins in the file.
  public var fileOffset: Int
  /// Microseconds since 1970-01-01 UTC, as the file has them: they may go back. Nil if the record has no time.
  public var microseconds: Int64?
  /// The adapter's index (0 is hci0), where the capture tells.
  public var adapter: UInt16?
  public var content: CaptureContent
  /// How many bytes there were; more than the record holds if the capture cut them (snap length).
  public var originalLength: Int

  public init(
    number: Int = 1, fileOffset: Int = 0, microseconds: Int64?, adapter: UInt16? = nil,
    content: CaptureContent, originalLength: Int
  ) {
    self.number = number
    self.fileOffset = fileOffset
    self.microseconds = microseconds
    self.adapter = adapter
    self.content = content
    self.originalLength = originalLength
  }

  /// Which way the packet went, if it is an HCI packet and the capture tells.
  public var direction: CaptureDirection? {
    if case .hci(let direction) = content { direction } else { nil }
  }
}

/// A record of a capture, with a copy of its bytes.
public struct CaptureRecord: Hashable, Sendable {
  public var info: CaptureRecordInfo
  public var bytes: [UInt8]

  public init(info: CaptureRecordInfo, bytes: [UInt8]) {
    self.info = info
    self.bytes = bytes
  }

  /// Whether the capture has less than there was.
  public var isCut: Bool { bytes.count < info.originalLength }
}
